"""Which files of the package a piece of work really passes through: every file with a function that was called.

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
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "unseen"
sys.path.insert(0, str(ROOT))


def question(method: str = "default") -> Callable[[], Any]:
    """Ask once beforehand, so that opening and compiling are not part of the walk."""
    import unseen

    graph = unseen.load("countries")
    return lambda: unseen.ask(graph, "?x : exists y . borders(France, y) & borders(y, x)", method=method)


def training() -> Callable[[], Any]:
    """A run of two steps."""
    from tests.training.small_world import small_dataset
    from unseen.training.session import train

    folder = Path(tempfile.mkdtemp()) / "run"
    settings = {"steps": 2, "dim": 4, "layers": 2, "hidden_dim": 4, "validation_queries": 2, "calibration_queries": 2}
    dataset = small_dataset()
    return lambda: train("gnn-qe", dataset, folder, settings)


def write() -> Callable[[], Any]:
    """One triple through the whole server, in this process."""
    from starlette.testclient import TestClient

    from unseen.database import Database
    from unseen.server.app import make_app
    from unseen.server.server_settings import ServerSettings

    database = Database(Path(tempfile.mkdtemp()) / "db", create=True)
    client = TestClient(make_app(database, ServerSettings(model="exact")), base_url="http://localhost")
    client.__enter__()
    return lambda: client.post("/triples", json={"triples": [["Ann", "knows", "Bob"]]}).raise_for_status()


WALKS: dict[str, Callable[[], Callable[[], Any]]] = {
    "question": question,
    "exact": lambda: question("exact"),
    "training": training,
    "write": write,
}


def files_of(work: Callable[[], Any]) -> list[str]:
    """The files of the package that have a function which `work` called, in the order of the first call."""
    seen: dict[str, None] = {}

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            seen.setdefault(str(Path(frame.f_code.co_filename).relative_to(SOURCE)))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def main() -> None:
    """Print the files of one walk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("walk", choices=WALKS)
    files = files_of(WALKS[parser.parse_args().walk]())
    sys.stdout.write("\n".join([*files, f"{len(files)} files"]) + "\n")


if __name__ == "__main__":
    main()
