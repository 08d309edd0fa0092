"""Vectors from a server with OpenAI's `/v1/embeddings`: Ollama, TEI, vLLM, Voyage, OpenAI."""

import ipaddress
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.client import HTTPException, IncompleteRead
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import HTTPErrorProcessor, OpenerDirector, ProxyHandler, Request, build_opener

from recollect.embed.batches import map_ahead, unit_rows
from recollect.errors import BadSetting, EmbedderUnavailable

if TYPE_CHECKING:
    from recollect.context.embedder import Rows

MAX_BATCH = 64
MAX_CHARS = 8_000  # servers refuse longer texts; the lowest limit of the hosted ones is 8,192 tokens
MAX_RESPONSE = 32 * 1024 * 1024  # 64 vectors of 4,096 numbers are 6 MB of JSON
PAUSES = (0.2, 0.8, 2.0)  # seconds before each new attempt, unless the server names its own
TOTAL_TIMEOUTS = 3  # timeouts that one request may take, all attempts together
WORKERS = 4  # concurrent requests in `embed_each`

HINT = "Until it answers, search uses words only. Run `recollect doctor` to try again."


class HttpEmbedder:
    """Asks a server for vectors.

    `dim` asks for shorter vectors; with None, the first answer tells the length of the model's own. Redirects are not followed:
    the key and the texts go only to the configured host.
    """

    query_prefix = ""  # servers add what their model needs

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str | None = None,
        dim: int | None = None,
        timeout: float = 10.0,
        *,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._endpoint, self._shown, host = _read_url(url)
        # http.client would show the key in its own error message.
        if api_key and not (api_key.isascii() and api_key.isprintable()):
            raise BadSetting("`embedder_key` contains invalid characters, perhaps a line break.")
        self._key = api_key
        self._name = model
        self._asked_dim = self._dim = dim
        self._timeout = timeout
        self._pause = pause
        self._opener = _opener(host)
        self.model = f"{model}@{urlsplit(self._endpoint).netloc}" + (f"/{dim}" if dim else "")

    @property
    def dim(self) -> int:
        if self._dim is None:
            self.embed(["dimension"])
        assert self._dim is not None
        return self._dim

    def embed(self, texts: Sequence[str]) -> "Rows":
        import numpy as np

        if not texts:
            return np.empty((0, self._dim or 0), np.float32)
        chunks = [texts[start : start + MAX_BATCH] for start in range(0, len(texts), MAX_BATCH)]
        return np.concatenate([self._rows([_sendable(text) for text in chunk]) for chunk in chunks])

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        return map_ahead(self.embed, batches, workers=WORKERS)

    def _rows(self, texts: list[str]) -> "Rows":
        answer = self._ask(texts)
        try:
            rows = unit_rows(_vectors(json.loads(answer)), len(texts))
        except (ValueError, RecursionError) as error:
            raise self._unavailable(
                f"sent no vectors ({self._quote(str(error))}): {self._quote(answer)}"
            ) from error
        if self._dim is None:
            self._dim = rows.shape[1]
        if rows.shape[1] != self._dim:
            raise self._unavailable(f"sent vectors of {rows.shape[1]} numbers instead of {self._dim}.")
        return rows

    def _ask(self, texts: list[str]) -> bytes:
        """Return the body of a successful response, after several attempts if necessary."""
        wanted: dict[str, object] = {"model": self._name, "input": texts}
        if self._asked_dim:
            wanted["dimensions"] = self._asked_dim
        body = json.dumps(wanted).encode()
        deadline = time.monotonic() + TOTAL_TIMEOUTS * self._timeout
        for pause in (*PAUSES, None):
            named_pause = None
            try:
                status, headers, answer = self._post(body, deadline)
            except TimeoutError as error:  # another request would not help an overloaded server
                raise self._unavailable(f"did not answer within {self._timeout:g} s.") from error
            except (OSError, HTTPException, ValueError) as error:  # ValueError: an invalid host name
                trouble = f"cannot be reached: {self._quote(str(error) or type(error).__name__)}"
            else:
                if status == 200:
                    return answer
                trouble = f"answered {status}: {self._quote(answer)}"
                if 300 <= status < 400:
                    trouble = f"answered {status}, a redirect; redirects are not followed."
                if status != 429 and status < 500:
                    raise self._unavailable(trouble)
                named_pause = _seconds(headers.get("Retry-After"))
            wait = pause if named_pause is None else named_pause
            if pause is None or wait is None or time.monotonic() + wait > deadline:
                break
            self._pause(wait)
        raise self._unavailable(trouble)

    def _post(self, body: bytes, deadline: float) -> tuple[int, Any, bytes]:
        headers = {"Content-Type": "application/json", "User-Agent": "recollect"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._endpoint, body, headers)
        allowed = max(min(self._timeout, deadline - time.monotonic()), 0.001)
        give_up = time.monotonic() + allowed
        try:
            response = self._opener.open(request, timeout=allowed)
        except URLError as error:
            raise (error.reason if isinstance(error.reason, OSError) else error) from error
        with response:
            size = response.length  # None if the server did not say
            answer = bytearray()
            # The socket's timeout restarts with every byte, so a slow stream is timed here.
            while len(answer) != size and (chunk := response.read1(65_536)):
                answer += chunk
                if len(answer) > MAX_RESPONSE:
                    raise self._unavailable(f"sent more than {MAX_RESPONSE >> 20} MB.")
                if time.monotonic() > give_up:
                    raise TimeoutError
            if size is not None and len(answer) < size:
                raise IncompleteRead(bytes(answer), size - len(answer))
            return response.status, response.headers, bytes(answer)

    def _quote(self, response: str | bytes) -> str:
        """Return the beginning of a response without the key, which some servers repeat when they refuse it."""
        text = response[:4_096].decode("utf-8", "replace") if isinstance(response, bytes) else response
        return (text.replace(self._key, "…") if self._key else text)[:200]

    def _unavailable(self, trouble: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"The embedding server {self._shown} {trouble}", HINT)


def _vectors(answer: Any) -> list[Any]:
    """Return the vectors in the order of the texts. Raise `ValueError` if `answer` does not have OpenAI's shape."""
    try:
        items = answer["data"]
        by_index = {item.get("index", position): item["embedding"] for position, item in enumerate(items)}
        return [by_index[index] for index in range(len(items))]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _sendable(text: str) -> str:
    # OpenAI refuses an empty text, and not every server reads a lone surrogate in JSON.
    cut = text[:MAX_CHARS].encode("utf-8", "replace").decode()
    return cut if cut.strip() else "."


def _seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header. A date, which HTTP also allows, is ignored because clocks differ."""
    return float(retry_after) if retry_after and retry_after.strip().isdecimal() else None


def _read_url(url: str) -> tuple[str, str, str]:
    """Return the URL to post to, the URL to show in messages, and the host. Raise `BadSetting`."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise BadSetting("`embedder_url` is not a URL.") from None  # the cause may show a password
    if "@" in parts.netloc:
        raise BadSetting("`embedder_url` contains a password.", "Put it into `embedder_key`.")
    if parts.scheme not in ("http", "https") or not host:
        raise BadSetting("`embedder_url` is not an http:// or https:// URL.")
    path = parts.path.rstrip("/") or "/v1"
    path = path if path.endswith("/embeddings") else path + "/embeddings"
    endpoint = urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
    # A query may hold a key.
    return endpoint, urlunsplit((parts.scheme, parts.netloc, path, "", "")), host


def _opener(host: str) -> OpenerDirector:
    handlers = [_EveryStatus()]
    return build_opener(*handlers, ProxyHandler({})) if _is_loopback(host) else build_opener(*handlers)


def _is_loopback(host: str) -> bool:
    """Whether the host is this machine, which no proxy can reach."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _EveryStatus(HTTPErrorProcessor):
    """Returns every response as it is, redirects and errors too."""

    def http_response(self, request: Request, response: Any) -> Any:
        return response

    https_response = http_response
