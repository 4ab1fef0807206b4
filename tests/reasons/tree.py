"""Eight families in which one grandparent is missing."""

from __future__ import annotations

FAMILIES = 8
TREE = [
    ("Zoe", "grandparent_of", "Eve0"),
    ("Zoe", "parent_of", "Bob0"),
    *((f"Ann{i}", "parent_of", f"Bob{i}") for i in range(FAMILIES)),
    *((f"Bob{i}", "parent_of", f"Eve{i}") for i in range(FAMILIES)),
    *((f"Ann{i}", "grandparent_of", f"Eve{i}") for i in range(1, FAMILIES)),
    *((f"Eve{i}", "lives_in", "Graz" if i % 2 else "Linz") for i in range(FAMILIES)),
    ("Eve0", "likes", "Chess"),
]
"""That Ann0 is a grandparent of Eve0 follows, and is not said."""
