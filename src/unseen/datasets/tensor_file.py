"""Arrays in a safetensors file, used where they lie: mapped into memory, never copied."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    Tensors = Mapping[str, NDArray[Any]]

DTYPES: dict[str, np.dtype[Any]] = {"I32": np.dtype("<i4"), "I64": np.dtype("<i8"), "U8": np.dtype("u1")}
PREFIX_BYTES = 8
LONGEST_HEADER = 100_000_000
"""As in the safetensors library."""


def write_tensors(path: Path, tensors: Tensors) -> None:
    """Write named arrays as one safetensors file, readable like any other new file."""
    from safetensors.numpy import save_file

    path.touch()
    mode = path.stat().st_mode
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, path)
    path.chmod(mode)


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of a safetensors file, read-only views of the mapped file."""
    try:
        content = np.asarray(np.memmap(path, np.uint8, "r"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"cannot be read: {error}", path=path) from None
    header, data = _header(content, path)
    try:
        return {name: _tensor(entry, data) for name, entry in header.items() if name != "__metadata__"}
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(f"is damaged: its header does not fit its content ({error})", path=path) from None


def _header(content: NDArray[np.uint8], path: Path) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """What the file says it holds, and the bytes that follow."""
    length = int.from_bytes(content[:PREFIX_BYTES].tobytes(), "little")
    if length > min(len(content) - PREFIX_BYTES, LONGEST_HEADER):
        raise DatasetError("is truncated, or not a safetensors file", path=path)
    try:
        header = json.loads(content[PREFIX_BYTES : PREFIX_BYTES + length].tobytes())
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise DatasetError("is not a safetensors file", path=path)
    return header, content[PREFIX_BYTES + length :]


def _tensor(entry: dict[str, Any], data: NDArray[np.uint8]) -> NDArray[Any]:
    """One array; it must lie inside the data and have exactly the size that its shape asks for."""
    dtype, shape, (start, end) = DTYPES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
    if not 0 <= start <= end <= len(data) or min(shape, default=0) < 0:
        raise ValueError("an array reaches beyond the end")
    if end - start != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array and its shape differ in size")
    tensor: NDArray[Any] = data[start:end].view(dtype).reshape(shape)
    return tensor if tensor.flags.aligned else tensor.copy()
