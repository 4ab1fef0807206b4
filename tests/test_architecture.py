"""The direction of imports and the shape of the house; `make check` runs this file alone."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "unseen"

LEVELS = [
    {"version"},
    {"errors"},
    {"displays"},
    {"graph"},
    {"logic"},
    {"datasets", "nn", "database", "rules"},
    {"methods", "reasons"},
    {"probability"},
    {"models", "data"},
    {"evaluation"},
    {"asking", "training"},
    {"api"},
    {"checking", "scoring"},
    {"client"},
    {"bulk"},
    {"spreading"},
    {"__init__"},
    {"agents"},
    {"server"},
    {"cli"},
    {"__main__"},
]
"""Inner rooms first; rooms of one level may not see each other. The package itself is the short door to `api`."""

FORBIDDEN_THOUGH_INNER = {
    ("methods", "datasets"),
    ("methods", "database"),
    ("probability", "datasets"),
    ("probability", "database"),
    ("evaluation", "methods"),
    ("evaluation", "models"),
    ("api", "training"),
    ("checking", "training"),
    ("scoring", "training"),
    ("client", "training"),
    ("bulk", "training"),
    ("spreading", "training"),
    ("agents", "training"),
    ("server", "training"),
}
"""`methods` gets graphs, queries and answers, never where they come from; `evaluation` gets methods, never which.
Only `cli` trains."""

FILE_MODULES = ("unseen.graph.files.readers", "unseen.graph.files.writers", "unseen.graph.files.sources")
"""What reads and writes files: nothing for `logic`, `nn` and `methods`."""

HOMES = {
    "typer": ("cli/",),
    "click": ("cli/",),
    "starlette": ("server/",),
    "uvicorn": ("server/",),
    "nicegui": ("server/",),
    "mcp": ("agents/",),
    "ray": ("spreading/",),
    "pyoxigraph": ("graph/", "database/"),
    "rdflib": ("logic/sparql/",),
}
"""Packages that only some files may import, by the beginning of their path."""

MOST_LINES = 400
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "misc"}


@dataclass(frozen=True)
class Import:
    """One import: the dotted name it brings in, and the line where it does."""

    module: str
    line: int


def imports_of(text: str, module: str, is_package: bool) -> list[Import]:
    """Every import of a module's text, also those inside functions and under TYPE_CHECKING; relative ones resolved."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, module, is_package)
            found += [Import(f"{origin}.{alias.name}", node.lineno) for alias in node.names]
    return found


def _origin(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.split(".")
    kept = parts[: len(parts) - node.level + is_package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def room_of(module: str) -> str:
    """The room of a dotted name inside `unseen`; a name that the package itself offers belongs to the package."""
    parts = module.split(".")
    known = set().union(*LEVELS)
    return parts[1] if len(parts) > 1 and (parts[1] in known or (SOURCE / parts[1]).exists()) else "__init__"


def level_of(room: str) -> int:
    return next(level for level, rooms in enumerate(LEVELS) if room in rooms)


def is_allowed(importer: str, imported: str) -> bool:
    """Whether room `importer` may see room `imported`."""
    if importer == imported:
        return True
    return level_of(imported) < level_of(importer) and (importer, imported) not in FORBIDDEN_THOUGH_INNER


def problems_of(text: str, path: str) -> list[str]:
    """What is wrong with the imports of a file at `path` below src/unseen."""
    module = "unseen." + path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    is_package = path.endswith("__init__.py")
    room = "__init__" if path == "__init__.py" else path.split("/", maxsplit=1)[0].removesuffix(".py")
    found = []
    for imported in imports_of(text, module, is_package):
        where = f"{path}:{imported.line}: "
        package = imported.module.split(".")[0]
        if package == "experiments":
            found.append(f"{where}experiments see the package, which never sees them")
        if package == "unseen" and not is_allowed(room, room_of(imported.module)):
            found.append(f"{where}{room} may not import {imported.module}")
        if room in {"logic", "nn", "methods"} and imported.module.startswith(FILE_MODULES):
            found.append(f"{where}{room} never sees files, but imports {imported.module}")
        if not path.startswith(HOMES.get(package, ("",))):
            found.append(f"{where}{package} belongs in {' or '.join(HOMES[package])} only")
    return found


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def written_files() -> list[Path]:
    folders = (ROOT / name for name in ("src", "experiments", "tests", "benchmarks", "tools"))
    return [path for folder in folders if folder.exists() for path in sorted(folder.rglob("*.py"))]


def test_every_room_has_its_place_in_the_plan() -> None:
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in modules()}
    assert rooms <= set().union(*LEVELS), "a new room needs a place in LEVELS and in the design"


def test_no_import_points_outward_and_every_package_stays_in_its_room() -> None:
    problems = [
        problem
        for path in modules()
        for problem in problems_of(path.read_text(encoding="utf-8"), path.relative_to(SOURCE).as_posix())
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("graph/names.py", "from unseen.logic import algebra"),
        ("graph/names.py", "from unseen import logic"),
        ("graph/names.py", "import unseen.logic.algebra as algebra"),
        ("graph/names.py", "from ..logic.algebra import Query"),
        ("graph/__init__.py", "from ..logic import algebra"),
        ("errors.py", "from unseen.graph import KnowledgeGraph"),
        ("logic/text.py", "def f():\n    from unseen.methods.exact import Exact"),
        ("logic/text.py", "if TYPE_CHECKING:\n    from unseen.api import Answer"),
        ("logic/text.py", "from unseen import load"),
        ("logic/text.py", "from unseen.graph.files.readers import read_graph"),
        ("logic/text.py", "import rdflib"),
        ("nn/nbfnet.py", "from unseen.datasets.dataset import Dataset"),
        ("datasets/sample.py", "from unseen.nn import kernels"),
        ("methods/exact.py", "from unseen.evaluation import ranking"),
        ("methods/exact.py", "from unseen.datasets import sample"),
        ("evaluation/report.py", "from unseen.methods.exact import Exact"),
        ("training/loop.py", "import unseen.api"),
        ("training/recipes.py", "from experiments.grid import RATIOS"),
        ("cli/main.py", "import experiments"),
        ("api.py", "from unseen.cli import main"),
        ("client.py", "from unseen.server import app"),
        ("server/app.py", "import pyoxigraph"),
        ("bulk/answering_files.py", "import ray"),
        ("server/app.py", "from unseen.cli import console"),
        ("database/triples.py", "from unseen.methods.exact import Exact"),
        ("api.py", "import typer"),
        ("cli/ask.py", "from starlette.requests import Request"),
        ("logic/sparql/parse.py", "import pyoxigraph"),
        ("api.py", "from rdflib.plugins.sparql import parser"),
    ],
)
def test_an_import_against_the_plan_is_found(path: str, text: str) -> None:
    assert len(problems_of(text, path)) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("logic/sparql/reader.py", "from rdflib import URIRef"),
        ("graph/files/rdf.py", "import pyoxigraph"),
        ("cli/serve.py", "from unseen.server import run"),
        ("graph/names.py", "from .prefixes import Prefixes"),
        ("graph/__init__.py", "from .names import Names"),
        ("evaluation/evaluator.py", "from unseen.datasets.query_table import QueryTable"),
        ("cli/demo.py", "from unseen import load\nimport typer"),
        ("__init__.py", "from unseen.api import ask"),
        ("errors.py", "from unseen.version import __version__"),
        ("methods/gnn_qe/gnn_qe.py", "from unseen.nn.nbfnet import NBFNet\nfrom unseen.logic.execute import execute"),
    ],
)
def test_an_import_that_follows_the_plan_is_allowed(path: str, text: str) -> None:
    assert problems_of(text, path) == []


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in written_files()}
    too_long = [f"{path.relative_to(ROOT)}: {length} lines" for path, length in lengths.items() if length > MOST_LINES]
    assert not too_long, "\n".join(too_long)


def test_nothing_in_the_package_prints() -> None:
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not calls, f"print( in {calls}: results go through unseen.cli"


def test_no_module_has_a_vague_name() -> None:
    vague = [
        path.relative_to(ROOT)
        for path in written_files()
        if path.stem in VAGUE_NAMES or path.parent.name in VAGUE_NAMES
    ]
    assert not vague


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    everything = [*modules(), *sorted((ROOT / "experiments").rglob("*.py"))]
    silent = [
        path.relative_to(ROOT) for path in everything if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert not silent


def test_no_two_modules_and_no_two_classes_share_a_name() -> None:
    names = [path.stem for path in modules() if path.stem not in ("__init__", "__main__")]
    names += [
        node.name
        for path in modules()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    shared = sorted({name for name in names if names.count(name) > 1})
    assert not shared, f"one name, one thing: {', '.join(shared)}"
