"""MiniLM for one text on NumPy alone, for a process that embeds a text or two and ends: most commands.

Loading onnxruntime and a model into it takes 75 ms of CPU and a first text 70 more, nearly all of it to turn 22 million weights
into floats. Here the rows of the text's words are turned, and the layers: 25 ms in all for ten words. The vectors differ from
onnxruntime's by less than 1e-6. What is embedded often is embedded by `minilm.MiniLM`.
"""

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HEADS = 12
EPSILON = 1e-12  # of the layer norms
# Abramowitz and Stegun 7.1.26: the error function with an error of at most 1.5e-7, which NumPy lacks.
_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_ERF_P = 0.3275911
_TYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype("<f4"),
    3: np.dtype("i1"),
}  # of ONNX's that the model's weights have

_WORDS = "inner.embeddings.word_embeddings.weight"

Matrix = Any  # of floats: a row for each word piece


class Linear(NamedTuple):
    weights: Matrix
    scales: Matrix  # of the columns
    bias: Matrix

    def apply(self, rows: Matrix) -> Matrix:
        return rows @ self.weights * self.scales + self.bias


class LayerNorm(NamedTuple):
    weight: Matrix
    bias: Matrix

    def apply(self, rows: Matrix) -> Matrix:
        centred = rows - rows.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + EPSILON)
        return centred / deviation * self.weight + self.bias


class Layer(NamedTuple):
    query: Linear
    key: Linear
    value: Linear
    attention: Linear
    attention_norm: LayerNorm
    inner: Linear
    outer: Linear
    norm: LayerNorm

    def apply(self, rows: Matrix) -> Matrix:
        query, key, value = (
            each.apply(rows).reshape(len(rows), HEADS, -1).transpose(1, 0, 2)
            for each in (self.query, self.key, self.value)
        )
        attended = _softmax(query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(key.shape[2]))) @ value
        attended = attended.transpose(1, 0, 2).reshape(rows.shape)
        rows = self.attention_norm.apply(rows + self.attention.apply(attended))
        return self.norm.apply(rows + self.outer.apply(_gelu(self.inner.apply(rows))))


class OneText:
    """The bundled model, read from its ONNX file. Raises KeyError or ValueError for another model's."""

    def __init__(self, path: Path) -> None:
        tensors = dict(_tensors(path))
        embeddings, encoder = "inner.embeddings.", "inner.encoder.layer."
        self._words = Table(tensors, _WORDS)
        self._positions = Table(tensors, f"{embeddings}position_embeddings.weight")
        self._type = tensors[f"{embeddings}token_type_embeddings.weight"][0]
        self._norm = _norm(tensors, f"{embeddings}LayerNorm")
        # The matrices have numbers for names, in the order in which a layer uses them.
        matrices = [
            name.removesuffix("_q") for name in tensors if name.startswith("val_") and name.endswith("_q")
        ]
        parts = (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
            "intermediate.dense",
            "output.dense",
        )
        self._layers = []
        for number in range(len(matrices) // len(parts)):
            start = f"{encoder}{number}."
            names = zip(matrices[number * len(parts) :], parts, strict=False)
            query, key, value, attention, inner, outer = (
                Linear(
                    tensors[f"{name}_q"].astype(np.float32),
                    tensors[f"{name}_scale"],
                    tensors[f"{start}{part}.bias"],
                )
                for name, part in names
            )
            norms = [_norm(tensors, f"{start}{part}.LayerNorm") for part in ("attention.output", "output")]
            self._layers.append(Layer(query, key, value, attention, norms[0], inner, outer, norms[1]))

    def hidden(self, pieces: Sequence[int]) -> Matrix:
        """Return a row for each word piece of a text."""
        rows = self._words[list(pieces)] + self._positions[list(range(len(pieces)))] + self._type
        rows = self._norm.apply(rows)
        for layer in self._layers:
            rows = layer.apply(rows)
        return rows


class Table:
    """Rows of bytes with a scale for each."""

    def __init__(self, tensors: dict[str, Matrix], name: str) -> None:
        self._bytes, self._scales = tensors[f"{name}_q"], tensors[f"{name}_scale"]

    def __getitem__(self, rows: list[int]) -> Matrix:
        return self._bytes[rows] * self._scales[rows]


def _norm(tensors: dict[str, Matrix], name: str) -> LayerNorm:
    return LayerNorm(tensors[f"{name}.weight"], tensors[f"{name}.bias"])


def _softmax(rows: Matrix) -> Matrix:
    powers = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _gelu(rows: Matrix) -> Matrix:
    scaled = np.abs(rows) * np.float32(0.5**0.5)
    factor = 1 / (1 + np.float32(_ERF_P) * scaled)
    polynomial = np.zeros_like(rows)
    for coefficient in _ERF:
        polynomial = (polynomial + np.float32(coefficient)) * factor
    error = 1 - polynomial * np.exp(-scaled * scaled)
    return 0.5 * rows * (1 + np.copysign(error, rows))


# ONNX files are protocol buffers: numbered fields, each with a number or with bytes.

_GRAPH, _INITIALIZER = 7, 5
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9


def _tensors(path: Path) -> Iterator[tuple[str, Matrix]]:
    """Yield the weights in a model's file by name, in their order, as views of the file."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for field, start, end in _fields(data, 0, len(data)):
        if field == _GRAPH:
            for inner, first, last in _fields(data, start, end):
                if inner == _INITIALIZER:
                    yield from _tensor(data, first, last)


def _tensor(data: mmap.mmap, start: int, end: int) -> Iterator[tuple[str, Matrix]]:
    dims, name, type_, raw = [], "", 0, (0, 0)
    for field, value, last in _fields(data, start, end):
        if field == _DIMS:
            dims.append(value)
        elif field == _TYPE:
            type_ = value
        elif field == _NAME:
            name = data[value:last].decode()
        elif field == _RAW:
            raw = value, last
    if type_ in _TYPES:
        dtype = _TYPES[type_]
        yield name, np.frombuffer(data, dtype, (raw[1] - raw[0]) // dtype.itemsize, raw[0]).reshape(dims)


def _fields(data: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield each field's number with its value, or with where its bytes begin and end."""
    while start < end:
        key, start = _varint(data, start)
        kind = key & 7
        if kind == 0:
            value, start = _varint(data, start)
            yield key >> 3, value, 0
        elif kind in _SIZES:
            yield key >> 3, start, start + _SIZES[kind]
            start += _SIZES[kind]
        elif kind == 2:
            length, start = _varint(data, start)
            yield key >> 3, start, start + length
            start += length
        else:
            raise ValueError(f"not a protocol buffer: kind {kind}")


_SIZES = {1: 8, 5: 4}  # of kinds of fields with a fixed size


def _varint(data: mmap.mmap, start: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[start]
        start += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, start
        shift += 7
