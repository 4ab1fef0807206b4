"""Which room imports which, counted from the source, beside the order that the architecture declares.

```
python tools/import_graph.py            a table: one row a room, inner rooms first
python tools/import_graph.py --json     the same as one JSON object
```
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.test_architecture import LEVELS, SOURCE, imports_of, room_of  # noqa: E402


def import_counts() -> dict[str, Counter[str]]:
    """For every room, how many imports of every other room its files have."""
    counts: dict[str, Counter[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        room, module = parts[0], "unseen." + ".".join(parts)
        found = counts.setdefault(room, Counter())
        text = path.read_text(encoding="utf-8")
        for each in imports_of(text, module.removesuffix(".__init__"), path.name == "__init__.py"):
            if each.module.split(".")[0] == "unseen" and room_of(each.module) != room:
                found[room_of(each.module)] += 1
    return counts


def declared_order() -> list[str]:
    """All rooms, inner ones first."""
    return [room for level in LEVELS for room in sorted(level)]


def table(counts: dict[str, Counter[str]]) -> str:
    """One line a room: its level, and what it imports, most often first."""
    levels = {room: number for number, level in enumerate(LEVELS) for room in level}
    lines = []
    for room in declared_order():
        if room in counts:
            seen = ", ".join(f"{name} {count}" for name, count in counts[room].most_common())
            lines.append(f"{levels[room]:>2}  {room:<12} <- {seen or '(nothing)'}")
    return "\n".join(lines)


def main() -> None:
    """Print the table or the JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    counts = import_counts()
    sys.stdout.write((json.dumps(counts) if parser.parse_args().json else table(counts)) + "\n")


if __name__ == "__main__":
    main()
