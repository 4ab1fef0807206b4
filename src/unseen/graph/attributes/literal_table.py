"""The distinct literals of a graph, each with its text, its type or language, and the number by which it compares."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.graph.arrow_arrays import TEXT, id_array, text_array
from unseen.graph.attributes.value_kinds import LANGUAGE_TYPE, STRING, STRING_TYPE, WHOLE_TYPES, XSD, Kind, Tag, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ids = NDArray[np.int32]

FEW = 256
"""Texts that are read one by one; more of them are worth a pass of Arrow."""


class LiteralTable:
    """Literals by number; immutable. Columns: `texts`, `tag_numbers` (places in `tags`), `kinds` and `numbers`."""

    def __init__(
        self,
        texts: pa.Array,
        tag_numbers: Ids,
        tags: tuple[Tag, ...],
        kinds: NDArray[np.uint8],
        numbers: NDArray[np.float64],
    ) -> None:
        self.texts, self.tag_numbers, self.tags = texts, tag_numbers, tags
        self.kinds, self.numbers = kinds, numbers

    @classmethod
    def of(cls, texts: pa.Array, tag_numbers: Ids, tags: Sequence[Tag]) -> LiteralTable:
        """Literals by text and tag, which must be distinct together."""
        kinds = np.full(len(texts), Kind.OTHER, np.uint8)
        numbers = np.full(len(texts), np.nan)
        for number, tag in enumerate(tags):
            places = np.flatnonzero(tag_numbers == number)
            if len(places):
                own = texts if len(places) == len(texts) else texts.take(id_array(places))
                kinds[places], numbers[places] = _read(own, tag)
        return cls(texts.cast(TEXT), np.asarray(tag_numbers, np.int32), tuple(tags), kinds, numbers)

    @classmethod
    def of_pairs(cls, pairs: Sequence[tuple[str, Tag]]) -> LiteralTable:
        """Literals by text and tag, which must be distinct together."""
        tags = list(dict.fromkeys(tag for _, tag in pairs))
        number = {tag: place for place, tag in enumerate(tags)}
        return cls.of(
            text_array([text for text, _ in pairs]),
            np.fromiter((number[tag] for _, tag in pairs), np.int32, len(pairs)),
            tags,
        )

    def __len__(self) -> int:
        return len(self.texts)

    def tag(self, literal: int) -> Tag:
        """The type and language of a literal."""
        return self.tags[int(self.tag_numbers[literal])]

    def text(self, literal: int) -> str:
        """The text of a literal."""
        found: str = self.texts[literal].as_py()
        return found

    def find(self, text: str, tag: Tag) -> int:
        """The number of a literal, -1 if there is none."""
        places = np.flatnonzero(pc.equal(self.texts, pa.scalar(text, TEXT)).to_numpy(zero_copy_only=False))
        return next((int(place) for place in places if self.tag(int(place)) == tag), -1)

    def taken(self, places: NDArray[np.integer]) -> LiteralTable:
        """Some of the literals."""
        return LiteralTable(
            self.texts.take(id_array(np.asarray(places))),
            self.tag_numbers[places],
            self.tags,
            self.kinds[places],
            self.numbers[places],
        )

    def joined(self, other: LiteralTable) -> tuple[LiteralTable, Ids]:
        """These literals followed by those of another table that are new, and the number of each of the other's."""
        tags = tuple(dict.fromkeys((*self.tags, *other.tags)))
        place = {tag: number for number, tag in enumerate(tags)}
        translated = np.array([place[tag] for tag in other.tags], np.int32)[other.tag_numbers]
        texts = pa.concat_arrays([self.texts, other.texts])
        encoded = texts.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
        keys = encoded * max(1, len(tags)) + np.concatenate([self.tag_numbers, translated])
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        is_new = first >= len(self)
        number = np.where(is_new, 0, first)
        number[np.flatnonzero(is_new)[np.argsort(first[is_new])]] = len(self) + np.arange(int(is_new.sum()))
        new = np.sort(first[is_new]) - len(self)
        both = LiteralTable(
            pa.concat_arrays([self.texts, other.texts.take(id_array(new))]),
            np.concatenate([self.tag_numbers, translated[new]]),
            tags,
            np.concatenate([self.kinds, other.kinds[new]]),
            np.concatenate([self.numbers, other.numbers[new]]),
        )
        return both, number[which[len(self) :]].astype(np.int32)

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest text."""
        return int(pc.max(pc.binary_length(self.texts)).as_py() or 0)

    @cached_property
    def text_order(self) -> NDArray[np.int64]:
        """The rank of each literal by its text, for those that compare as texts."""
        rank = np.empty(len(self), np.int64)
        rank[pc.sort_indices(self.texts).to_numpy()] = np.arange(len(self))
        return rank

    def n_triples(self) -> pa.Array:
        """The literals as N-Triples writes them."""
        quoted = self.texts
        for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
            quoted = pc.replace_substring(quoted, sign, written)
        ends = text_array([_ending(tag) for tag in self.tags]).take(id_array(self.tag_numbers))
        return pc.binary_join_element_wise(pa.scalar('"', TEXT), quoted, ends, pa.scalar("", TEXT))


EMPTY_TABLE = LiteralTable.of(text_array([]), np.empty(0, np.int32), ())


def _ending(tag: Tag) -> str:
    if tag.datatype == STRING_TYPE:
        return '"'
    return f'"@{tag.language}' if tag.datatype == LANGUAGE_TYPE else f'"^^<{tag.datatype}>'


def _read(texts: pa.Array, tag: Tag) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Kinds and numbers of texts of one type."""
    if tag == STRING or tag.datatype == LANGUAGE_TYPE:
        kind = Kind.STRING if tag == STRING else Kind.LANGUAGE
        return np.full(len(texts), kind, np.uint8), np.full(len(texts), np.nan)
    quick = _read_numbers(texts, tag) if len(texts) > FEW else None
    if quick is not None:
        return np.full(len(texts), Kind.NUMBER, np.uint8), quick
    found = [kind_of(text, tag) for text in texts.to_pylist()]
    return np.array([kind for kind, _ in found], np.uint8), np.array([number for _, number in found])


def _read_numbers(texts: pa.Array, tag: Tag) -> NDArray[np.float64] | None:
    """All texts of a type of numbers in one pass; None if one of them needs a closer look."""
    fits = r"^[+-]?\d+$" if tag.datatype in WHOLE_TYPES else r"^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$"
    is_number = tag.datatype in WHOLE_TYPES or tag.datatype in (f"{XSD}decimal", f"{XSD}double")
    if not is_number or not pc.all(pc.match_substring_regex(texts, fits)).as_py():
        return None
    numbers: NDArray[np.float64] = pc.utf8_ltrim(texts, "+").cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers
