"""A small valid example of everything that can be read, and the command that reads it."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import FAMILY
from tests.datasets.small_dataset import inductive_dataset, transductive_dataset
from tests.graph.test_rdf import FORMATS
from tests.training.small_world import CASES, small_dataset
from unseen.datasets.published import export_dataset
from unseen.graph import KnowledgeGraph
from unseen.graph.files.writers import write_graph

QUESTION = "?x : exists v . parent(Ada, v) & likes(v, x)"
OWN_QUESTION = "?x : leads(e1, x)"
EPFO = ("1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up")
"""The types that Query2Box files have."""


@dataclass(frozen=True)
class Specimen:
    """An example in a folder: how to make it, and the words of the commands that read it."""

    make: Callable[[Path], None]
    commands: tuple[tuple[str, ...], ...]
    mend: Callable[[Path], None] = lambda _folder: None
    """Makes checksums right again after something was damaged, so that the damage is found behind them."""


def table(name: str) -> Specimen:
    def make(folder: Path) -> None:
        write_graph(KnowledgeGraph.from_triples(FAMILY), folder / name)

    return Specimen(make, (("info", name), ("ask", name, QUESTION, "--method", "exact", "--skip-errors")))


def rdf(suffix: str, packed: str) -> Specimen:
    def make(folder: Path) -> None:
        content = FORMATS[suffix].encode()
        (folder / f"graph{suffix}{packed}").write_bytes(gzip.compress(content, mtime=0) if packed else content)

    name = f"graph{suffix}{packed}"
    return Specimen(make, (("info", name), ("convert", name, "out.tsv", "--literals", "--skip-errors")))


def _ogb(folder: Path) -> None:
    members = {
        "raw/edge.csv.gz": "0,1\n1,2\n2,0\n",
        "raw/edge_reltype.csv.gz": "0\n1\n0\n",
        "mapping/nodeidx2entityid.csv.gz": "node idx,entity id\n0,Q1\n1,Q2\n2,Q3\n",
        "mapping/reltype2relid.csv.gz": "reltype,rel id\n0,P1\n1,P2\n",
    }
    with zipfile.ZipFile(folder / "wikikg.zip", "w") as archive:
        for name, text in members.items():
            archive.writestr(f"kg/{name}", gzip.compress(text.encode(), mtime=0))


def _dataset(folder: Path) -> None:
    inductive_dataset().save(folder / "dataset")


def _sign(folder: Path) -> None:
    """Write the sizes and checksums of the files as they are now into the manifest of a dataset."""
    manifest = folder / "dataset" / "manifest.json"
    try:
        value = json.loads(manifest.read_text())
        for name, about in value["files"].items():
            content = (manifest.parent / name).read_bytes()
            about |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return
    manifest.write_text(json.dumps(value))


def published(form: str, name: str) -> Specimen:
    def make(folder: Path) -> None:
        dataset = inductive_dataset() if form in ("inductiveqe", "npz") else transductive_dataset()
        types = EPFO if form == "query2box" else None
        export_dataset(dataset, folder / name, form, types=types)

    return Specimen(make, (("dataset", "import", name, "-o", "imported", "--force"),))


def _zipped(folder: Path) -> None:
    export_dataset(inductive_dataset(), folder / "plain", "inductiveqe")
    with zipfile.ZipFile(folder / "175.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted((folder / "plain").iterdir()):
            archive.write(file, f"175/{file.name}")
    shutil.rmtree(folder / "plain")


def _given(folder: Path) -> None:
    (folder / "given").mkdir()
    for name, part in {"train": FAMILY[:5], "valid": FAMILY[5:7], "test": FAMILY[7:]}.items():
        (folder / "given" / f"{name}.txt").write_text("".join("\t".join(triple) + "\n" for triple in part))


def _model(folder: Path) -> None:
    from unseen.models.model_folder import shipped_folder

    shutil.copytree(shipped_folder() / "default", folder / "model")


def trained(case: str) -> Specimen:
    def make(folder: Path) -> None:
        from unseen.training.session import train

        method, settings = CASES[case]
        dataset = small_dataset()
        train(method, dataset, folder / "run", settings)
        write_graph(dataset.observed("valid"), folder / "graph.tsv")
        dataset.save(folder / "data")

    ask = ("ask", "graph.tsv", OWN_QUESTION, "--method", "run")
    return Specimen(make, (ask, ("evaluate", "run", "data", "--split", "valid", "--limit", "2")))


def _result(folder: Path) -> None:
    from unseen.evaluation.evaluator import evaluate
    from unseen.methods.edge_type import EdgeType

    result = evaluate(EdgeType(), small_dataset(), split="valid")
    (folder / "result.json").write_text(json.dumps(result.to_json()))


def _keys(folder: Path) -> None:
    path = folder / "keys.txt"
    path.write_text(f"# who\nread {'a' * 20}\nwrite {'b' * 20}\n")
    path.chmod(0o600)


TABLES = ("graph.tsv", "graph.csv", "graph.txt", "graph.parquet", "graph.tsv.gz", "graph.csv.gz", "graph.parquet.gz")
RDF_SUFFIXES = (".nt", ".nq", ".ttl", ".trig", ".rdf", ".jsonld")
SPECIMENS: dict[str, Specimen] = {
    **{name: table(name) for name in TABLES},
    **{f"{suffix}{packed}": rdf(suffix, packed) for suffix in RDF_SUFFIXES for packed in ("", ".gz")},
    "ogb": Specimen(_ogb, (("info", "wikikg.zip"),)),
    "dataset": Specimen(
        _dataset,
        (("dataset", "stats", "dataset"), ("evaluate", "edge-type", "dataset", "--limit", "2", "--types", "2i")),
    ),
    "signed dataset": Specimen(
        _dataset, (("dataset", "stats", "dataset"), ("evaluate", "edge-type", "dataset", "--limit", "2")), _sign
    ),
    "given": Specimen(_given, (("split", "given", "--given", "-o", "split", "--force"),)),
    "npz": published("npz", "175.npz"),
    "inductiveqe": published("inductiveqe", "175"),
    "betae": published("betae", "betae"),
    "query2box": published("query2box", "query2box"),
    "inductiveqe.zip": Specimen(_zipped, (("dataset", "import", "175.zip", "-o", "imported", "--force"),)),
    "model": Specimen(_model, (("ask", "countries", "?x : borders(France, x)", "--model", "model"),)),
    **{f"run of {case}": trained(case) for case in CASES},
    "result": Specimen(_result, (("report", "result.json", "-o", "report", "--no-figures"),)),
}
