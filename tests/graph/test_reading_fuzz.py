"""Any bytes make a graph or one error; the quick and the careful way of reading agree."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.graph.files import by_first_appearance, file_of, keyed_triples
from unseen.errors import GraphError
from unseen.graph.files import n_triples, tables
from unseen.graph.files.assembly import assembled
from unseen.graph.files.dialect import detected
from unseen.graph.files.formats import SUFFIXES
from unseen.graph.files.lines import read_lines
from unseen.graph.files.readers import read_graph
from unseen.graph.files.sources import sources_of
from unseen.graph.prefixes import iri_of, key_of
from unseen.graph.sorted_edges import first_occurrences

if TYPE_CHECKING:
    from pathlib import Path

PIECES = [
    *'ab \t,;"\n\r\0\v\\é\u00a0\ufeff',
    "\r\n",
    '""',
    "head",
    "relation",
    "tail",
    "a\tr\tb\n",
    "a,r,b\n",
    "a r b\n",
]
TABLE_TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
RDF_PIECES = [
    *'<>_:."@^ \n#[](){};,\\',
    "<http://e/a>",
    "<http://e/p>",
    "_:b",
    '"x"',
    "@en",
    "<<(",
    ")>>",
    "@prefix e: <http://e/> .",
    "e:a",
]
RDF_TEXT = st.lists(st.sampled_from(RDF_PIECES), max_size=30).map(" ".join)
STATEMENTS = [
    "<http://e/a> <http://e/p> <http://e/b> .",
    "<http://e/b>  <http://e/p>\t<http://e/c>.",
    "<http://e/a> <http://e/p> <http://e/b> <http://e/g> .",
    "_:b <http://e/p> _:c .",
    '<http://e/a> <http://www.w3.org/2000/01/rdf-schema#label> "A"@en .',
    '<http://e/a> <http://e/p> "5"^^<http://e/int> .',
    "<http://e/a> <http://e/\\u0070> <urn:unseen:a%20b> . # comment",
    "<http://e/a> <http://e/p> <b> .",
]
XML_PIECES = [
    "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e/'>",
    "</rdf:RDF>",
    "<e:p>",
    "</e:p>",
    "<rdf:Description rdf:about='http://e/a'>",
    "</rdf:Description>",
    "<e:p rdf:resource='#b'/>",
    "text",
    "&amp;",
    "&x;",
    "<!--",
    "-->",
]
JSON_PIECES = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"@id"',
    '"http://e/a"',
    '"@context"',
    '"http://e/p"',
    "1",
    "null",
    '"x',
    '"@value"',
    '"@list"',
]
ANYTHING = st.one_of(
    st.binary(max_size=300),
    TABLE_TEXT.map(str.encode),
    RDF_TEXT.map(str.encode),
    st.lists(st.sampled_from(XML_PIECES), max_size=12).map("".join).map(str.encode),
    st.lists(st.sampled_from(JSON_PIECES), max_size=20).map("".join).map(str.encode),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
@pytest.mark.parametrize("packed", [False, True])
@given(content=ANYTHING, skip_errors=st.booleans(), literals=st.booleans())
def test_any_bytes_make_a_graph_or_one_error(
    folder: Path, suffix: str, packed: bool, content: bytes, skip_errors: bool, literals: bool
) -> None:
    path = folder / f"any{suffix}{'.gz' * packed}"
    path.write_bytes(content)
    try:
        result = read_graph(path, skip_errors=skip_errors, literals=literals)
    except GraphError as caught:
        complaint = str(caught)
        assert complaint.startswith(f"{path}: ")
        assert "\n" not in complaint
        return
    assert result.graph.num_triples == result.report.triples - result.report.duplicates > 0
    assert all(all(triple) for triple in keyed_triples(result.graph))


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".txt"])
@pytest.mark.parametrize("block_bytes", [64, 1 << 20])
@given(content=TABLE_TEXT)
@example(content='a,r,"b\nc"\n')
@example(content="a r b\na\tb r c\n")
@example(content="\ufeffhead\trelation\ttail\n")
def test_the_quick_and_the_careful_way_agree(folder: Path, suffix: str, block_bytes: int, content: str) -> None:
    (source,) = sources_of([file_of(folder, f"both{suffix}", content or "\n")], None)
    with source.open_text() as stream:
        dialect = detected(stream, source.format)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", block_bytes)
        quick = tables._read_in_blocks(source, dialect)
    if quick is not None and quick.num_triples:
        careful = read_lines(source, dialect, skip_errors=False)
        assert keyed_triples(assembled([quick])[0]) == keyed_triples(assembled([careful])[0])


@pytest.mark.parametrize("suffix", [".nt", ".nq"])
@pytest.mark.parametrize("block_bytes", [200, 1 << 20])
@given(lines=st.lists(st.sampled_from(STATEMENTS) | RDF_TEXT, max_size=12), literals=st.booleans())
def test_the_quick_and_the_careful_way_agree_on_statements(
    folder: Path, suffix: str, block_bytes: int, lines: list[str], literals: bool
) -> None:
    (source,) = sources_of([file_of(folder, f"both{suffix}", "\n".join(["#", *lines]))], None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(n_triples, "BLOCK_BYTES", block_bytes)
        quick = n_triples._read_in_blocks(source, literals)
    if quick is not None and quick.num_triples:
        careful = n_triples._read_line_by_line(source, literals, skip_errors=False)
        assert keyed_triples(assembled([quick])[0]) == keyed_triples(assembled([careful])[0])
        assert (quick.num_literals, quick.labels) == (careful.num_literals, careful.labels)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\t\r\n"), min_size=1, max_size=5)
TRIPLES = st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=20)


@given(triples=TRIPLES, block_bytes=st.integers(64, 300), cut=st.integers(0, 20))
def test_ids_follow_first_appearance_whatever_the_blocks_and_files(
    folder: Path, triples: list[tuple[str, str, str]], block_bytes: int, cut: int
) -> None:
    header = ("head", "relation", "tail")
    pieces = [piece for piece in (triples[:cut], triples[cut:]) if piece]
    contents = ["".join("\t".join(triple) + "\n" for triple in [header, *piece]) for piece in pieces]
    files = [file_of(folder, f"{number}.tsv", content) for number, content in enumerate(contents)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", block_bytes)
        result = read_graph(*files)
    entities, relations = by_first_appearance(triples)
    assert keyed_triples(result.graph) == list(dict.fromkeys(triples))
    assert result.graph.vocabulary.entities.keys.to_pylist() == entities
    assert result.graph.vocabulary.relations.keys.to_pylist() == relations
    assert result.report.duplicates == len(triples) - len(set(triples))


@given(
    triples=TRIPLES,
    bad=st.lists(st.sampled_from(["x", "a\tb", "a\t\tb", "a\tb\tc\td", "\0"]), max_size=5),
    data=st.data(),
)
def test_skipping_errors_keeps_exactly_the_good_lines(
    folder: Path, triples: list[tuple[str, str, str]], bad: list[str], data: st.DataObject
) -> None:
    lines = ["\t".join(triple) for triple in [("head", "relation", "tail"), *triples]]
    for line in bad:
        lines.insert(data.draw(st.integers(1, len(lines))), line)
    result = read_graph(file_of(folder, "mixed.tsv", "\n".join(lines)), skip_errors=True)
    assert keyed_triples(result.graph) == list(dict.fromkeys(triples))
    assert result.report.skipped == len(bad)


@given(content=st.binary(min_size=1, max_size=300), lost=st.integers(1, 40))
def test_a_shortened_gzip_never_passes(folder: Path, content: bytes, lost: int) -> None:
    packed = gzip.compress(b"a\tr\tb\n" + content)
    path = folder / "short.tsv.gz"
    path.write_bytes(packed[: max(1, len(packed) - lost)])
    with pytest.raises(GraphError):
        read_graph(path)


@given(
    name=st.text(st.characters(codec="utf-8"), min_size=1)
    | st.sampled_from(["urn:unseen:a", "http://a b", "urn:x", "_:b"])
)
def test_every_name_has_an_iri_that_leads_back_to_it(name: str) -> None:
    iri = iri_of(name)
    assert key_of(iri) == name
    assert not set(iri) & set(' <>"{}|^`\\\n\t')


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 3)), max_size=30),
    num_entities=st.sampled_from([4, 1000, 2**31 - 1]),
    num_relations=st.sampled_from([2, 2**20]),
)
def test_first_occurrences_are_those_of_a_dictionary(
    rows: list[tuple[int, int, int]], num_entities: int, num_relations: int
) -> None:
    heads, relations, tails = (np.array([row[column] for row in rows], np.int32) for column in range(3))
    kept = first_occurrences((heads, relations, tails), num_entities, num_relations)
    expected = sorted({row: position for position, row in reversed(list(enumerate(rows)))}.values())
    assert (list(range(len(rows))) if kept is None else kept.tolist()) == expected
