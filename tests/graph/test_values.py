"""Values of entities: from files and Python, through growth, back into files."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

import unseen
from unseen import KnowledgeGraph
from unseen.errors import GraphError
from unseen.graph.attributes.plain_values import named_rows
from unseen.graph.attributes.value_kinds import Kind, Tag, kind_of
from unseen.graph.deltas import Delta, changed
from unseen.graph.files.readers import read_graph
from unseen.graph.files.writers import write_graph
from unseen.graph.statistics import statistics

if TYPE_CHECKING:
    from pathlib import Path

XSD = "http://www.w3.org/2001/XMLSchema#"
TURTLE = """@prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a :near :b ; :size 5, 6.5 ; :name "x\\"y"@en ; :born "1900-01-01"^^xsd:date .
:c :size 7 . _:z :size 3 . :b :open true ; :year "1999"^^xsd:gYear .
"""


def values_of(graph: KnowledgeGraph) -> list[tuple[str, str, str]]:
    columns = graph.attributes
    rows = zip(columns.entities.tolist(), columns.attributes.tolist(), columns.values.tolist(), strict=True)
    key, name, text = graph.vocabulary.entities.key, columns.names.name, columns.literals.text
    return sorted((key(entity), name(attribute), text(value)) for entity, attribute, value in rows)


def test_literals_of_rdf_are_values(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    graph = unseen.load(tmp_path / "a.ttl")
    assert (graph.num_triples, graph.num_entities, len(graph.attributes)) == (1, 4, 8)
    assert graph.candidates.tolist() == [0, 1, 2, 3]
    assert ("http://example.org/a", "example:size", "6.5") in values_of(graph)


def test_n_triples_hold_values(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    graph = unseen.load(tmp_path / "a.ttl")
    write_graph(graph, tmp_path / "b.nt")
    again = unseen.load(tmp_path / "b.nt")
    assert [row[1:] for row in values_of(again)] == [row[1:] for row in values_of(graph)]
    written = [sorted(one.attributes.literals.n_triples().to_pylist()) for one in (graph, again)]
    assert written[0] == written[1]


def test_tables_of_values_are_read_by_their_form(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("a\tr\tb\n")
    rows = [
        ("a", "n", "5"),
        ("a", "n", "5"),
        ("b", "n", "-2.5e3"),
        ("a", "d", "2001-02-03"),
        ("c", "t", "true"),
        ("b", "t", "x"),
    ]
    (tmp_path / "v.csv").write_text("entity,attribute,value\n" + "".join(",".join(row) + "\n" for row in rows))
    graph = unseen.load(tmp_path / "g.tsv", values=tmp_path / "v.csv")
    literals = graph.attributes.literals
    kinds = {literals.text(place): Kind(int(literals.kinds[place])) for place in range(len(literals))}
    assert kinds == {
        "5": Kind.NUMBER,
        "-2.5e3": Kind.NUMBER,
        "2001-02-03": Kind.DATE,
        "true": Kind.BOOLEAN,
        "x": Kind.STRING,
    }
    assert len(graph.attributes) == 5
    assert graph.vocabulary.entity_id("c") == 2


def test_parquet_may_hold_numbers(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("a\tr\tb\n")
    table = pa.table({"entity": ["a", "b"], "attribute": ["n", "n"], "value": [1.5, 2.0]})
    parquet.write_table(table, tmp_path / "v.parquet")
    graph = unseen.load(tmp_path / "g.tsv", values=[tmp_path / "v.parquet"])
    assert graph.attributes.literals.numbers.tolist() == [1.5, 2.0]


def test_values_of_strangers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("a\tr\tb\n")
    (tmp_path / "v.tsv").write_text("Q1\tn\t5\n")
    with pytest.raises(GraphError, match="none of its 1 entities is in the graph"):
        unseen.load(tmp_path / "g.tsv", values=[tmp_path / "v.tsv"])


def test_a_graph_grows_with_its_values() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b")]).extended_with(
        values=[("a", "n", 1), ("b", "when", date(2001, 2, 3))]
    )
    grown = graph.extended_with([("c", "r", "a")], values=[("c", "n", 2.5), ("c", "n", "two")])
    assert values_of(graph.extended_with([("c", "r", "a")])) == values_of(graph)
    assert values_of(grown) == [("a", "n", "1"), ("b", "when", "2001-02-03"), ("c", "n", "2.5"), ("c", "n", "two")]
    delta = Delta(values_added=named_rows([("d", "n", 9)]), values_removed=named_rows([("a", "n", 1), ("a", "n", 7)]))
    after = changed(grown, delta)
    assert values_of(after) == [("b", "when", "2001-02-03"), ("c", "n", "2.5"), ("c", "n", "two"), ("d", "n", "9")]
    assert after.restricted_to(after.heads == 0).attributes is after.attributes


@pytest.mark.parametrize(
    ("text", "datatype", "kind", "number"),
    [
        ("1970-01-02", "date", Kind.DATE, 86_400),
        ("1970-01-01T00:00:00+01:00", "dateTime", Kind.DATETIME, -3600),
        ("1971", "gYear", Kind.YEAR, 365 * 86_400),
        ("1970-02", "gYearMonth", Kind.MONTH, 31 * 86_400),
        ("00:01:00", "time", Kind.TIME, 60),
        ("INF", "double", Kind.NUMBER, float("inf")),
        ("+07", "integer", Kind.NUMBER, 7),
        ("1", "boolean", Kind.BOOLEAN, 1),
        ("seven", "integer", Kind.OTHER, None),
        ("1970-13-01", "date", Kind.OTHER, None),
        ("P1D", "duration", Kind.OTHER, None),
    ],
)
def test_literals_have_kinds_and_numbers(text: str, datatype: str, kind: Kind, number: float | None) -> None:
    found = kind_of(text, Tag(XSD + datatype))
    assert found[0] == kind
    assert number is None or found[1] == number


def test_attributes_are_counted() -> None:
    values = [("a", "n", 5), ("a", "n", 7.5), ("b", "n", -1), ("b", "t", "hello")]
    graph = KnowledgeGraph.from_triples([("a", "r", "b")]).extended_with(values=values)
    numbers = statistics(graph)
    assert numbers.values == 4
    first = numbers.attributes[0]
    assert (first.attribute, first.values, first.entities, first.kind) == ("n", 3, 2, "number")
    assert (first.smallest, first.largest) == ("-1", "7.5")


def test_two_files_of_literals_share_equal_values(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.nt").write_text(
            f'<urn:{name}> <urn:r> <urn:a> .\n<urn:{name}> <urn:p> "5"^^<{XSD}integer> .\n'
        )
    graph = read_graph(tmp_path / "a.nt", tmp_path / "b.nt").graph
    assert (len(graph.attributes), len(graph.attributes.literals)) == (2, 1)
