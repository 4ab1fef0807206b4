"""RDF files become graphs: formats, literals, labels, blank nodes, prefixes, lines that are wrong."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.graph.files import by_first_appearance, file_of, keyed_triples, read, triples_in
from unseen.errors import GraphError, MalformedLine, MissingExtra
from unseen.graph.files.readers import read_graph

if TYPE_CHECKING:
    from pathlib import Path

E = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TWO = [(E + "a", E + "p", E + "b"), (E + "b", E + "q", E + "c")]

N_TRIPLES = f"# two facts\n<{E}a> <{E}p> <{E}b> .\n\n<{E}b> <{E}q> <{E}c> . # the second\n"
N_QUADS = f"<{E}a> <{E}p> <{E}b> <{E}graph> .\n<{E}b> <{E}q> <{E}c> .\n"
TURTLE = f"@prefix ex: <{E}> .\nex:a ex:p ex:b .\nex:b ex:q ex:c .\n"
TRIG = f"@prefix ex: <{E}> .\nex:g {{ ex:a ex:p ex:b }}\nex:h {{ ex:b ex:q ex:c }}\n"
RDF_XML = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="{E}">
<rdf:Description rdf:about="{E}a"><ex:p rdf:resource="{E}b"/></rdf:Description>
<rdf:Description rdf:about="{E}b"><ex:q rdf:resource="{E}c"/></rdf:Description>
</rdf:RDF>
"""
JSON_LD = f'[{{"@id": "{E}a", "{E}p": {{"@id": "{E}b"}}}}, {{"@id": "{E}b", "{E}q": {{"@id": "{E}c"}}}}]'
FORMATS = {
    ".nt": N_TRIPLES,
    ".ntriples": N_TRIPLES,
    ".nq": N_QUADS,
    ".nquads": N_QUADS,
    ".ttl": TURTLE,
    ".turtle": TURTLE,
    ".trig": TRIG,
    ".rdf": RDF_XML,
    ".owl": RDF_XML,
    ".xml": RDF_XML,
    ".jsonld": JSON_LD,
}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_every_format_gives_the_same_triples(tmp_path: Path, suffix: str, packed: str, mark: bytes) -> None:
    content = mark + FORMATS[suffix].encode()
    assert triples_in(tmp_path, f"graph{suffix}{packed}", content) == TWO


def test_formats_mix_into_one_graph(tmp_path: Path) -> None:
    files = [file_of(tmp_path, f"graph{suffix}", content) for suffix, content in FORMATS.items()]
    table = file_of(tmp_path, "more.tsv", f"{E}c\t{E}p\tplain\n")
    result = read_graph(*files, table)
    assert keyed_triples(result.graph) == [*TWO, (E + "c", E + "p", "plain")]
    assert [file.duplicates for file in result.report.files] == [0] + [2] * (len(files) - 1) + [0]


LITERALS = f"""<{E}a> <{E}p> <{E}b> .
<{E}a> <{E}age> "5"^^<{XSD}integer> .
<{E}b> <{E}says> "a \\"word\\"\\nor two" .
<{E}b> <{E}says> "mot"@fr .
"""


def test_literals_are_values_and_counted(tmp_path: Path) -> None:
    result = read(tmp_path, "graph.nt", LITERALS)
    assert keyed_triples(result.graph) == TWO[:1]
    assert (result.report.literals, result.report.files[0].triples) == (3, 1)
    assert result.graph.num_relations == 1
    assert len(result.graph.attributes) == 3


@pytest.mark.parametrize("suffix", [".nt", ".ttl"])
def test_literals_are_entities_when_asked(tmp_path: Path, suffix: str) -> None:
    result = read(tmp_path, f"graph{suffix}", LITERALS, literals=True)
    assert keyed_triples(result.graph) == [
        TWO[0],
        (E + "a", E + "age", f'"5"^^<{XSD}integer>'),
        (E + "b", E + "says", '"a \\"word\\"\\nor two"'),
        (E + "b", E + "says", '"mot"@fr'),
    ]
    assert result.report.literals == 0
    names = [tail for _, _, tail in result.graph.triples()]
    assert names[1:] == ["5", 'a "word" or two', "mot"]


def test_literals_with_the_same_text_are_told_apart(tmp_path: Path) -> None:
    content = f'<{E}a> <{E}p> "5" .\n<{E}a> <{E}p> "5"^^<{XSD}integer> .\n'
    graph = read(tmp_path, "graph.nt", content, literals=True).graph
    assert graph.num_triples == 2
    assert len({tail for _, _, tail in graph.triples()}) == 2


LABELS = f"""<{E}a> <{E}p> <{E}b> .
<{E}b> <{E}p> <{E}c> .
<{E}c> <{E}p> <{E}d> .
<{E}a> <{RDFS_LABEL}> "Anna"@de .
<{E}a> <{RDFS_LABEL}> "Ann" .
<{E}a> <{RDFS_LABEL}> "Anne"@en .
<{E}a> <{RDFS_LABEL}> "Annie"@en-gb .
<{E}b> <{RDFS_LABEL}> "Benoît"@fr .
<{E}b> <{RDFS_LABEL}> "Ben" .
<{E}c> <{RDFS_LABEL}> "Carlo"@it .
<{E}c> <{RDFS_LABEL}> "Karl"@de .
<{E}p> <{RDFS_LABEL}> "precedes"@en .
<{E}unknown> <{RDFS_LABEL}> "never mentioned elsewhere"@en .
"""


def test_labels_name_entities_and_relations_in_the_best_language(tmp_path: Path) -> None:
    result = read(tmp_path, "graph.nt", LABELS)
    short = result.graph.vocabulary.entities.prefixes.shorten(E + "d")
    assert list(result.graph.triples()) == [
        ("Anne", "precedes", "Ben"),
        ("Ben", "precedes", "Carlo"),
        ("Carlo", "precedes", short),
    ]
    assert (result.report.literals, result.report.files[0].labels) == (0, 10)
    assert result.graph.num_entities == 4


def test_labels_are_edges_too_when_literals_are_entities(tmp_path: Path) -> None:
    graph = read(tmp_path, "graph.nt", LABELS, literals=True).graph
    assert (E + "a", RDFS_LABEL, '"Anne"@en') in keyed_triples(graph)
    assert graph.vocabulary.entity_name(graph.vocabulary.entity_id(E + "b")).startswith("Ben")


def test_labels_of_one_file_name_the_entities_of_another(tmp_path: Path) -> None:
    table = file_of(tmp_path, "graph.tsv", f"{E}a\t{E}p\t{E}b\n")
    labels = file_of(tmp_path, "labels.nt", LABELS.split("\n", 3)[3])
    assert list(read_graph(table, labels).graph.triples()) == [("Anne", "precedes", "Ben")]


def test_a_shared_label_is_told_apart_by_the_short_name(tmp_path: Path) -> None:
    content = (
        TURTLE
        + "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        + ('ex:a rdfs:label "Springfield"@en .\nex:b rdfs:label "Springfield"@en .\n')
    )
    names = [head for head, _, _ in read(tmp_path, "graph.ttl", content).graph.triples()]
    assert names == ["Springfield (ex:a)", "Springfield (ex:b)"]


def test_declared_prefixes_are_preferred(tmp_path: Path) -> None:
    content = "@prefix mine: <http://www.wikidata.org/entity/> .\n@prefix p: <http://example.org/properties#> .\n"
    graph = read(tmp_path, "graph.ttl", content + "mine:Q1 p:of mine:Q2 .\n").graph
    assert list(graph.triples()) == [("mine:Q1", "p:of", "mine:Q2")]


def test_blank_nodes_are_entities(tmp_path: Path) -> None:
    content = f"_:x <{E}p> _:y .\n_:y <{E}p> <{E}a> .\n"
    assert triples_in(tmp_path, "graph.nt", content) == [("_:x", E + "p", "_:y"), ("_:y", E + "p", E + "a")]


def test_blank_nodes_of_different_files_stay_apart(tmp_path: Path) -> None:
    first = file_of(tmp_path, "one.nt", f"_:x <{E}p> _:y .\n_:x_2 <{E}p> _:x .\n")
    second = file_of(tmp_path, "two.nt", f'_:x <{E}p> _:x_2_2 .\n_:x <{RDFS_LABEL}> "the second"@en .\n')
    graph = read_graph(first, second).graph
    assert keyed_triples(graph) == [
        ("_:x", E + "p", "_:y"),
        ("_:x_2", E + "p", "_:x"),
        ("_:x_2_2_2", E + "p", "_:x_2_2"),
    ]
    assert graph.vocabulary.entity_name(3) == "the second"


def test_nameless_blank_nodes_get_the_same_names_every_time(tmp_path: Path) -> None:
    content = f"@prefix ex: <{E}> .\nex:a ex:p [ ex:q _:b1 ] .\nex:a ex:p [ ex:q ex:c ] .\n"
    expected = {
        ("_:b2", E + "q", "_:b1"),
        (E + "a", E + "p", "_:b2"),
        ("_:b3", E + "q", E + "c"),
        (E + "a", E + "p", "_:b3"),
    }
    assert set(triples_in(tmp_path, "graph.ttl", content)) == expected
    assert triples_in(tmp_path, "graph.ttl", content) == triples_in(tmp_path, "graph.ttl", content)


def test_names_made_from_plain_names_are_plain_again(tmp_path: Path) -> None:
    content = "<urn:unseen:New%20York> <urn:unseen:in> <urn:unseen:the%20US> .\n"
    content += "<urn:unseen:%49t> <urn:unseen:in> <urn:unseen:It> .\n"
    spelled = ("urn:unseen:%49t", "in", "It")  # another IRI than that of the plain name, so another thing
    assert triples_in(tmp_path, "graph.nt", content) == [("New York", "in", "the US"), spelled]


def test_relative_iris_are_resolved_against_the_file(tmp_path: Path) -> None:
    (triple,) = triples_in(tmp_path, "graph.ttl", "<#a> <http://example.org/p> <> .\n")
    address = (tmp_path / "graph.ttl").resolve().as_uri()
    assert triple == (address + "#a", E + "p", address)


def test_lines_of_every_kind_keep_their_order(tmp_path: Path) -> None:
    lines = [
        f"<{E}a> <{E}p> <{E}b> .",
        f"_:x <{E}p> <{E}c> .",
        "  # a comment",
        f"<{E}d><{E}q><{E}a>.",
        f"<{E}e>\t<{E}p>\t _:x\t.  ",
        f'<{E}a> <{E}p> "left out \\" here" . # and a comment',
        f"<{E}caf\\u00e9> <{E}p> <{E}f> .",
        f"<{E}g> <{E}p> <{E}café> .",
    ]
    expected = [
        (E + "a", E + "p", E + "b"),
        ("_:x", E + "p", E + "c"),
        (E + "d", E + "q", E + "a"),
        (E + "e", E + "p", "_:x"),
        (E + "café", E + "p", E + "f"),
        (E + "g", E + "p", E + "café"),
    ]
    for line_end in ("\n", "\r\n", "\r"):
        graph = read(tmp_path, "graph.nt", line_end.join(lines)).graph
        assert keyed_triples(graph) == expected
        assert graph.vocabulary.entities.keys.to_pylist() == by_first_appearance(expected)[0]


def test_a_statement_over_two_lines_is_refused(tmp_path: Path) -> None:
    content = f'<{E}a> <{E}p> <{E}b> .\n<{E}a> <{E}says> "two\nlines" .\n'
    with pytest.raises(MalformedLine, match="line 2: "):
        read(tmp_path, "graph.nt", content)


def test_a_control_character_in_a_literal_does_not_matter(tmp_path: Path) -> None:
    assert triples_in(tmp_path, "graph.nt", f'<{E}a> <{E}says> "\x01" .\n' + N_TRIPLES) == TWO


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (f"<{E}x> <{E}p> <{E}y>", "dot"),
        (f"<{E}x> <{E}p> .", "object"),
        (f"<{E}x> <{E}p> <{E}y> . and more", "subject|single"),
        (f"<{E}x> <{E}p> <{E}y z> .", "IRI"),
        (f"<{E}x> <{E}p> <y> .", "IRI"),
        (f'<{E}x> <{E}p> "never closed .', "end"),
        (f"<{E}x> <{E}p> <{E}never closed .", "."),
        (f'"literal" <{E}p> <{E}y> .', "subject"),
        (f"<{E}x> <{E}p> <<( <{E}a> <{E}b> <{E}c> )>> .", "RDF 1.2"),
        (f"<{E}x> <{E}p> <{E}{'y' * 70_000}> .", "65,536"),
        ("complete garbage", "subject"),
    ],
)
@pytest.mark.parametrize("suffix", [".nt", ".nq", ".nt.gz"])
def test_a_bad_line_is_named_or_left_out(tmp_path: Path, bad: str, problem: str, suffix: str) -> None:
    content = f"<{E}a> <{E}p> <{E}b> .\n# comment\n{bad}\n<{E}b> <{E}q> <{E}c> .\n"
    with pytest.raises(MalformedLine, match=problem) as caught:
        read(tmp_path, f"graph{suffix}", content)
    assert caught.value.line == 3
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    result = read(tmp_path, f"graph{suffix}", content, skip_errors=True)
    assert keyed_triples(result.graph) == TWO
    assert result.report.skipped == 1
    assert "line 3" in str(result.report.files[0].first_skipped)


def test_lines_that_are_not_utf8_are_named_or_left_out(tmp_path: Path) -> None:
    content = (
        f"<{E}a> <{E}p> <{E}b> .\n".encode() + b"<http://e/\xff> <http://e/p> <http://e/b> .\n" + N_TRIPLES.encode()
    )
    with pytest.raises(MalformedLine, match=r"line 2: .*UTF-8"):
        read(tmp_path, "graph.nt", content)
    assert keyed_triples(read(tmp_path, "graph.nt", content, skip_errors=True).graph) == TWO


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("graph.ttl", TURTLE + "ex:a ex:p .\n", "line 4: "),
        ("graph.ttl", TURTLE + "ex:a ex:p ex:b", "dot|end"),
        ("graph.ttl", "ex:a ex:p ex:b .", "line 1: .*prefix"),
        ("graph.ttl", TURTLE + "ex:a ex:p ex:b {| ex:q ex:c |} .\n", "RDF 1.2"),
        ("graph.trig", TRIG[:-4], "line|end"),
        ("graph.rdf", RDF_XML[:-11], "line 5: not well-formed XML"),
        ("graph.rdf", RDF_XML.replace("</rdf:Description>", "", 1), "line 5: not well-formed XML: mismatched tag"),
        ("graph.rdf", RDF_XML.replace(f'rdf:about="{E}a"', 'rdf:about="http://a b"'), "IRI"),
        ("graph.jsonld", JSON_LD[:-1], "line 1: "),
        ("graph.jsonld", '{"@context": "https://schema.org", "name": "A"}', "context on the web"),
    ],
)
@pytest.mark.parametrize("skip_errors", [False, True])
def test_a_broken_document_is_refused_as_a_whole(
    tmp_path: Path, name: str, content: str, problem: str, skip_errors: bool
) -> None:
    with pytest.raises(GraphError, match=problem) as caught:
        read(tmp_path, name, content, skip_errors=skip_errors)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_a_file_of_literals_has_values_only(tmp_path: Path) -> None:
    graph = read(tmp_path, "graph.nt", f'<{E}a> <{E}p> "text" .\n').graph
    assert (graph.num_triples, graph.num_entities, len(graph.attributes)) == (0, 1, 1)


def test_only_labels_are_no_triples(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="no triples found"):
        read(tmp_path, "graph.nt", f'<{E}a> <http://www.w3.org/2000/01/rdf-schema#label> "text" .\n')


def test_without_pyoxigraph_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(MissingExtra, match=r"reading RDF needs pyoxigraph; .* '\.\[rdf\]'"):
        read(tmp_path, "graph.nt", N_TRIPLES)


def test_nested_blank_nodes_may_be_deep(tmp_path: Path) -> None:
    deep = 900
    content = f"@prefix ex: <{E}> .\nex:a ex:p " + "[ ex:p " * deep + "ex:b" + " ]" * deep + " .\n"
    assert read(tmp_path, "graph.ttl", content).graph.num_triples == deep + 1


@pytest.mark.parametrize("suffix", [".nt", ".ttl", ".nq"])
def test_deeply_nested_triple_terms_are_refused(tmp_path: Path, suffix: str) -> None:
    deep = 30_000
    content = f"<{E}a> <{E}p> " + f"<<( <{E}a> <{E}p> " * deep + f"<{E}b>" + " )>>" * deep + " .\n"
    with pytest.raises(GraphError, match="nested more than 100 levels deep"):
        read(tmp_path, f"graph{suffix}", content)


def test_deeply_nested_json_is_refused_but_brackets_in_texts_do_not_count(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="nested more than 100 levels deep"):
        read(tmp_path, "graph.jsonld", f'{{"{E}p":' * 30_000 + "1" + "}" * 30_000)
    text = '\\"[{' * 2000
    content = f'{{"@id": "{E}a", "{E}p": {{"@id": "{E}b"}}, "{E}q": "{text}"}}'
    assert triples_in(tmp_path, "graph.jsonld", content) == TWO[:1]
