"""One column of names: what the ids 0, 1, 2, ... are called.

Every id has a *key*, unique and stable (a full IRI, or the name as it stood in the file), and a readable *name*: its
`rdfs:label` where there is one, else its short form. Both are accepted wherever a name is asked for.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import AmbiguousName, UnknownName
from unseen.graph.arrow_arrays import TEXT, id_array, numbers_of, text_array
from unseen.graph.prefixes import Prefixes, is_iri

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

LONGEST_COMPARED = 200
"""Characters of a name that are looked at to find similar ones: comparing takes the product of two lengths."""


class Names:
    """Keys and readable names of one kind of thing (`kind` is "entity" or "relation"); immutable."""

    def __init__(self, kind: str, keys: pa.Array, labels: pa.Array | None = None, prefixes: Prefixes | None = None):
        self.kind = kind
        self.keys = keys.cast(TEXT)
        self.labels = None if labels is None or labels.null_count == len(labels) else labels.cast(TEXT)
        self.prefixes = prefixes or Prefixes()

    def __len__(self) -> int:
        return len(self.keys)

    def key(self, index: int) -> str:
        """The unique key of an id."""
        text: str = self.keys[index].as_py()
        return text

    def name(self, index: int) -> str:
        """The readable name of an id: its label, else its short form."""
        label = None if self.labels is None else self.labels[index].as_py()
        return label if label is not None else self.prefixes.shorten(self.key(index))

    def named(self, indices: Sequence[int]) -> list[tuple[str, str]]:
        """The readable name and the key of many ids, in one pass over each column."""
        places = id_array(np.asarray(indices, np.int64))
        keys = self.keys.take(places).to_pylist()
        labels = [None] * len(keys) if self.labels is None else self.labels.take(places).to_pylist()
        shorten = self.prefixes.shorten
        return [(label if label is not None else shorten(key), key) for label, key in zip(labels, keys, strict=True)]

    def find(self, name: str, *, suggest: bool = True) -> int:
        """The id of a readable name, a key, `<iri>`, `prefix:local`, or a local name that only one IRI has.

        For an unknown one, `suggest` has the error offer the closest names, which takes many passes over all names.
        """
        index = int(self.find_all([name])[0])
        if index >= 0:
            return index
        candidates = self._sharing(name)
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            raise AmbiguousName(self.kind, name, [self.name(index) for index in candidates[:5]])
        raise UnknownName(self.kind, name, self.closest(name) if suggest else ())

    def find_local(self, name: str) -> int:
        """The id of the only IRI with a local name, or of the only entity with a shared label; -1 if there is none."""
        candidates = self._sharing(name)
        return candidates[0] if len(candidates) == 1 else -1

    def find_all(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The ids of many readable names, keys, `<iri>` or `prefix:local`, -1 where there is none.

        Cost: one pass over all names, however many are looked up.
        """
        ids = _positions(self.labels, texts)
        for spelled in (lambda text: text, self.prefixes.expand):
            missing = np.flatnonzero(ids < 0).tolist()
            spellings = [spelled(texts[position]) for position in missing]
            if any(spelling is not None for spelling in spellings):
                ids[missing] = _positions(self.keys, spellings)
        return ids

    def find_keys(self, keys: Sequence[str] | pa.Array) -> NDArray[np.int32]:
        """The ids of many keys, and of keys only, -1 where there is none. Cost: one pass over all keys."""
        return _positions(self.keys, keys)

    def relabelled(self, labels: Mapping[int, str | None]) -> Names:
        """The same keys with other labels for some ids; None takes a label away.

        A text that another id has already is followed by the short form of the key: who had it first keeps it.
        """
        if not labels:
            return self
        old = self.labels if self.labels is not None else pa.nulls(len(self), TEXT)
        chosen = np.zeros(len(self), bool)
        chosen[list(labels)] = True
        others = old.filter(pa.array(~chosen))
        taken = set(others.filter(_is_one_of(others, list(labels.values()))).to_pylist())
        texts: list[str | None] = []
        for index in sorted(labels):
            text = labels[index]
            texts.append(f"{text} ({self.prefixes.shorten(self.key(index))})" if text in taken else text)
            taken.update(() if text is None else (text,))
        return Names(
            self.kind, self.keys, pc.replace_with_mask(old, pa.array(chosen), text_array(texts)), self.prefixes
        )

    def extended_with(self, new_keys: pa.Array, labels: pa.Array | None = None) -> Names:
        """These names followed by new ones; old ids, names and prefixes stay."""
        if len(new_keys) == 0:
            return self
        keys = pa.concat_arrays([self.keys, new_keys.cast(TEXT)])
        old = self.labels if self.labels is not None else pa.nulls(len(self), TEXT)
        new = labels.cast(TEXT) if labels is not None else pa.nulls(len(new_keys), TEXT)
        return Names(self.kind, keys, pa.concat_arrays([old, new]), self.prefixes.extended_to(new_keys))

    def closest(self, name: str, count: int = 5) -> list[str]:
        """The names most like `name`, best first; all there are, if they are fewer."""
        wanted = name.lower()[:LONGEST_COMPARED]
        shortlist = [self.name(int(index)) for index in self._similar_ids(wanted)]
        scored = sorted(((_similarity(wanted, other), other) for other in set(shortlist)), key=lambda s: (-s[0], s[1]))
        return [other for _, other in scored[:count]]

    def _sharing(self, name: str) -> list[int]:
        """Ids whose label was told apart from others of the same text, or whose local name is `name`."""
        found: set[int] = set()
        if self.labels is not None:
            shared = pc.starts_with(self.labels, f"{name} (").fill_null(False)
            found.update(pc.indices_nonzero(shared).to_pylist())
        if self.prefixes.namespaces and not is_iri(name):
            guesses = [namespace + name for namespace in self.prefixes.namespaces.values()]
            found.update(int(index) for index in _positions(self.keys, guesses) if index >= 0)
        return sorted(found)

    def _similar_ids(self, wanted: str, limit: int = 400) -> NDArray[np.int64]:
        """Ids that share the largest part of their two-letter pieces with `wanted`; quick on millions of names."""
        pieces = sorted({wanted[i : i + 2] for i in range(max(1, len(wanted) - 1))})[:40]
        shares = [_shared_pieces(column, pieces) for column in (self.keys, self.labels) if column is not None]
        best_share = np.maximum.reduce(shares)
        best = np.argsort(-best_share, kind="stable")[:limit]
        similar: NDArray[np.int64] = best[best_share[best] > 0]
        return similar


def _shared_pieces(column: pa.Array, pieces: Sequence[str]) -> NDArray[np.float64]:
    """For each text, how many of the pieces it holds, relative to the length of both."""
    shared = np.zeros(len(column))
    for piece in pieces:
        shared += pc.match_substring(column, piece, ignore_case=True).fill_null(False).to_numpy(zero_copy_only=False)
    lengths: NDArray[np.int32] = pc.utf8_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    return shared / (len(pieces) + lengths)


def unique_labels(labels: Sequence[str | None], keys: Sequence[str], prefixes: Prefixes) -> list[str | None]:
    """Labels made unique: a text that several keys share is followed by the short form of its key."""
    seen: dict[str, int] = {}
    for label in labels:
        if label is not None:
            seen[label] = seen.get(label, 0) + 1
    return [
        f"{label} ({prefixes.shorten(key)})" if label is not None and seen[label] > 1 else label
        for label, key in zip(labels, keys, strict=True)
    ]


def _positions(column: pa.Array | None, texts: Sequence[str | None] | pa.Array) -> NDArray[np.int32]:
    """Where each text stands in the column, -1 where it does not; the hash table is of the texts, not the column."""
    if column is None or len(column) == 0:
        return np.full(len(texts), -1, np.int32)
    wanted = texts if isinstance(texts, pa.Array) else text_array(texts)
    hits = numbers_of(pc.indices_nonzero(pc.is_in(column, value_set=wanted, skip_nulls=True))).astype(np.int64)
    found = pc.index_in(wanted, value_set=column.take(id_array(hits)), skip_nulls=True)
    places = np.array([-1 if place is None else place for place in found.to_pylist()], np.int64)
    positions: NDArray[np.int32] = np.append(hits, -1)[places].astype(np.int32)
    return positions


def _is_one_of(column: pa.Array, texts: Sequence[str | None]) -> pa.Array:
    return pc.is_in(column, value_set=text_array([text for text in texts if text is not None]), skip_nulls=True)


def _similarity(wanted: str, other: str) -> float:
    return SequenceMatcher(None, wanted, other.lower()[:LONGEST_COMPARED], autojunk=False).ratio()
