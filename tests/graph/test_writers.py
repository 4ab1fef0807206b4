"""Graphs become files that give the same graph again, whole or not at all."""

from __future__ import annotations

import gzip
import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.graph.files import file_of, keyed_triples
from unseen.errors import GraphError
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.graph.arrow_arrays import text_array
from unseen.graph.files import writers
from unseen.graph.files.readers import read_graph
from unseen.graph.files.writers import check_target, write_graph
from unseen.graph.names import Names

if TYPE_CHECKING:
    from pathlib import Path

SUFFIXES = [".tsv", ".txt", ".csv", ".nt", ".parquet", ".tsv.gz", ".csv.gz", ".nt.gz", ".parquet.gz"]
TRIPLES = [("New York", "in", "the US"), ("the US", "borders", "Canada"), ("Zürich", "in", "Schweiz")]
E = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.fixture
def graph() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(TRIPLES)


def keyed_graph(triples: list[tuple[str, str, str]]) -> KnowledgeGraph:
    """The graph of exactly these keys; nothing is taken for a short form of something else."""
    entities = list(dict.fromkeys(name for head, _, tail in triples for name in (head, tail)))
    relations = list(dict.fromkeys(relation for _, relation, _ in triples))
    heads, tails = ([entities.index(triple[column]) for triple in triples] for column in (0, 2))
    relation_ids = [relations.index(triple[1]) for triple in triples]
    return KnowledgeGraph(heads, relation_ids, tails, Vocabulary.of(entities, relations))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read_again(tmp_path: Path, graph: KnowledgeGraph, suffix: str) -> None:
    path = tmp_path / f"graph{suffix}"
    write_graph(graph, path)
    again = read_graph(path).graph
    assert keyed_triples(again) == TRIPLES
    assert again.vocabulary.entities.keys == graph.vocabulary.entities.keys
    assert again.vocabulary.relations.keys == graph.vocabulary.relations.keys
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_may_be_a_text(tmp_path: Path, graph: KnowledgeGraph) -> None:
    write_graph(graph, str(tmp_path / "graph.tsv"))
    assert (tmp_path / "graph.tsv").read_text() == "".join("\t".join(triple) + "\n" for triple in TRIPLES)


def test_many_rows_are_written_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "ROWS_AT_ONCE", 7)
    triples = [(f"e{i * 7 % 97}", f"r{i % 5}", f"e{i}") for i in range(100)]
    for suffix in SUFFIXES:
        write_graph(keyed_graph(triples), tmp_path / f"graph{suffix}")
        assert keyed_triples(read_graph(tmp_path / f"graph{suffix}").graph) == triples


NAME = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
ODD_NAMES = [
    "head",
    "tail",
    "relation",
    "h",
    "r",
    "t",
    "\ufeff",
    " ",
    '"',
    '""',
    "a,b",
    ";",
    "#",
    "<a>",
    "NA",
    "PAR1",
    "BZh",
    "%20",
    "_:b0",
    "_:é",
    "_:",
    "_:a b",
    "_:a.",
    "http://e/a",
    "http://e/a b",
    "http://e/<",
    "urn:unseen:a",
    "urn:unseen:",
    "mailto:a@b",
    "urn:unseen:a%20b",
    '"5"',
    '"x"@en',
    '"x"@EN',
    f'"5"^^<{XSD}integer>',
    f'"5"^^<{XSD}string>',
    '"a\\nb"',
    '"\\u0041"',
    '"a',
    '"\\"',
]
ODD_NAME = NAME | st.sampled_from(ODD_NAMES)
ODD_TRIPLES = st.lists(st.tuples(ODD_NAME, ODD_NAME, ODD_NAME), min_size=1, max_size=12, unique=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


@pytest.mark.parametrize("suffix", [".csv", ".nt", ".parquet", ".csv.gz"])
@given(triples=ODD_TRIPLES)
@example(triples=[(f'"5"^^<{XSD}integer>', "r", "a"), ("a", "_:b", f'"5"^^<{XSD}integer>')])
@example(triples=[("\ufeffhead", "relation", "tail\r")])
def test_any_names_survive(folder: Path, suffix: str, triples: list[tuple[str, str, str]]) -> None:
    path = folder / f"any{suffix}"
    write_graph(keyed_graph(triples), path)
    assert keyed_triples(read_graph(path, literals=True).graph) == triples


@pytest.mark.parametrize("suffix", [".tsv", ".txt", ".tsv.gz"])
@given(triples=ODD_TRIPLES)
@example(triples=[("head", "relation", "tail"), ("a", "r", "b")])
@example(triples=[("o", "p", "s")])
@example(triples=[("\ufeff", "a", "b")])
@example(triples=[("head,relation,tail,", "r", "x")])
def test_any_names_without_tabs_and_line_ends_survive_in_a_tsv(
    folder: Path, suffix: str, triples: list[tuple[str, str, str]]
) -> None:
    path = folder / f"any{suffix}"
    if any(sign in name for triple in triples for name in triple for sign in "\t\r\n"):
        with pytest.raises(GraphError, match="holds a tab or a line break"):
            write_graph(keyed_graph(triples), path)
    else:
        write_graph(keyed_graph(triples), path)
        assert keyed_triples(read_graph(path).graph) == triples


def test_n_triples_holds_iris_blank_nodes_and_literals(tmp_path: Path) -> None:
    triples = [
        (E + "a", E + "p", "New York"),
        ("_:b0", "in", f'"5"^^<{XSD}integer>'),
        ('"literal head"', "_:not a relation", '"literal head"'),
        (E + "with space here", "r", '"Wort"@de'),
    ]
    write_graph(keyed_graph(triples), tmp_path / "graph.nt")
    assert (tmp_path / "graph.nt").read_text().splitlines() == [
        f"<{E}a> <{E}p> <urn:unseen:New%20York> .",
        f'_:b0 <urn:unseen:in> "5"^^<{XSD}integer> .',
        "<urn:unseen:%22literal%20head%22> <urn:unseen:_%3Anot%20a%20relation> <urn:unseen:%22literal%20head%22> .",
        '<urn:unseen:http%3A%2F%2Fexample.org%2Fwith%20space%20here> <urn:unseen:r> "Wort"@de .',
    ]


def test_n_triples_is_valid_for_a_strict_parser(tmp_path: Path) -> None:
    pyoxigraph = pytest.importorskip("pyoxigraph")
    triples = [(name, "r", other) for name, other in zip(ODD_NAMES, reversed(ODD_NAMES), strict=True)]
    write_graph(keyed_graph(triples), tmp_path / "graph.nt")
    assert len(list(pyoxigraph.parse(path=tmp_path / "graph.nt"))) == len(triples)


def labelled() -> KnowledgeGraph:
    """Four entities: a label, a label that is another's short name, that other, and one without."""
    keys = [E + "a", E + "b", "Ann", E + "c"]
    entities = Names("entity", text_array(keys), text_array(["Anna", "Ann", None, None]))
    relations = Names("relation", text_array([E + "p"]), text_array(['is "before"\n']))
    return KnowledgeGraph([0, 1, 2], [0, 0, 0], [1, 2, 3], Vocabulary(entities, relations))


def test_readable_names_are_written_when_asked_unless_they_are_shared(tmp_path: Path) -> None:
    write_graph(labelled(), tmp_path / "graph.csv", names="readable")
    relation = '"is ""before""\n"'
    expected = [f"Anna,{relation},{E}b", f"{E}b,{relation},Ann", f"Ann,{relation},{E}c"]
    assert (tmp_path / "graph.csv").read_text() == "head,relation,tail\n" + "".join(line + "\n" for line in expected)


def test_readable_names_go_into_n_triples_as_labels(tmp_path: Path) -> None:
    write_graph(labelled(), tmp_path / "graph.nt", names="readable")
    again = read_graph(tmp_path / "graph.nt").graph
    assert keyed_triples(again) == keyed_triples(labelled())
    assert again.vocabulary.entity_name(0) == "Anna"
    assert again.vocabulary.relation_name(0)[0] == 'is "before"'


def test_short_names_are_readable_names(tmp_path: Path) -> None:
    source = file_of(tmp_path, "in.ttl", f"@prefix ex: <{E}> .\nex:a ex:p ex:b .\n")
    write_graph(read_graph(source).graph, tmp_path / "out.tsv", names="readable")
    assert (tmp_path / "out.tsv").read_text() == "ex:a\tex:p\tex:b\n"


def test_parquet_has_three_columns_of_strings(tmp_path: Path, graph: KnowledgeGraph) -> None:
    write_graph(graph, tmp_path / "graph.parquet")
    table = pq.read_table(tmp_path / "graph.parquet")
    assert table.column_names == ["head", "relation", "tail"]
    assert table.to_pylist()[0] == dict(zip(("head", "relation", "tail"), TRIPLES[0], strict=True))


def test_equal_graphs_give_equal_compressed_files(tmp_path: Path, graph: KnowledgeGraph) -> None:
    for name in ("one.tsv.gz", "two.tsv.gz"):
        write_graph(graph, tmp_path / name)
    assert (tmp_path / "one.tsv.gz").read_bytes() == (tmp_path / "two.tsv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.tsv.gz").read_bytes()).startswith(b"New York\tin")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_graph_without_edges_can_be_written(tmp_path: Path, suffix: str) -> None:
    write_graph(KnowledgeGraph.from_triples([]), tmp_path / f"graph{suffix}")
    with pytest.raises(GraphError, match=r"empty|no triples"):
        read_graph(tmp_path / f"graph{suffix}")


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb"])
def test_a_name_that_a_tsv_cannot_hold_is_refused_and_nothing_is_left(tmp_path: Path, name: str) -> None:
    path = file_of(tmp_path, "graph.tsv", "precious")
    with pytest.raises(GraphError, match="write Parquet, CSV or N-Triples instead"):
        write_graph(keyed_graph([("a", "r", name)]), path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_whatever_happens_while_writing_nothing_partial_is_left(
    tmp_path: Path, graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, problem: BaseException, suffix: str
) -> None:
    def fail(*_: object) -> None:
        raise problem

    path = tmp_path / f"graph{suffix}"
    path.write_text("precious")
    monkeypatch.setattr(writers, "_named_rows", fail)
    expected = GraphError if isinstance(problem, OSError) else type(problem)
    with pytest.raises(expected):
        write_graph(graph, path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


INTERRUPTED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
from unseen.graph import KnowledgeGraph
from unseen.graph.files import writers
plain = writers._named_rows
def slow(*arguments):
    for columns in plain(*arguments):
        yield columns
        print("writing", flush=True)
        time.sleep(60)
writers._named_rows = slow
writers.write_graph(KnowledgeGraph.from_triples([("a", "r", "b")]), sys.argv[1])
"""


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "graph.tsv.gz")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    assert list(tmp_path.iterdir()) != []
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert list(tmp_path.iterdir()) == []


def refused(path: Path | str, graph: KnowledgeGraph) -> str:
    """The one line in which both a check and an attempt end."""
    with pytest.raises(GraphError) as checked:
        check_target(path)
    with pytest.raises(GraphError) as attempted:
        write_graph(graph, path)
    assert str(checked.value) == str(attempted.value)
    assert "\n" not in str(attempted.value)
    return str(attempted.value)


def test_a_missing_folder_is_named(tmp_path: Path, graph: KnowledgeGraph) -> None:
    message = refused(tmp_path / "nowhere" / "graph.tsv", graph)
    assert f"there is no folder '{tmp_path / 'nowhere'}'" in message


def test_a_directory_is_not_overwritten(tmp_path: Path, graph: KnowledgeGraph) -> None:
    (tmp_path / "graph.tsv").mkdir()
    assert "is a directory" in refused(tmp_path / "graph.tsv", graph)


@pytest.mark.parametrize("name", ["graph.ttl", "graph.rdf", "graph", "graph.xyz", "graph.gz"])
def test_formats_that_cannot_be_written_are_refused_with_those_that_can(
    tmp_path: Path, graph: KnowledgeGraph, name: str
) -> None:
    message = refused(tmp_path / name, graph)
    assert ".tsv .txt .csv .parquet .pq .nt .ntriples" in message
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_permission_is_refused(
    tmp_path: Path, graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "permission denied" in refused(tmp_path / "graph.tsv", graph)


def test_unknown_spellings_are_refused(tmp_path: Path, graph: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="'keys' or 'readable'"):
        write_graph(graph, tmp_path / "graph.tsv", names="pretty")  # type: ignore[arg-type]


def test_a_good_target_passes_the_check_and_nothing_is_made(tmp_path: Path) -> None:
    check_target(tmp_path / "graph.tsv.gz")
    assert list(tmp_path.iterdir()) == []


def test_the_permissions_of_a_file_that_is_replaced_stay(tmp_path: Path, graph: KnowledgeGraph) -> None:
    path = file_of(tmp_path, "graph.tsv", "old")
    path.chmod(0o600)
    write_graph(graph, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_followed_not_replaced(tmp_path: Path, graph: KnowledgeGraph) -> None:
    (tmp_path / "link.tsv").symlink_to(tmp_path / "real.tsv")
    write_graph(graph, tmp_path / "link.tsv")
    assert (tmp_path / "link.tsv").is_symlink()
    assert keyed_triples(read_graph(tmp_path / "real.tsv").graph) == TRIPLES


def test_a_graph_over_a_slice_of_names_is_written_right(tmp_path: Path) -> None:
    names = pa.array(["x", "a", "b"], pa.large_string()).slice(1)
    vocabulary = Vocabulary(Names("entity", names), Names("relation", text_array(["r"])))
    write_graph(KnowledgeGraph([0], [0], [1], vocabulary), tmp_path / "graph.tsv")
    assert (tmp_path / "graph.tsv").read_text() == "a\tr\tb\n"
