"""Tables become graphs: separators, headers, Parquet, several files, reports."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import acero

from tests.graph.files import by_first_appearance, file_of, keyed_triples, read, triples_in
from unseen.errors import GraphError
from unseen.graph.files import numbering, tables
from unseen.graph.files.readers import read_graph

if TYPE_CHECKING:
    from pathlib import Path

TWO = [("Paris", "capital_of", "France"), ("France", "borders", "Spain")]


@pytest.mark.parametrize("suffix", [".tsv", ".txt", ".csv", ".tsv.gz", ".txt.gz", ".csv.gz", ".TSV"])
@pytest.mark.parametrize("separator", ["\t", ",", ";", " "])
def test_every_separator_is_detected_in_every_text_table(tmp_path: Path, suffix: str, separator: str) -> None:
    content = "".join(separator.join(triple) + "\n" for triple in TWO)
    assert triples_in(tmp_path, f"graph{suffix}", content) == TWO


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n\n", "\n  \n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_blank_lines_and_byte_order_marks_do_not_matter(
    tmp_path: Path, line_end: str, ending: str, mark: bytes
) -> None:
    content = "\n\nParis\tcapital_of\tFrance\n\n  \nFrance\tborders\tSpain" + ending
    assert triples_in(tmp_path, "graph.tsv", mark + content.replace("\n", line_end).encode()) == TWO


@pytest.mark.parametrize(
    "header",
    [
        "head\trelation\ttail",
        "Subject\tPredicate\tObject",
        "source\tedge\ttarget",
        "from\tREL\tto",
        "h\tr\tt",
        "s\tp\to",
    ],
)
def test_a_header_of_well_known_words_is_left_out(tmp_path: Path, header: str) -> None:
    assert triples_in(tmp_path, "graph.tsv", f"{header}\na\tr\tb\n") == [("a", "r", "b")]


def test_columns_under_a_header_stand_in_any_order_among_others(tmp_path: Path) -> None:
    content = "weight,object,subject,note,property\n1,b,a,x,r\n2,c,b,,q\n"
    assert triples_in(tmp_path, "graph.csv", content) == [("a", "r", "b"), ("b", "q", "c")]


def test_a_header_after_a_mark_and_blank_lines_is_found(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf\r\n\r\ntail\tx\thead\trelation\r\nb\t1\ta\tr\r\n"
    assert triples_in(tmp_path, "graph.tsv", content) == [("a", "r", "b")]


@pytest.mark.parametrize("first", ["head\tof\tstate", "source\tsource\ttarget", "head\thead\ttail", "from\tto\tparis"])
def test_a_first_line_that_only_resembles_a_header_is_a_triple(tmp_path: Path, first: str) -> None:
    assert triples_in(tmp_path, "graph.tsv", f"{first}\na\tr\tb\n") == [tuple(first.split("\t")), ("a", "r", "b")]


def test_a_tsv_has_no_quotations(tmp_path: Path) -> None:
    content = 'the "Queen\tis\t"x""\n"a, b"\tr\t\'c\n'
    assert triples_in(tmp_path, "graph.tsv", content) == [('the "Queen', "is", '"x""'), ('"a, b"', "r", "'c")]


def test_a_csv_has_quotations_also_over_line_ends(tmp_path: Path) -> None:
    content = '"Paris, Texas","is ""in""",USA\r\n"two\r\nlines",r,"a;b"\r\n'
    assert triples_in(tmp_path, "graph.csv", content) == [
        ("Paris, Texas", 'is "in"', "USA"),
        ("two\r\nlines", "r", "a;b"),
    ]


def test_commas_inside_names_do_not_mislead_a_tsv_or_a_semicolon_table(tmp_path: Path) -> None:
    assert triples_in(tmp_path, "a.tsv", "a,b,c\tr,r,r\td,e,f\n") == [("a,b,c", "r,r,r", "d,e,f")]
    assert triples_in(tmp_path, "a.csv", "1,5;r;x\n3,5;r;y\n") == [("1,5", "r", "x"), ("3,5", "r", "y")]


def test_any_run_of_white_space_separates_names(tmp_path: Path) -> None:
    content = "  a   r\tb \n\tc r  d\ne r f\n"
    assert triples_in(tmp_path, "graph.txt", content) == [("a", "r", "b"), ("c", "r", "d"), ("e", "r", "f")]


def test_white_space_beyond_ascii_belongs_to_names(tmp_path: Path) -> None:
    assert triples_in(tmp_path, "graph.txt", "New\u00a0York in the\u2003US\n") == [
        ("New\u00a0York", "in", "the\u2003US")
    ]


def test_names_that_look_like_missing_values_or_numbers_stay_names(tmp_path: Path) -> None:
    content = "NA\tnull\tNaN\n007\t1e5\ttrue\n2020-01-01\tNone\t#N/A\n"
    assert triples_in(tmp_path, "graph.tsv", content) == [tuple(line.split("\t")) for line in content.splitlines()]


def test_spaces_around_names_are_part_of_them(tmp_path: Path) -> None:
    assert triples_in(tmp_path, "graph.tsv", " a\tr \t b \n") == [(" a", "r ", " b ")]


def test_ids_follow_first_appearance_head_before_tail(tmp_path: Path) -> None:
    triples = [("d", "s", "c"), ("c", "r", "a"), ("b", "s", "d"), ("a", "q", "e")]
    vocabulary = read(tmp_path, "graph.tsv", "".join("\t".join(t) + "\n" for t in triples)).graph.vocabulary
    assert vocabulary.entities.keys.to_pylist() == ["d", "c", "a", "b", "e"]
    assert vocabulary.relations.keys.to_pylist() == ["s", "r", "q"]


@pytest.mark.parametrize("few_rows", [0, 1000, 50_000])
def test_ids_follow_first_appearance_over_many_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_rows: int
) -> None:
    monkeypatch.setattr(numbering, "FEW_ROWS", few_rows)
    monkeypatch.setattr(tables, "BLOCK_BYTES", 200)
    triples = [(f"e{i * 7 % 97}", f"r{i * 5 % 11}", f"e{i * 31 % 101}") for i in range(2000)]
    graph = read(tmp_path, "graph.tsv", "".join("\t".join(t) + "\n" for t in triples)).graph
    entities, relations = by_first_appearance(triples)
    assert graph.vocabulary.entities.keys.to_pylist() == entities
    assert graph.vocabulary.relations.keys.to_pylist() == relations
    assert keyed_triples(graph) == list(dict.fromkeys(triples))


def test_older_versions_of_arrow_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "FEW_ROWS", 0)
    monkeypatch.delattr(acero, "RecordBatchReaderSourceNodeOptions", raising=False)
    monkeypatch.setattr(tables, "BLOCK_BYTES", 200)
    triples = [(f"e{i * 7 % 97}", f"r{i % 3}", f"e{i * 31 % 101}") for i in range(500)]
    graph = read(tmp_path, "graph.tsv", "".join("\t".join(t) + "\n" for t in triples)).graph
    assert keyed_triples(graph) == list(dict.fromkeys(triples))
    assert graph.vocabulary.entities.keys.to_pylist() == by_first_appearance(triples)[0]


def test_many_threads_may_read_at_once(tmp_path: Path) -> None:
    path = file_of(tmp_path, "graph.tsv", "".join(f"e{i % 997}\tr{i % 7}\te{i % 1009}\n" for i in range(200_000)))
    with ThreadPoolExecutor(12) as pool:
        counts = {result.graph.num_triples for result in pool.map(read_graph, [path] * 24)}
    assert len(counts) == 1


def test_one_thread_for_files_is_enough(tmp_path: Path) -> None:
    path = file_of(tmp_path, "graph.tsv", "a\tr\tb\n" * 100_000)
    code = f"from unseen.graph.files.readers import read_graph; print(read_graph({str(path)!r}).report.triples)"
    environment = os.environ | {"ARROW_IO_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert finished.stdout == "100000\n"


def test_iris_in_a_table_get_short_names(tmp_path: Path) -> None:
    content = "http://www.wikidata.org/entity/Q90\thttp://example.org/geo/in\thttp://www.wikidata.org/entity/Q142\n"
    graph = read(tmp_path, "graph.tsv", content).graph
    assert list(graph.triples()) == [("wd:Q90", "geo:in", "wd:Q142")]
    assert graph.vocabulary.entity_id("http://www.wikidata.org/entity/Q142") == 1


def test_several_files_make_one_graph_in_the_order_given(tmp_path: Path) -> None:
    first = file_of(tmp_path, "one.tsv", "a\tr\tb\nb\tr\tc\na\tr\tb\n")
    second = file_of(tmp_path, "two.csv.gz", "head,relation,tail\nc,s,d\na,r,b\n")
    result = read_graph(first, str(second))
    assert keyed_triples(result.graph) == [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "d")]
    assert result.graph.vocabulary.entities.keys.to_pylist() == ["a", "b", "c", "d"]
    assert [(file.triples, file.duplicates) for file in result.report.files] == [(3, 1), (2, 1)]
    assert (result.report.triples, result.report.duplicates) == (5, 2)
    assert [file.path for file in result.report.files] == [first, second]


def test_several_files_without_repeats_report_no_duplicates(tmp_path: Path) -> None:
    files = [file_of(tmp_path, f"{name}.tsv", f"{name}\tr\tb\n") for name in "xyz"]
    assert [file.duplicates for file in read_graph(*files).report.files] == [0, 0, 0]


def test_the_same_file_twice_adds_nothing(tmp_path: Path) -> None:
    path = file_of(tmp_path, "one.tsv", "a\tr\tb\nb\tr\tc\n")
    report = read_graph(path, path).report
    assert [file.duplicates for file in report.files] == [0, 2]


def test_progress_ends_at_the_number_of_bytes_and_never_goes_back(tmp_path: Path) -> None:
    line = "some_quite_long_name\tand_a_relation\tanother_name\n"
    files = [
        file_of(tmp_path, "one.tsv", line * 100_000),
        file_of(tmp_path, "two.tsv.gz", line),
    ]
    seen: list[tuple[int, int]] = []
    read_graph(*files, progress=lambda done, total: seen.append((done, total)))
    size = sum(path.stat().st_size for path in files)
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {size}
    assert seen[-1][0] == size


def test_progress_never_goes_back_when_a_file_is_read_again_line_by_line(tmp_path: Path) -> None:
    path = file_of(tmp_path, "one.tsv", "some_quite_long_name\tand_a_relation\tanother_name\n" * 100_000 + "bad\n")
    seen: list[int] = []
    read_graph(path, skip_errors=True, progress=lambda done, _: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == path.stat().st_size


def parquet_file(folder: Path, columns: dict[str, pa.Array], name: str = "graph.parquet") -> Path:
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_parquet_columns_of_any_kind_of_text_are_read(tmp_path: Path, kind: pa.DataType) -> None:
    heads, tails = (pa.array(names).cast(kind) for names in (["a", "b", "a"], ["b", "c", "b"]))
    path = parquet_file(tmp_path, {"head": heads, "relation": pa.array(["r", "s", "r"]), "tail": tails})
    assert keyed_triples(read_graph(path).graph) == [("a", "r", "b"), ("b", "s", "c")]


def test_parquet_columns_are_found_by_name_or_taken_in_order(tmp_path: Path) -> None:
    named = {"weight": pa.array([1.5]), "Object": pa.array(["b"]), "subject": pa.array(["a"]), "p": pa.array(["r"])}
    assert keyed_triples(read_graph(parquet_file(tmp_path, named)).graph) == [("a", "r", "b")]
    unnamed = {"x": pa.array(["a"]), "y": pa.array(["r"]), "z": pa.array(["b"])}
    assert keyed_triples(read_graph(parquet_file(tmp_path, unnamed)).graph) == [("a", "r", "b")]


def test_parquet_inside_gzip_is_read(tmp_path: Path) -> None:
    path = parquet_file(tmp_path, {name: pa.array([name]) for name in ("head", "relation", "tail")})
    assert triples_in(tmp_path, "graph.parquet.gz", path.read_bytes()) == [("head", "relation", "tail")]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (
            {"head": pa.array(["a"]), "relation": pa.array([1]), "tail": pa.array(["b"])},
            "'relation' holds int64, not text",
        ),
        ({"a": pa.array([b"a"]), "b": pa.array(["r"]), "c": pa.array(["b"])}, "'a' holds binary, not text"),
        ({"head": pa.array(["a", None]), "relation": pa.array(["r", "r"]), "tail": pa.array(["b", "b"])}, "null"),
        ({"head": pa.array(["a"]), "tail": pa.array(["b"])}, "needs columns named head, relation and tail"),
        ({"a": pa.array(["a"]), "b": pa.array(["a"]), "c": pa.array(["a"]), "d": pa.array(["a"])}, "it has a, b, c, d"),
        ({"a": pa.array([""]), "b": pa.array(["r"]), "c": pa.array(["b"])}, "empty"),
        ({"a": pa.array(["a\0"]), "b": pa.array(["r"]), "c": pa.array(["b"])}, "NUL"),
        ({"a": pa.array(["a" * 70_000]), "b": pa.array(["r"]), "c": pa.array(["b"])}, "65,536"),
    ],
)
def test_parquet_that_holds_no_triples_of_text_is_refused(
    tmp_path: Path, columns: dict[str, pa.Array], problem: str
) -> None:
    path = parquet_file(tmp_path, columns)
    with pytest.raises(GraphError, match=problem) as caught:
        read_graph(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_parquet_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    broken = pa.StringArray.from_buffers(1, pa.array([b"\xff"]).buffers()[1], pa.array([b"\xff"]).buffers()[2])
    path = parquet_file(tmp_path, {"head": broken, "relation": pa.array(["r"]), "tail": pa.array(["b"])})
    with pytest.raises(GraphError, match="not UTF-8"):
        read_graph(path)


def test_reading_imports_neither_torch_nor_rdf(tmp_path: Path) -> None:
    path = file_of(tmp_path, "graph.tsv", "a\tr\tb\n")
    reading = f"from unseen.graph.files.readers import read_graph; read_graph({str(path)!r})"
    code = f"import sys; {reading}; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "pyoxigraph", "rdflib", "numba"} & set(modules)


def test_no_file_at_all_is_an_error() -> None:
    with pytest.raises(GraphError, match="no file"):
        read_graph()
