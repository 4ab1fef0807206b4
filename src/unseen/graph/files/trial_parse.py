"""A program that parses RDF from its input, for `nesting.try_out`: its end tells whether the document can be parsed.

    python trial_parse.py FOLDER_OF_PYOXIGRAPH FORMAT DEEPEST < document

It ends with 0 if no triple term nests deeper than asked for, up to the first syntax error; a crash of the parser ends
this process alone. The thread has a small stack, so what passes here is safe in any thread.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

STACK_BYTES = 1 << 18
TOO_DEEP = 3


def main(packages: str, format_name: str, deepest: int) -> None:
    """Parse all of the input, and end the process."""
    sys.path.append(packages)
    import pyoxigraph

    _leave_no_core()
    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=_parse, args=(pyoxigraph, format_name, deepest))
    thread.start()
    thread.join()


def _parse(rdf: Any, format_name: str, deepest: int) -> None:
    """End the process with a code that says how it went."""
    try:
        for quad in rdf.parse(sys.stdin.buffer, getattr(rdf.RdfFormat, format_name), base_iri="urn:trial:/"):
            _check(quad.object, rdf.Triple, deepest)
    except SyntaxError:
        pass  # the real parser will find it at the same place, and say so
    os._exit(0)


def _check(term: Any, triple: type, deepest: int) -> None:
    for _ in range(deepest + 1):
        if not isinstance(term, triple):
            return
        term = term.object  # type: ignore[attr-defined]
    os._exit(TOO_DEEP)


def _leave_no_core() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
