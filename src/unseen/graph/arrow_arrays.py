"""Arrow arrays made of buffers. `pyarrow.array` imports pandas where it is installed, half a second for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unseen.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TEXT = pa.large_string()
FEW = 10_000
"""Names that are joined in Python; for more of them pyarrow's own loop is worth its import."""


def id_array(ids: NDArray[np.integer[Any]]) -> pa.Array:
    """Ids as one Arrow array; nothing is copied."""
    column = np.ascontiguousarray(ids)
    return pa.Array.from_buffers(pa.from_numpy_dtype(column.dtype), len(column), [None, pa.py_buffer(column)])


def text_array(names: Sequence[str | None]) -> pa.Array:
    """Names as one Arrow array."""
    try:
        if len(names) > FEW or None in names:
            return pa.array(names, TEXT)
        encoded = [name.encode() for name in names if name is not None]
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        raise GraphError("a name is not valid Unicode text") from error
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return pa.Array.from_buffers(TEXT, len(encoded), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))])


def numbers_of(array: pa.Array) -> NDArray[Any]:
    """The numbers of an Arrow array that has no nulls; nothing is copied."""
    numbers: NDArray[Any] = np.from_dlpack(array)
    return numbers
