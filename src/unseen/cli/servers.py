"""Addresses of servers in place of graphs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from unseen.errors import UnseenError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.client import Client


def is_address(sources: Sequence[str]) -> bool:
    """Whether the address of a server stands where graphs are named; it must be the only one."""
    addresses = [source for source in sources if source.startswith(("http://", "https://"))]
    if addresses and len(sources) > 1:
        raise UnseenError(f"{addresses[0]} is a server, which has a graph of its own: name no other graph beside it")
    return bool(addresses)


def server_at(sources: Sequence[str], method: str | None) -> Client:
    """A client of the server at an address, with the key of the environment variable UNSEEN_API_KEY."""
    from unseen.client import connect

    if method not in (None, "exact"):
        raise UnseenError("a server answers with its own model: leave out --model and --method, or say `exact`")
    return connect(sources[0], api_key=os.environ.get("UNSEEN_API_KEY"))
