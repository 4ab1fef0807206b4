"""Whatever is wrong with a file is said in one line, and nothing else happens."""

from __future__ import annotations

import gzip
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.graph.files import file_of, keyed_triples, read
from unseen.errors import GraphError, MalformedLine
from unseen.graph.files import sources, tables
from unseen.graph.files.readers import read_graph

GOOD = "a\tr\tb\n"


def refusal(*paths: Path | str, skip_errors: bool = False) -> str:
    """The one line that reading these files ends in."""
    with pytest.raises(GraphError) as caught:
        read_graph(*paths, skip_errors=skip_errors)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    return message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nothing.tsv"
    assert refusal(path) == f"{path}: there is no such file"


def test_all_files_are_looked_at_before_the_first_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "detected", None)
    assert "no such file" in refusal(file_of(tmp_path, "good.tsv", GOOD), tmp_path / "nothing.tsv")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.tsv").mkdir()
    assert "is a directory" in refusal(tmp_path / "folder.tsv")


def test_a_path_through_a_file_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, "good.tsv", GOOD)
    assert "Not a directory" in refusal(path / "inside.tsv")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tsv")
    assert "not a regular file" in refusal(tmp_path / "pipe.tsv")


def test_a_name_with_a_nul_is_refused() -> None:
    assert "NUL" in refusal("bad\0name.tsv")


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = file_of(tmp_path, "secret.tsv", GOOD)
    monkeypatch.setattr(Path, "open", refuse)
    assert "permission denied" in refusal(path)


@pytest.mark.parametrize("name", ["graph", "graph.xyz", "graph.gz", "graph.json", ".tsv"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(tmp_path: Path, name: str) -> None:
    message = refusal(file_of(tmp_path, name, GOOD))
    assert all(
        suffix in message for suffix in (".tsv", ".csv", ".txt", ".parquet", ".nt", ".ttl", ".rdf", ".jsonld", ".nq")
    )


@pytest.mark.parametrize(
    "name",
    ["e.tsv", "e.csv", "e.txt", "e.parquet", "e.nt", "e.ttl", "e.rdf", "e.jsonld", "e.nq", "e.tsv.gz", "e.parquet.gz"],
)
def test_an_empty_file_is_refused(tmp_path: Path, name: str) -> None:
    assert refusal(file_of(tmp_path, name, "")) == f"{tmp_path / name}: the file is empty"


def test_a_gzip_of_no_bytes_at_all_is_empty(tmp_path: Path) -> None:
    (tmp_path / "e.tsv.gz").write_bytes(b"")
    assert "the file is empty" in refusal(tmp_path / "e.tsv.gz")


@pytest.mark.parametrize("content", ["\n", "\n \n\r\n", "head\trelation\ttail\n", "head,relation,tail"])
def test_a_table_without_triples_is_refused(tmp_path: Path, content: str) -> None:
    assert "no triples found" in refusal(file_of(tmp_path, "graph.tsv", content))


def test_a_comment_is_no_triple(tmp_path: Path) -> None:
    assert "no triples found" in refusal(file_of(tmp_path, "graph.nt", "# nothing\n"))


def test_a_file_of_labels_only_is_fine_beside_others(tmp_path: Path) -> None:
    empty = file_of(tmp_path, "empty.csv", "head,relation,tail\n")
    assert keyed_triples(read_graph(empty, file_of(tmp_path, "good.tsv", GOOD)).graph) == [("a", "r", "b")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["graph.tsv", "graph.csv", "graph.nt", "graph.ttl"])
def test_utf16_is_refused(tmp_path: Path, encoding: str, name: str) -> None:
    message = refusal(file_of(tmp_path, name, GOOD.encode(encoding)))
    assert "UTF-16" in message if encoding == "utf-16" else message


@pytest.mark.parametrize("name", ["graph.tsv", "graph.csv", "graph.tsv.gz"])
def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    separator = "," if "csv" in name else "\t"
    lines = f"a{separator}r{separator}b\n" * 5000 + f"caf\xe9{separator}r{separator}b\n"
    assert "line 5001: the head is not UTF-8" in refusal(file_of(tmp_path, name, lines.encode("latin-1")))


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".nt", ".ttl", ".rdf", ".jsonld", ".parquet"])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.99])
def test_a_truncated_gzip_is_refused_with_its_name(tmp_path: Path, suffix: str, kept: float) -> None:
    random.seed(0)
    content = "".join(f"{random.random()}\tr\t{random.random()}\n" for _ in range(3000))
    packed = gzip.compress(content.encode())
    path = tmp_path / f"graph{suffix}.gz"
    path.write_bytes(packed[: int(len(packed) * kept)])
    message = refusal(path)
    assert message.startswith(f"{path}: ")
    if suffix in (".tsv", ".csv"):
        assert "truncated" in message


@pytest.mark.parametrize("lost", [1, 4, 8, 9])
def test_a_gzip_without_its_last_bytes_is_truncated(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "graph.tsv.gz"
    path.write_bytes(gzip.compress((GOOD * 1000).encode())[:-lost])
    assert "truncated" in refusal(path)


def test_a_damaged_gzip_is_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress((GOOD * 1000).encode()))
    packed[-6] ^= 0xFF
    path = tmp_path / "graph.tsv.gz"
    path.write_bytes(packed)
    assert "the gzip file is damaged" in refusal(path)


def test_a_gzip_of_several_members_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "graph.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tr\tb\n") + gzip.compress(b"b\tr\tc\n"))
    assert keyed_triples(read_graph(path).graph) == [("a", "r", "b"), ("b", "r", "c")]


@pytest.mark.parametrize("suffix", [".tsv.gz", ".nt.gz", ".parquet.gz"])
def test_what_is_not_gzip_although_it_says_so_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"graph{suffix}"
    path.write_text(GOOD)
    assert "is not compressed with gzip although its name ends in .gz" in refusal(path)


def test_a_zip_archive_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "graph.tsv"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside.tsv", GOOD)
    assert "is a zip archive; unpack it first" in refusal(path)


def test_a_gzip_without_the_suffix_is_no_table(tmp_path: Path) -> None:
    assert "ends in .gz" in refusal(file_of(tmp_path, "graph.tsv", gzip.compress(GOOD.encode())))


def test_names_that_begin_like_an_archive_are_names(tmp_path: Path) -> None:
    content = "BZhang\tr\tb\nPAR1\tr\tPK\n"
    assert len(keyed_triples(read(tmp_path, "graph.tsv", content).graph)) == 2


@pytest.mark.parametrize(
    "name",
    ["graph.tsv", "graph.csv", "graph.txt", "graph.nt", "graph.ttl", "graph.rdf", "graph.jsonld", "graph.parquet"],
)
def test_binary_garbage_is_refused(tmp_path: Path, name: str) -> None:
    for seed in range(5):
        message = refusal(file_of(tmp_path, name, random.Random(seed).randbytes(20_000)))
        assert message.startswith(str(tmp_path / name))


BAD_LINES = [
    ("a\tr\n", "expected 3 columns separated by tabs, found 2"),
    ("a\tr\tb\tc\n", "expected 3 columns separated by tabs, found 4; more than three need a header"),
    ("three words here\n", "expected 3 columns separated by tabs, found 1"),
    ("\tr\tb\n", "the head is empty"),
    ("a\t\tb\n", "the relation is empty"),
    ("a\tr\t\n", "the tail is empty"),
    ("\t\t\n", "the head is empty"),
    ("a\tr\tb\0\n", "the tail holds a NUL byte"),
    ("\0\n", "holds a NUL byte"),
    (f"{'x' * 70_000}\tr\tb\n", "the head is longer than 65,536 characters"),
    (f"a\t{'é' * 65_537}\tb\n", "the relation is longer than 65,536 characters"),
    (f"{'x' * 10_000_000}\n", "expected 3 columns separated by tabs, found 1"),
]


@pytest.mark.parametrize(("bad", "problem"), BAD_LINES, ids=range(len(BAD_LINES)))
@pytest.mark.parametrize("before", [1, 5000])
@pytest.mark.parametrize("name", ["graph.tsv", "graph.txt.gz"])
def test_a_bad_line_of_a_table_is_named_or_left_out(
    tmp_path: Path, bad: str, problem: str, before: int, name: str
) -> None:
    path = file_of(tmp_path, name, GOOD * before + bad + "c\tr\td")
    with pytest.raises(MalformedLine) as caught:
        read_graph(path)
    assert str(caught.value).startswith(f"{path}: line {before + 1}: {problem}")
    assert caught.value.line == before + 1
    assert len(str(caught.value)) < 500
    result = read_graph(path, skip_errors=True)
    assert keyed_triples(result.graph) == [("a", "r", "b"), ("c", "r", "d")]
    assert result.report.skipped == 1
    assert str(caught.value) == f"{result.report.files[0].first_skipped} (--skip-errors leaves such lines out)"


def test_the_first_of_several_bad_lines_is_named_and_all_are_counted(tmp_path: Path) -> None:
    content = "a\tr\tb\nx\ny\tr\nc\tr\td\n\nz\n"
    assert "line 2: " in refusal(file_of(tmp_path, "graph.tsv", content))
    result = read(tmp_path, "graph.tsv", content, skip_errors=True)
    assert (result.report.skipped, result.report.triples) == (3, 2)


def test_lines_are_numbered_from_the_top_of_the_file_whatever_stands_there(tmp_path: Path) -> None:
    content = "\ufeff\n\ntail,head,relation,note\nb,a,r,\n\nb,a,,\n"
    assert "line 6: the relation is empty" in refusal(file_of(tmp_path, "graph.csv", content))


def test_a_file_of_bad_lines_only_has_no_triples_even_when_skipping(tmp_path: Path) -> None:
    message = refusal(file_of(tmp_path, "graph.tsv", "x\ny\n"), skip_errors=True)
    assert "no triples found: 2 malformed lines were left out, the first: " in message


def test_a_single_line_of_ten_megabytes_is_refused(tmp_path: Path) -> None:
    for name in ("graph.tsv", "graph.csv", "graph.txt", "graph.nt", "graph.ttl"):
        size = 10_000_000 if name.endswith(("sv", "txt")) else 500_000
        message = refusal(file_of(tmp_path, name, "x" * size))
        assert message.startswith(f"{tmp_path / name}: line 1: ")


def test_a_line_without_end_is_refused_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.graph.files.lines.LONGEST_LINE", 1000)
    assert "line 2: longer than 1,000 bytes" in refusal(file_of(tmp_path, "graph.tsv", GOOD + "x" * 5000))


QUOTED = [
    ('a,r,"never closed\nb,r,c\n', "line 2: a quotation is opened but never closed"),
    ('"a,r,b\nb,r,c\n', "line 2: a quotation is opened but never closed"),
    ('"a\nb",r\nb,r,c\n', "line 2: expected 3 columns separated by commas, found 2"),
    ('a,"",b\n', "line 2: the relation is empty"),
    (f'a,r,"{"x" * 200_000}"\n', "line 2: field larger than field limit"),
]


@pytest.mark.parametrize(("bad", "problem"), QUOTED, ids=range(len(QUOTED)))
@pytest.mark.parametrize("line_end", ["\n", ""])
def test_a_bad_quotation_is_named_by_its_first_line(tmp_path: Path, bad: str, problem: str, line_end: str) -> None:
    assert problem in refusal(file_of(tmp_path, "graph.csv", "x,r,y\n" + bad.removesuffix("\n") + line_end))


def test_bad_records_of_a_csv_are_left_out(tmp_path: Path) -> None:
    content = 'x,r,y\n"a\nb",r\n"c\nd",r,e\nf,,g\nh,r,i\n'
    result = read(tmp_path, "graph.csv", content, skip_errors=True)
    assert keyed_triples(result.graph) == [("x", "r", "y"), ("c\nd", "r", "e"), ("h", "r", "i")]
    assert result.report.skipped == 2


def test_a_last_name_over_two_lines_is_fine(tmp_path: Path) -> None:
    assert keyed_triples(read(tmp_path, "graph.csv", 'a,r,"b\nc"\n').graph) == [("a", "r", "b\nc")]


def test_columns_that_are_not_read_may_hold_anything(tmp_path: Path) -> None:
    content = b"head\trelation\ttail\tnote\na\tr\tb\t\xff\xfe\nc\tr\td\t\n"
    assert len(keyed_triples(read(tmp_path, "graph.tsv", content).graph)) == 2
    result = read(tmp_path, "graph.tsv", content + b"bad\n", skip_errors=True)
    assert (result.report.triples, result.report.skipped) == (2, 1)


def test_too_many_triples_for_the_ids_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.graph.files.numbering.MOST_ROWS", 3)
    path = file_of(tmp_path, "graph.tsv", GOOD * 4)
    assert refusal(path) == f"{path}: more than 3 triples in one file"


def test_several_files_without_triples_are_named_together(tmp_path: Path) -> None:
    files = [file_of(tmp_path, name, "head,relation,tail\n") for name in ("one.csv", "two.csv")]
    assert refusal(*files) == f"no triples found in {files[0]}, {files[1]}"


def test_other_complaints_of_the_system_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(sources._Counted, "readinto", fail)
    assert "could not be read: Input/output error" in refusal(file_of(tmp_path, "graph.tsv", GOOD))


INTERRUPTED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
from unseen.graph.files import tables
from unseen.graph.files.readers import read_graph
tables.BLOCK_BYTES = 1 << 12
def slow(done, total):
    print(done, flush=True)
    time.sleep(0.2)
from unseen.graph.files import sources
sources.PROGRESS_STEP = 1
read_graph(sys.argv[1], progress=slow)
"""


def test_reading_stops_soon_after_an_interrupt(tmp_path: Path) -> None:
    path = file_of(tmp_path, "graph.tsv", "some_head\tsome_relation\tsome_tail\n" * 50_000)
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert time.monotonic() - started < 20
    assert process.returncode != 0
    assert complaint.rstrip().endswith("KeyboardInterrupt")
