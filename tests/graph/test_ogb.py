"""Archives of OGB: edges as numbers, names beside them."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from unseen.errors import GraphError
from unseen.graph.files.readers import read_graph

FILES = {
    "raw/edge.csv.gz": "0,2\n2,1\n",
    "raw/edge_reltype.csv.gz": "1\n0\n",
    "mapping/nodeidx2entityid.csv.gz": "node idx,entity id\n0,Q5\n1,Q7\n2,Q9\n",
    "mapping/reltype2relid.csv.gz": "reltype,rel id\n0,P31\n1,P17\n",
    "split/time/train.pt": "not read",
}


def archive(folder: Path, **changed: str | None) -> Path:
    """An archive with some files changed, or left out, by the first word of their names."""
    path = folder / "wikikg-v2.zip"
    with zipfile.ZipFile(path, "w") as stream:
        for name, content in FILES.items():
            word = name.rpartition("/")[2].partition(".")[0]
            text = changed.get(word, content)
            if text is not None:
                stream.writestr(f"wikikg-v2/{name}", gzip.compress(text.encode()))
    return path


def test_edges_have_the_names_that_the_archive_gives_them(tmp_path: Path) -> None:
    graph = read_graph(archive(tmp_path)).graph
    assert set(graph.triples()) == {("Q5", "P17", "Q9"), ("Q9", "P31", "Q7")}


def test_names_may_stand_in_any_order(tmp_path: Path) -> None:
    names = "node idx,entity id\n2,Q9\n0,Q5\n1,Q7\n"
    graph = read_graph(archive(tmp_path, nodeidx2entityid=names)).graph
    assert ("Q5", "P17", "Q9") in set(graph.triples())


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"edge": None}, "only those of OGB"),
        ({"reltype2relid": None}, "has no mapping/reltype2relid"),
        ({"edge": "0,2\n2,7\n"}, "a number that nothing is named by"),
        ({"edge": "0,2\n-2,1\n"}, "a number that nothing is named by"),
        ({"edge": "0,a\n1,b\n"}, "not whole numbers"),
        ({"edge": "0,2\n2,\n"}, "not whole numbers"),
        ({"nodeidx2entityid": "node idx,entity id\n0,Q5\n1,\n2,Q9\n"}, "a name is empty"),
        ({"nodeidx2entityid": "node idx,entity id\n0,Q5\n,Q7\n2,Q9\n"}, "lacks a number or a name"),
        ({"edge": "0,2,3\n2,1,3\n"}, "3 columns in place of 2"),
        ({"edge_reltype": "1\n"}, "2 edges and 1 relations"),
        ({"nodeidx2entityid": "node idx,entity id\n0,Q5\n2,Q9\n"}, "does not name every number"),
        ({"edge": ""}, "is not an archive of OGB"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, changed: dict[str, str | None], problem: str) -> None:
    with pytest.raises(GraphError, match=problem):
        read_graph(archive(tmp_path, **changed))


def test_a_broken_archive_is_said_to_be_one(tmp_path: Path) -> None:
    path = archive(tmp_path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(GraphError, match="is not an archive of OGB"):
        read_graph(path)
