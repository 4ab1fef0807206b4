"""The restricted reader of pickles: plain data come through unchanged, everything else is refused unrun."""

from __future__ import annotations

import collections
import contextlib
import os
import pickle
import pickletools
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.datasets.pickles.pickle_writer import dictionary, encoded, id_sets, list_of, pickle_file, set_of
from unseen.datasets.pickles.restricted import NotIds, Pickled
from unseen.datasets.query_table import Ragged
from unseen.errors import DatasetError

HERE = Path("some.pkl")
NUMBERS = st.integers(-(2**58), 2**58)
KEYS = st.recursive(
    st.one_of(NUMBERS, st.text(max_size=5), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4).map(tuple), st.frozensets(inner, max_size=3)),
    max_leaves=6,
)
VALUES = st.recursive(
    st.one_of(KEYS, st.sets(KEYS, max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=3).map(lambda entries: collections.defaultdict(set, entries)),
    ),
    max_leaves=12,
)


def read(content: bytes) -> Any:
    return Pickled(content, HERE).plain()


class Calling:
    """Pickles as a call."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


class TestPlainData:
    @given(VALUES, st.integers(0, 5))
    def test_any_plain_value_comes_through_in_any_protocol(self, value: Any, protocol: int) -> None:
        assert read(pickle.dumps(value, protocol)) == value

    @given(VALUES)
    def test_a_pickle_without_needless_memos_too(self, value: Any) -> None:
        assert read(pickletools.optimize(pickle.dumps(value, 4))) == value

    @pytest.mark.parametrize("protocol", range(6))
    def test_large_containers_arrive_whole_and_in_order(self, protocol: int) -> None:
        value = {"list": list(range(5000)), "set": set(range(70_000)), "dict": {(i, (i,)): {i} for i in range(3000)}}
        assert read(pickle.dumps(value, protocol)) == value

    def test_shared_parts_are_shared(self) -> None:
        part = (1, 2)
        assert read(pickle.dumps([part] * 1000)) == [part] * 1000

    def test_ordered_dicts_and_empty_calls_are_dicts_and_sets(self) -> None:
        assert read(pickle.dumps(collections.OrderedDict(a=1, b=2))) == {"a": 1, "b": 2}
        assert read(b"cbuiltins\nset\n)R.") == set()
        assert read(b"cbuiltins\ndict\n)R.") == {}
        assert read(b"c__builtin__\nset\n(lp0\nI3\naI4\na\x85R.") == {3, 4}


MALICIOUS = {
    "os.system": pickle.dumps(Calling(os.system, "touch pwned")),
    "builtins.eval": pickle.dumps({1: [Calling(eval, "open('pwned', 'w')")]}),
    "builtins.exec, protocol 0": pickle.dumps(Calling(exec, "open('pwned', 'w')"), 0),
    "subprocess": pickle.dumps(Calling(subprocess.Popen, ["touch", "pwned"]), 2),
    "builtins.getattr": b"cbuiltins\ngetattr\n.",
    "an object": b"(cos\nsystem\nS'touch pwned'\no.",
    "an instance": b"(S'touch pwned'\nios\nsystem\n.",
    "a persistent id": b"Psomething\n.",
    "an extension": b"\x82\x01.",
    "a name with a dot": b"\x80\x04\x8c\x08builtins\x8c\x0bset.__class_\x93.",
    "a module that begins alike": b"cbuiltins.set\nset\n.",
    "a path in the name": b"ccollections\ndefaultdict.fromkeys\n.",
    "state for a dict": b"\x80\x04}}b.",
    "a new object": b"\x80\x04cbuiltins\nset\n)\x81.",
    "a call of a number": b"K\x01)R.",
    "a call of a set": b"\x8f)R.",
    "a call with a number": b"cbuiltins\nset\nK\x05\x85R.",
    "a call with two": b"cbuiltins\nset\n]]\x86R.",
    "int of a text": b"cbuiltins\nint\n\x8c\x015\x85R.",
    "defaultdict of a dict": b"ccollections\ndefaultdict\n}\x85R.",
    "bytes": pickle.dumps(b"x"),
    "a float": pickle.dumps(1.5),
    "a numpy number": pickle.dumps(np.int64(1)),
    "a numpy array": pickle.dumps(np.arange(3)),
    "a set that grows after it was copied": b"cbuiltins\nset\n]q\x00\x85Rh\x00K\x01a.",
}

BOMBS = {
    "bytearray of ten billion": pickle.dumps(Calling(bytearray, 10**10)),
    "list times ten billion": pickle.dumps(Calling(pow, 10, 10**10)),
    "ten billion bytes": b"\x80\x04\x8e" + struct.pack("<Q", 10**10) + b"x.",
    "ten billion bytes to write on": b"\x80\x05\x96" + struct.pack("<Q", 10**10) + b"x.",
    "a text of ten billion": b"\x80\x04\x8d" + struct.pack("<Q", 10**10) + b"x.",
    "a text of minus one": b"\x80\x04\x8d" + b"\xff" * 8 + b"x.",
    "a number of two billion bytes": b"\x80\x04\x8b\xff\xff\xff\x7f1.",
    "a number of 200 bytes": b"\x80\x04\x8a\xc8" + b"1" * 200 + b".",
    "a number of many digits": b"I" + b"9" * 10_000 + b"\n.",
    "a memo of two billion": b"\x80\x04K\x01r\xff\xff\xff\x7f.",
    "a memo of many digits": b"K\x01p99999999999\n.",
    "tuples of tuples": b"\x80\x04)q\x00" + b"".join(b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(90)) + b".",
    "tuples of tuples as a key": b"\x80\x04})q\x00"
    + b"".join(b"h%c\x85q%c0h%ch%c\x86q%c" % (i, i + 1, i, i, i + 1) for i in range(90))
    + b"NsN.",
    "lists of lists": b"\x80\x04]q\x00" + b"".join(b"]q%ch%cah%ca" % (i + 1, i, i) for i in range(90)) + b".",
    "a list in itself": b"\x80\x04]q\x00h\x00a.",
    "depth": b"(" * 100_000 + b"t" * 100_000 + b".",
}

BROKEN = [b"", b".", b"hello", b"\x80", b"\x80\x04", b"t.", b"K\x01K\x02.", b"(.", b"h\x00.", b"0.", b"1.", b"2."]
BROKEN += [b"K\x01s.", b"}K\x01s.", b"}(K\x01u.", b"](K\x01u.", b"](K\x01\x90.", b"K\x01a.", b"\x94.", b"(q\x00."]


class TestRefusals:
    @pytest.mark.parametrize("name", MALICIOUS)
    def test_nothing_runs(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(DatasetError):
            read(MALICIOUS[name])
        assert list(tmp_path.iterdir()) == []

    def test_the_message_says_what_was_asked_for(self) -> None:
        with pytest.raises(DatasetError, match=r"some\.pkl: is refused: it asks for 'posix\.system'"):
            read(MALICIOUS["os.system"])

    @pytest.mark.parametrize("name", BOMBS)
    def test_a_bomb_is_refused_at_once_and_takes_no_memory(self, name: str) -> None:
        read(pickle.dumps({1: {2}}))
        before, start = resident_pages(), time.monotonic()
        with pytest.raises(DatasetError):
            read(BOMBS[name])
        assert time.monotonic() - start < 5
        assert resident_pages() - before < 50_000

    @pytest.mark.parametrize("content", BROKEN)
    def test_what_is_no_pickle(self, content: bytes) -> None:
        with pytest.raises(DatasetError):
            read(content)

    def test_every_truncation(self) -> None:
        content = pickle.dumps({("e", ("r",)): {(1, (2,)), (70_000, (3,))}, "x": [None, True]})
        for length in range(len(content)):
            with pytest.raises(DatasetError):
                read(content[:length])

    @given(st.binary(max_size=60))
    def test_any_bytes_give_plain_data_or_an_error(self, content: bytes) -> None:
        with contextlib.suppress(DatasetError):
            read(content)

    @given(VALUES, st.integers(0, 5), st.data())
    def test_any_changed_byte_gives_plain_data_or_an_error(self, value: Any, protocol: int, data: Any) -> None:
        content = bytearray(pickle.dumps(value, protocol))
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        with contextlib.suppress(DatasetError):
            read(bytes(content))

    def test_a_list_as_a_key(self) -> None:
        with pytest.raises(DatasetError, match="as a key"):
            read(b"}]Ns.")

    def test_a_type_as_a_value(self) -> None:
        with pytest.raises(DatasetError, match="a type where a value"):
            read(b"cbuiltins\nset\n.")


def resident_pages() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) if statm.exists() else 0


class TestBulkReading:
    @given(st.lists(st.sets(st.integers(0, 99_999), max_size=8), max_size=5))
    def test_sets_of_ids_become_sorted_rows(self, sets: list[set[int]]) -> None:
        pickled = Pickled(pickle.dumps(sets), HERE)
        rows = pickled.id_rows(pickled.members(pickled.root), 100_000)
        assert [rows.row(i).tolist() for i in range(len(rows))] == [sorted(ids) for ids in sets]

    def test_repeats_in_a_list_are_dropped(self) -> None:
        pickled = Pickled(pickle.dumps([[3, 1, 3, 1]]), HERE)
        assert pickled.id_rows(pickled.members(pickled.root), 9).row(0).tolist() == [1, 3]

    @pytest.mark.parametrize("wrong", [{10}, {-1}, {"1"}, {(1,)}, {1: 2}, 5, None, {True}, {2**40}])
    def test_anything_but_ids_is_refused_with_its_row(self, wrong: object) -> None:
        pickled = Pickled(pickle.dumps([{1}, {9}, wrong]), HERE)
        with pytest.raises(NotIds) as caught:
            pickled.id_rows(pickled.members(pickled.root), 10)
        assert caught.value.row == 2

    def test_queries_are_told_apart_by_their_form(self) -> None:
        queries = [(7, (1,)), (8, (2, 3)), ((1, (2,)), (3, (4, -2))), ((1, (2,)), (3, (4, 5))), (-1, (2,)), "x", 3, ()]
        pickled = Pickled(pickle.dumps(queries), HERE)
        words = pickled.members(pickled.root)
        found = {
            pattern: [part.tolist() for part in pickled.matching(words, pattern)]
            for pattern in [
                ("e", ("r",)),
                ("e", ("r", "r")),
                (("e", ("r",)), ("e", ("r", "n"))),
                (("e", ("r",)), ("e", ("r", "r"))),
                (("e", ("r",)), ("e", ("r",)), ("u",)),
                ("e", "*"),
            ]
        }
        assert list(found.values()) == [
            [[0], [[7, 1]]],
            [[1], [[8, 2, 3]]],
            [[2], [[1, 2, 3, 4]]],
            [[3], [[1, 2, 3, 4, 5]]],
            [[], []],
            [[0, 1], [[7], [8]]],
        ]

    def test_an_empty_list_matches_nothing(self) -> None:
        pickled = Pickled(pickle.dumps([]), HERE)
        positions, ids = pickled.matching(pickled.members(pickled.root), ("e", ("r",)))
        assert (len(positions), ids.shape) == (0, (0, 2))


class TestWriting:
    @given(KEYS.filter(lambda value: not isinstance(value, frozenset)))
    def test_python_reads_what_is_written(self, value: Any) -> None:
        plain = _plain(value)
        assert pickle.loads(b"".join(pickle_file([encoded(plain)]))) == plain

    @given(st.lists(st.sets(st.integers(0, 200_000), max_size=9), max_size=5))
    def test_rows_of_ids_are_sets(self, sets: list[set[int]]) -> None:
        rows = Ragged.from_rows([sorted(ids) for ids in sets])
        assert pickle.loads(b"".join(pickle_file(list_of(id_sets(rows))))) == sets

    def test_many_entries_are_written_in_batches(self) -> None:
        rows = Ragged.from_rows([[i] for i in range(20_000)])
        pairs = ((encoded(number), [ids]) for number, ids in enumerate(id_sets(rows)))
        content = b"".join(pickle_file(dictionary(pairs, of_sets=True)))
        value = pickle.loads(content)
        assert type(value) is collections.defaultdict
        assert value.default_factory is set
        assert value == {i: {i} for i in range(20_000)} == read(content)

    def test_a_set_is_filled_in_the_order_written(self) -> None:
        tuples = [(i * 7919 % 5000, (i % 7, i % 5)) for i in range(5000)]
        written = pickle.loads(b"".join(pickle_file(set_of(encoded(item) for item in tuples))))
        assert list(written) == list(set(tuples))


def _plain(value: Any) -> Any:
    """The value with numbers of 31 bits and texts only."""
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    if isinstance(value, bool) or value is None or isinstance(value, frozenset):
        return "x"
    return value % 2**31 if isinstance(value, int) else value
