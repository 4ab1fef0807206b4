"""Which files of the package a piece of work passes through: every file with a function that was called.

Imports do not count, nor what is made once and kept: the work is done once beforehand.

```
python tools/walks.py question                    `unseen.ask` on countries with the shipped model
python tools/walks.py exact                       the same with the method exact
python tools/walks.py training                    two steps of GNN-QE on a small random dataset
python tools/walks.py write                       a triple posted to a server
```
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "unseen"
sys.path.insert(0, str(ROOT))


def question(method: str = "default") -> Callable[[], Any]:
    """One question; another one is asked before, so that opening the model is not part of the walk."""
    import unseen

    graph = unseen.load("countries")

    def asked(country: str) -> Any:
        return unseen.ask(graph, f"?x : exists y . borders({country}, y) & speaks(y, x)", method=method)

    asked("Germany")
    return lambda: asked("France")


def training() -> Callable[[], Any]:
    """A run of two steps; another one is made before."""
    from tests.training.small_world import TYPES, small_dataset
    from unseen.training.session import train

    settings = {"steps": 2, "dim": 4, "layers": 2, "hidden_dim": 4, "validation_queries": 2, "calibration_queries": 2}
    dataset = small_dataset()

    def trained() -> Any:
        return train("gnn-qe", dataset, Path(tempfile.mkdtemp()) / "run", settings | {"types": TYPES})

    trained()
    return trained


def write() -> Callable[[], Any]:
    """One triple through the whole server, in this process; another one is written before."""
    from starlette.testclient import TestClient

    from unseen.database import Database
    from unseen.server.app import make_app
    from unseen.server.server_settings import ServerSettings

    database = Database.create(Path(tempfile.mkdtemp()) / "db")
    client = TestClient(make_app(database, ServerSettings(model="exact")), base_url="http://localhost")
    client.__enter__()

    def written(name: str) -> Any:
        return client.post("/triples", json={"triples": [["Ann", "knows", name]]}).raise_for_status()

    written("Bob")
    return lambda: written("Cleo")


WALKS: dict[str, Callable[[], Callable[[], Any]]] = {
    "question": question,
    "exact": lambda: question("exact"),
    "training": training,
    "write": write,
}


def files_of(prepared: Callable[[], Callable[[], Any]]) -> list[str]:
    """The files of the package that have a function which the prepared work called, in the order of the first call.

    Bodies of modules and classes run too; only functions have CO_OPTIMIZED. Threads of a server begin while the work is
    prepared, so they are watched from then on.
    """
    seen: dict[str, None] = {}

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(str(SOURCE)):
            seen.setdefault(str(Path(code.co_filename).relative_to(SOURCE)))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work = prepared()
        seen.clear()
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def main() -> None:
    """Print the files of one walk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("walk", choices=WALKS)
    files = files_of(WALKS[parser.parse_args().walk])
    sys.stdout.write("\n".join([*files, f"{len(files)} files"]) + "\n")


if __name__ == "__main__":
    main()
