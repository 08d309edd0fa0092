"""Arrays and a few values as bytes, for the files in which a store keeps an index."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]

_ALIGNED = 64  # bytes; an array begins at a multiple of them
_TYPES = {"<i4", "<i8", "<f4", "<f8", "<u8", "|u1"}


def pack(values: Mapping[str, Any], arrays: Arrays) -> list[bytes | memoryview]:
    """Return JSON values and arrays as parts of a file."""
    table = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    text = json.dumps([values, table]).encode()
    head = len(text).to_bytes(8, "little") + text
    parts: list[bytes | memoryview] = [head, _padding(len(head))]
    for array in arrays.values():
        if array.size:
            parts += [np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, _padding(array.nbytes)]
    return parts


def unpack(data: memoryview) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return what `pack` was given; the arrays are parts of `data`. Raise `ValueError` for anything else."""
    size = int.from_bytes(data[:8], "little")
    values, table = json.loads(bytes(data[8 : 8 + size]))
    begin = _aligned(8 + size)
    arrays = {}
    for name, kind, shape in table:
        if kind not in _TYPES:
            raise ValueError(f"an array of {kind}")
        array = np.empty(shape, kind)
        if array.size:
            array = np.frombuffer(data[begin : begin + array.nbytes], kind).reshape(shape)
        arrays[name] = array
        begin = _aligned(begin + array.nbytes)
    return values, arrays


def pack_texts(texts: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Return texts without line breaks as an array."""
    return np.frombuffer("\n".join(texts).encode("utf-8", "surrogatepass"), np.uint8)


def unpack_texts(array: npt.NDArray[Any]) -> list[str]:
    return array.tobytes().decode("utf-8", "surrogatepass").split("\n") if array.size else []


def _padding(size: int) -> bytes:
    return b"\0" * (-size % _ALIGNED)


def _aligned(size: int) -> int:
    return size + -size % _ALIGNED
