"""A graph that lives: durable triples, and immutable graphs of them for the methods. `Database` is the door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unseen.database.database import Database

__all__ = ["Database"]


def __getattr__(name: str) -> Any:
    """Import the door when it is first used: the processes of the engine do without it and start in milliseconds."""
    if name != "Database":
        raise AttributeError(f"module 'unseen.database' has no attribute {name!r}")
    from unseen.database.database import Database

    return Database
