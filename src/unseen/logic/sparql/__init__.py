"""SPARQL in and out: `parse_sparql` makes a query of a SELECT, `to_sparql` writes one."""

from unseen.logic.sparql.parse import Selection, parse_sparql
from unseen.logic.sparql.writer import to_sparql

__all__ = ["Selection", "parse_sparql", "to_sparql"]
