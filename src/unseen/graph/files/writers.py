"""One graph in, one file out."""

from __future__ import annotations

import gzip
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import GraphError, shorten
from unseen.graph.arrow_arrays import TEXT, id_array, text_array
from unseen.graph.files import atomic_file
from unseen.graph.files.dialect import ROLES, role_columns
from unseen.graph.files.formats import WRITABLE, format_of, is_compressed
from unseen.graph.files.rdf_terms import iri_term, object_term, subject_term, text_literal
from unseen.graph.files.statements import LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph.attributes import Attributes
    from unseen.graph.knowledge_graph import KnowledgeGraph
    from unseen.graph.names import Names

    Spelling = Literal["keys", "readable"]
    Texts = tuple[pa.Array, pa.Array]  # of entities and of relations

ROWS_AT_ONCE = 1 << 19
COMPRESSION_LEVEL = 3


def write_graph(graph: KnowledgeGraph, path: str | Path, names: Spelling = "keys") -> None:
    """Write the edges, in order, in the format that the file's name ends in, completely or not at all.

    `.tsv`, `.txt`, `.csv`, `.parquet` and `.nt`, each also `.gz`. Keys are lossless: reading the file gives the same
    triples again. Readable names are for people; where two things share one, both keep their keys. N-Triples always
    holds IRIs, blank nodes and literals; readable names are added to it as `rdfs:label`. Values of entities are written
    to N-Triples only.
    """
    path = Path(path)
    file_format = format_of(path, WRITABLE)
    if names not in ("keys", "readable"):
        raise GraphError(f"names are written as 'keys' or 'readable', not {names!r}", path=path)
    with atomic_file.replacing(path) as raw, _compressed(raw, path) as stream:
        if file_format == "n-triples":
            _write_n_triples(graph, stream, with_labels=names == "readable")
            return
        texts = (spelled(graph.vocabulary.entities, names), spelled(graph.vocabulary.relations, names))
        if file_format == "parquet":
            _write_parquet(graph, texts, stream)
        elif file_format == "csv":
            _write_csv(graph, texts, stream)
        else:
            _write_tsv(graph, texts, stream, path)


def check_target(path: str | Path) -> None:
    """Refuse a file that `write_graph` could not write: worth knowing before a long reading."""
    format_of(Path(path), WRITABLE)
    atomic_file.check_target(Path(path))


@contextmanager
def _compressed(raw: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """The stream, or one that compresses into it; no name or time inside, so that equal graphs give equal files."""
    if not is_compressed(path):
        yield raw
        return
    with gzip.GzipFile("", "wb", COMPRESSION_LEVEL, raw, mtime=0) as stream:
        yield stream  # type: ignore[misc]  # a GzipFile is a BinaryIO in all but name


def spelled(names: Names, spelling: Spelling) -> pa.Array:
    """What each id is called in the file."""
    if spelling == "keys":
        return names.keys
    keys = names.keys.to_pylist()
    labels = [None] * len(keys) if names.labels is None else names.labels.to_pylist()
    readable = [label or names.prefixes.shorten(key) for key, label in zip(keys, labels, strict=True)]
    count = Counter(readable)
    return text_array([text if count[text] == 1 else key for key, text in zip(keys, readable, strict=True)])


def _write_tsv(graph: KnowledgeGraph, texts: Texts, stream: BinaryIO, path: Path) -> None:
    """Tabs and line ends, no quotations; a header only if the first triple would be taken for one."""
    for names in texts:
        broken = names.filter(pc.match_substring_regex(names, r"[\t\r\n]"))
        if len(broken):
            name = shorten(broken[0].as_py())
            problem = f"the name {name!r} holds a tab or a line break; write Parquet, CSV or N-Triples instead"
            raise GraphError(problem, path=path)
    if graph.num_triples and _looks_like_a_header(graph, texts):
        stream.write("\t".join(ROLES).encode() + b"\n")
    _write_rows(graph, texts, stream, separator="\t")


def _looks_like_a_header(graph: KnowledgeGraph, texts: Texts) -> bool:
    """Whether a reader would mistake the first triple for a header."""
    ids = (graph.heads[0], graph.relations[0], graph.tails[0])
    entities, relations = texts
    first = [names[int(index)].as_py() for names, index in zip((entities, relations, entities), ids, strict=True)]
    return role_columns(first) is not None or first[0].startswith("\ufeff")


def _write_csv(graph: KnowledgeGraph, texts: Texts, stream: BinaryIO) -> None:
    """A header, commas, and quotations where they are needed."""
    stream.write(",".join(ROLES).encode() + b"\n")
    _write_rows(graph, (_quoted(texts[0]), _quoted(texts[1])), stream, separator=",")


def _quoted(names: pa.Array) -> pa.Array:
    """The names as CSV fields."""
    quotations = _joined(_text('"'), pc.replace_substring(names, '"', '""'), _text('"'))
    return pc.if_else(pc.match_substring_regex(names, r'[,"\r\n]'), quotations, names)


def _write_n_triples(graph: KnowledgeGraph, stream: BinaryIO, *, with_labels: bool) -> None:
    """One statement a line; an entity is a literal only if it is never a head."""
    entities, relations = graph.vocabulary.entities, graph.vocabulary.relations
    is_head = np.zeros(graph.num_entities, bool)
    is_head[graph.heads] = True
    is_head[graph.attributes.entities] = True
    keys = zip(entities.keys.to_pylist(), is_head.tolist(), strict=True)
    entity_terms = [subject_term(key) if head else object_term(key) for key, head in keys]
    relation_terms = [iri_term(key) for key in relations.keys.to_pylist()]
    texts = (text_array(entity_terms), text_array(relation_terms))
    _write_rows(graph, texts, stream, separator=" ", end=" .\n")
    _write_values(graph.attributes, texts[0], stream)
    if with_labels:
        stream.writelines(_label_statements(entities, entity_terms))
        stream.writelines(_label_statements(relations, relation_terms))


def _write_values(attributes: Attributes, entity_terms: pa.Array, stream: BinaryIO) -> None:
    """The values as statements, some at a time."""
    if not len(attributes):
        return
    names = text_array([iri_term(key) for key in attributes.names.keys.to_pylist()])
    literals = _joined(attributes.literals.n_triples(), _text(" .\n"))
    for start in range(0, len(attributes), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        columns = ((entity_terms, attributes.entities), (names, attributes.attributes), (literals, attributes.values))
        _write_lines(_joined(*(t.take(id_array(ids[rows])) for t, ids in columns), separator=" "), stream)


def _write_lines(lines: pa.Array, stream: BinaryIO) -> None:
    size = int(np.frombuffer(lines.buffers()[1], np.int64)[len(lines)])
    stream.write(memoryview(lines.buffers()[2])[:size])


def _label_statements(names: Names, terms: list[str]) -> Iterator[bytes]:
    """The labels as statements; a literal speaks for itself."""
    labels = [] if names.labels is None else names.labels.to_pylist()
    for term, label in zip(terms, labels, strict=False):
        if label is not None and not term.startswith('"'):
            yield f"{term} <{LABEL}> {text_literal(label)} .\n".encode()


def _write_parquet(graph: KnowledgeGraph, texts: Texts, stream: BinaryIO) -> None:
    """Three columns of strings: head, relation, tail."""
    from pyarrow import parquet  # slow to import, and no other format needs it

    schema = pa.schema([(role, TEXT) for role in ROLES])
    with parquet.ParquetWriter(stream, schema) as writer:
        for columns in _named_rows(graph, *texts, texts[0]):
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _write_rows(graph: KnowledgeGraph, texts: Texts, stream: BinaryIO, *, separator: str, end: str = "\n") -> None:
    """The edges as lines of text."""
    entities, relations = texts
    last_in_line = _joined(entities, _text(end))
    for columns in _named_rows(graph, entities, relations, last_in_line):
        _write_lines(_joined(*columns, separator=separator), stream)


def _joined(*columns: pa.Array | pa.Scalar, separator: str = "") -> pa.Array:
    """The columns side by side as one."""
    return pc.binary_join_element_wise(*columns, _text(separator))


def _text(value: str) -> pa.Scalar:
    return pa.scalar(value, TEXT)


def _named_rows(
    graph: KnowledgeGraph, heads: pa.Array, relations: pa.Array, tails: pa.Array
) -> Iterator[list[pa.Array]]:
    """The edges with names instead of ids, some at a time."""
    for start in range(0, graph.num_triples, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        ids = (graph.heads[rows], graph.relations[rows], graph.tails[rows])
        yield [names.take(pa.array(column)) for names, column in zip((heads, relations, tails), ids, strict=True)]
