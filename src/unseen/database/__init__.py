"""A graph that lives: durable triples, and immutable graphs of them for the methods. `Database` is the door."""

from __future__ import annotations

from unseen.database.database import Database

__all__ = ["Database"]
