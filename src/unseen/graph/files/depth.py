"""How deep documents may be nested."""

DEEPEST = 100
"""Levels of JSON-LD objects, and of statements about statements."""
OPENING = b"<<("
"""What every level of a statement about a statement begins with."""
