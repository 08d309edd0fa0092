"""Vectors from a server that speaks OpenAI's `/v1/embeddings`: Ollama, TEI, vLLM, Voyage, OpenAI."""

import ipaddress
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.client import HTTPException, IncompleteRead
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import HTTPErrorProcessor, OpenerDirector, ProxyHandler, Request, build_opener

from recollect.embed.ahead import map_ahead
from recollect.embed.rows import unit
from recollect.errors import BadSetting, EmbedderUnavailable

if TYPE_CHECKING:
    from recollect.context.embedder import Rows

MAX_BATCH = 64
MAX_CHARS = 8_000  # servers refuse what is too long; 8,192 tokens is the least of the hosted ones
MAX_RESPONSE = 32 * 1024 * 1024  # 64 vectors of 4,096 numbers are 6 MB of JSON
PAUSES = (0.2, 0.8, 2.0)  # seconds before each new attempt, unless the server names its own
PATIENCE = 3  # timeouts that one request may take with all its attempts
WORKERS = 4  # requests under way at once in `embed_each`

HINT = "Until it answers, search goes by words. `recollect doctor` tries it again."


class HttpEmbedder:
    """`dim` asks the server for shorter vectors; None takes the model's own, learnt from the first answer.

    Redirects are not followed: the key and the texts go to the host that was configured and nowhere else.
    """

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
        # http.client would show a key it cannot send in its own complaint.
        if api_key and not (api_key.isascii() and api_key.isprintable()):
            raise BadSetting("`embedder_key` has characters that no key has, perhaps a line break.")
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
            rows = unit(_vectors(json.loads(answer)), len(texts))
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
        """The body of a good answer, after several attempts if need be."""
        wanted: dict[str, object] = {"model": self._name, "input": texts}
        if self._asked_dim:
            wanted["dimensions"] = self._asked_dim
        body = json.dumps(wanted).encode()
        deadline = time.monotonic() + PATIENCE * self._timeout
        for pause in (*PAUSES, None):
            named_pause = None
            try:
                status, headers, answer = self._post(body, deadline)
            except TimeoutError as error:  # a server at its limit is not helped by being asked again
                raise self._unavailable(f"did not answer within {self._timeout:g} s.") from error
            except (OSError, HTTPException, ValueError) as error:  # ValueError: a host that cannot be one
                trouble = f"cannot be reached: {self._quote(str(error) or type(error).__name__)}"
            else:
                if status == 200:
                    return answer
                trouble = f"answered {status}: {self._quote(answer)}"
                if 300 <= status < 400:
                    trouble = f"answered {status}, a redirect, and those are not followed."
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
            # The socket's timeout starts anew with every byte, so a trickle is timed here.
            while len(answer) != size and (chunk := response.read1(65_536)):
                answer += chunk
                if len(answer) > MAX_RESPONSE:
                    raise self._unavailable(f"sent more than {MAX_RESPONSE >> 20} MB.")
                if time.monotonic() > give_up:
                    raise TimeoutError
            if size is not None and len(answer) < size:
                raise IncompleteRead(bytes(answer), size - len(answer))
            return response.status, response.headers, bytes(answer)

    def _quote(self, said: str | bytes) -> str:
        """The beginning of what came back; some servers repeat the key they refuse."""
        text = said[:4_096].decode("utf-8", "replace") if isinstance(said, bytes) else said
        return (text.replace(self._key, "…") if self._key else text)[:200]

    def _unavailable(self, trouble: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"The embedding server {self._shown} {trouble}", HINT)


def _vectors(answer: Any) -> list[Any]:
    """Raises `ValueError` where `answer` does not have OpenAI's shape."""
    try:
        items = answer["data"]
        by_index = {item.get("index", position): item["embedding"] for position, item in enumerate(items)}
        return [by_index[index] for index in range(len(items))]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _sendable(text: str) -> str:
    # OpenAI refuses an empty text, and a lone surrogate is not JSON that everyone reads.
    cut = text[:MAX_CHARS].encode("utf-8", "replace").decode()
    return cut if cut.strip() else "."


def _seconds(retry_after: str | None) -> float | None:
    """The date that HTTP also allows here is not worth its clock skew; our own pauses stand in."""
    return float(retry_after) if retry_after and retry_after.strip().isdecimal() else None


def _read_url(url: str) -> tuple[str, str, str]:
    """Where to post, how to show that to people, and the host."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise BadSetting("`embedder_url` is not a URL.") from None  # the cause may repeat a password
    if "@" in parts.netloc:
        raise BadSetting("`embedder_url` has a password in it.", "Put it into `embedder_key`.")
    if parts.scheme not in ("http", "https") or not host:
        raise BadSetting("`embedder_url` is not an http:// or https:// URL.")
    path = parts.path.rstrip("/") or "/v1"
    path = path if path.endswith("/embeddings") else path + "/embeddings"
    endpoint = urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
    # A query may hold a key.
    return endpoint, urlunsplit((parts.scheme, parts.netloc, path, "", "")), host


def _opener(host: str) -> OpenerDirector:
    handlers = [_EveryStatus()]
    return build_opener(*handlers, ProxyHandler({})) if _is_here(host) else build_opener(*handlers)


def _is_here(host: str) -> bool:
    """No proxy can know our own loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _EveryStatus(HTTPErrorProcessor):
    """Hands every answer to us, redirects and refusals too."""

    def http_response(self, request: Request, response: Any) -> Any:
        return response

    https_response = http_response
