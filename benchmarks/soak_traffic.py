"""The clients of `server_soak.py`: what each of them sends, how often, and which answers are right."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from server_load import answer_with_headers, get, post

NAMES = 500
"""New countries that come and go, so that the graph stays as large as it is."""
PATIENCE = 120.0
"""Seconds after which an answer counts as lost."""
BOMB = "SELECT * {?a ?b ?c. ?d ?e ?f. ?g ?h ?i} ORDER BY ?a ?d LIMIT 1"
ENDLESS = "SELECT (COUNT(*) AS ?n) {?a ?b ?c. ?d ?e ?f. ?g ?h ?i. ?j ?k ?l}"
Reply = tuple[int, dict[str, str], bytes]
Made = Callable[[random.Random], tuple[bytes, Callable[[bytes], bool]]]


@dataclass
class Tally:
    """What was sent, and what came back that should not have."""

    sent: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    """503 with Retry-After, by kind of request."""
    errors: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def note(self, kind: str, reply: Reply, expected: tuple[int, ...], *, is_right: bool = True) -> bool:
        """Whether a request was answered as it should be; if not, it is counted."""
        status, headers, body = reply
        self.sent[kind] += 1
        if status == 503 and "retry-after" in headers:
            self.refused[kind] += 1
            return False
        if status in expected and is_right:
            return True
        self.fail(kind, f"{status}" if status not in expected else "wrong answer", repr(body[:300]))
        return False

    def fail(self, kind: str, what: str, example: str) -> None:
        """Count an error."""
        self.errors[f"{kind}: {what}"] += 1
        if len(self.examples) < 20:
            self.examples.append(f"{kind}: {what}: {example}")


def sparql(route: str, text: str) -> bytes:
    """A query or an update, posted as it is."""
    kind, body = route.strip("/"), text.encode()
    head = f"POST {route} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/sparql-{kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


BAD: list[tuple[str, bytes, tuple[int, ...]]] = [
    ("syntax", sparql("/query", "SELECT ?x {"), (400,)),
    ("nesting", sparql("/query", "ASK{FILTER(" + "!" * 9_600 + "?a)}"), (200, 400)),
    ("memory", sparql("/query", BOMB), (400, 504)),
    ("service", sparql("/query", "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"), (400, 403)),
    ("update", sparql("/update", "INSERT DATA { :a :b"), (400,)),
    ("name", post("/ask", {"question": "?x : borders(Frnace, x)"}), (400,)),
    ("formula", post("/ask", {"question": "?x : borders(France"}), (400,)),
    ("field", post("/ask", {"question": "?x : borders(France, x)", "tpo": 3}), (400,)),
    ("json", post("/ask", "x").replace(b'"x"', b'{"x'), (400,)),
    ("triples", post("/triples", {"triples": [["a", "b"]]}), (400,)),
    ("path", b"DELETE /store%0A?default HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", (404,)),
    ("method", b"PATCH /query HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", (405,)),
    ("host", b"GET /query?query=ASK%7B%7D HTTP/1.1\r\nHost: evil.example\r\n\r\n", (400, 403, 421)),
    ("http", b"NONSENSE\r\n\r\n", (400,)),
]
"""What must be refused, and with which status."""
TABLE = "SELECT ?l (COUNT(?x) AS ?n) { ?x :speaks ?l } GROUP BY ?l ORDER BY DESC(?n) LIMIT 3"
AGENT = {"name": "ask", "arguments": {"question": "?x : borders(France, x)", "top": 3}}
FRANCE = quote("?x : borders(France, x)")
OTHERS: list[tuple[str, bytes, bytes]] = [
    ("score", post("/score", {"statements": [["France", "borders", "Spain"], "speaks(Peru, Thai)"]}), b'"known":true'),
    ("tuples", post("/ask", {"question": "?x, y : borders(x, y) & speaks(y, Dutch)"}), b"Netherlands, Belgium"),
    ("cycle", post("/ask", {"question": "?x, y, z : borders(x, y) & borders(y, z) & borders(z, x)"}), b"true"),
    ("count", post("/ask", {"question": "count x : borders(x, Monaco)"}), b'"count"'),
    ("table", post("/ask", {"question": TABLE, "exact": True}), b"English"),
    ("reasons", post("/ask", {"question": "?x : borders(Monaco, x)", "explain": True}), b"France"),
    ("ASK", get(f"/query?infer=true&query={quote('ASK { :France :borders :Spain }')}"), b"true"),
    ("page", get("/.json"), b'"best_connected"'),
    ("page entity", get("/entity.json?name=France&predict=2"), b"Spain"),
    ("page why", get(f"/why.json?question={FRANCE}&answer=Spain"), b'"steps"'),
    ("page ask", get(f"/ask.json?question={FRANCE}"), b"Spain"),
    ("csv", get(f"/ask.csv?question={FRANCE}"), b"Spain"),
    ("parquet", get(f"/ask.parquet?question={FRANCE}"), b"PAR1"),
    ("names", get("/entities?search=Fra"), b"France"),
    (
        "agent",
        post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": AGENT}).replace(
            b"Host:", b"Accept: application/json\r\nHost:"
        ),
        b"Spain",
    ),
]
"""One request for each other kind of answer, and what must be in it."""
HALVES = [
    (b"", b""),
    (b"GET /healthz HTTP/1.1\r\nHost: local", b"h"),
    (sparql("/query", "ASK { }" + " " * 1000)[:-1000], b" "),
]
"""What slow clients send first, and what they go on with."""


class Traffic:
    """All clients of one server."""

    def __init__(self, url: str, exact: Made, predicted: Made, triples: int) -> None:
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.exact, self.predicted, self.triples = exact, predicted, triples
        self.tally, self.chance = Tally(), random.Random(7)
        self.present: set[str] = set()
        """New countries whose facts are acknowledged and not removed since."""
        self.writing = asyncio.Lock()
        self.dripping: list[asyncio.Task[None]] = []

    async def run(self, seconds: float, rate: float) -> Tally:
        """Let all clients send for some time; `rate` multiplies how often."""
        self.tally, until = Tally(), time.monotonic() + seconds
        often = [
            *[(24.0 * rate, self.keeping("exact", self.exact)) for _ in range(4)],
            *[(8.0 * rate, self.keeping("predicted", self.predicted)) for _ in range(4)],
            (4.0 * rate, self.write),
            (2.0 * rate, self.update),
            (3.0 * rate, self.bad),
            (4.0 * rate, self.other),
            (0.1, self.backup),
            (1.0 * rate, self.drop),
            (0.5 * rate, self.slow),
            (0.005, self.endless),
        ]
        await asyncio.gather(*(self.at_rate(each, client, until) for each, client in often))
        return self.tally

    async def at_rate(self, rate: float, client: Callable[[], Awaitable[None]], until: float) -> None:
        """One request at each tick of a clock; what comes late moves the next ones."""
        due = time.monotonic() + self.chance.random() / rate
        while due < until:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            try:
                async with asyncio.timeout(PATIENCE):
                    await client()
            except (OSError, EOFError, ValueError, TimeoutError) as error:
                self.tally.fail(getattr(client, "__name__", "client"), type(error).__name__, repr(error))
            due = max(due + self.chance.uniform(0.5, 1.5) / rate, time.monotonic())

    def keeping(self, kind: str, make: Made) -> Callable[[], Awaitable[None]]:
        """A client that asks again and again on one connection."""
        open_ones: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

        async def ask() -> None:
            request, check = make(self.chance)
            if not open_ones:
                open_ones.append(await asyncio.open_connection(self.host, self.port))
            reader, writer = open_ones[0]
            writer.write(request)
            try:
                reply = await answer_with_headers(reader)
            except (OSError, EOFError):
                open_ones.clear()
                raise
            self.tally.note(kind, reply, (200,), is_right=reply[0] != 200 or check(reply[2]))

        ask.__name__ = kind
        return ask

    async def once(self, request: bytes) -> Reply:
        """The reply to one request on a connection of its own."""
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 24)
        try:
            writer.write(request)
            return await answer_with_headers(reader)
        finally:
            writer.close()

    async def write(self) -> None:
        """Facts of a new country come, or go again; both must show at once."""
        await self.change("write", self.by_name)

    async def update(self) -> None:
        """The same by SPARQL Update."""
        await self.change("update", self.by_update)

    async def change(self, kind: str, send: Callable[[str, bool], Awaitable[bool]]) -> None:
        """Add a new country if it is not there, else remove it."""
        name = f"Newland {self.chance.randrange(NAMES)}"
        async with self.writing:  # so that it is known what each look-up must find
            is_there = name in self.present
            if await send(name, not is_there):
                (self.present.discard if is_there else self.present.add)(name)
                await self.look_up(kind, name, not is_there)

    async def by_name(self, name: str, adding: bool) -> bool:
        """Whether two facts were added or removed."""
        request = post("/triples", {"triples": [[name, "borders", "France"], [name, "speaks", "French"]]})
        reply = await self.once(request if adding else request.replace(b"POST", b"DELETE", 1))
        word = b'"added":2' if adding else b'"removed":2'
        kind = "write" if adding else "delete"
        return self.tally.note(kind, reply, (200,), is_right=word in reply[2])

    async def by_update(self, name: str, adding: bool) -> bool:
        """Whether an update was carried out that adds or removes them."""
        iri = f"<urn:unseen:{quote(name, safe='')}>"
        insert, delete = (
            f"INSERT DATA {{ {iri} :borders :France ; :speaks :French }}",
            f"DELETE WHERE {{ {iri} ?p ?o }}",
        )
        text = insert if adding else delete
        return self.tally.note("update", await self.once(sparql("/update", text)), (200, 204))

    async def look_up(self, kind: str, name: str, is_there: bool) -> None:
        """What was acknowledged must be there, exactly and among predictions; what was removed must not."""
        text = f"ASK {{ <urn:unseen:{quote(name, safe='')}> :borders :France }}"
        reply = await self.once(get(f"/query?query={quote(text)}"))
        word = b"true" if is_there else b"false"
        self.tally.note(f"exact after {kind}", reply, (200,), is_right=word in reply[2])
        if is_there:
            reply = await self.once(post("/ask", {"question": f'?x : speaks("{name}", x)', "top": 3}))
            self.tally.note(f"predicted after {kind}", reply, (200,), is_right=b"French" in reply[2])

    async def backup(self) -> None:
        """A copy of the default graph; it has all facts that it must have."""
        async with self.writing:
            request = b"GET /store?default HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/n-triples\r\n\r\n"
            reply = await self.once(request)
            lines = reply[2].count(b" .\n")
            expected = self.triples + 2 * len(self.present)
            self.tally.note("backup", reply, (200,), is_right=lines == expected)

    async def bad(self) -> None:
        """Something that must be refused."""
        name, request, expected = self.chance.choice(BAD)
        self.tally.note(f"bad {name}", await self.once(request), expected)

    async def other(self) -> None:
        """A statement, a table, a view of the page, a call of an agent."""
        name, request, word = self.chance.choice(OTHERS)
        reply = await self.once(request)
        self.tally.note(name, reply, (200,), is_right=word in reply[2])

    async def drop(self) -> None:
        """A request whose client has gone before the answer, or in the middle of its own request."""
        _, writer = await asyncio.open_connection(self.host, self.port)
        request, _ = self.chance.choice((self.exact, self.predicted))(self.chance)
        request = self.chance.choice((request, sparql("/query", ENDLESS), request[: len(request) // 2]))
        writer.write(request)
        await asyncio.sleep(self.chance.choice((0.0, 0.05, 0.3)))
        self.tally.sent["dropped"] += 1
        self.chance.choice((writer.close, writer.transport.abort))()

    async def slow(self) -> None:
        """A client that sends half a request, then single bytes, until the server gives it up; it has its own task."""
        for task in [one for one in self.dripping if one.done()]:
            self.dripping.remove(task)
            task.result()
        self.dripping.append(asyncio.create_task(self.drip()))

    async def drip(self) -> None:
        """Send slowly until the connection is closed."""
        first, more = self.chance.choice(HALVES)
        self.tally.sent["slow"] += 1
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(first)
        reading, began = asyncio.create_task(reader.read()), time.monotonic()
        while not reading.done() and time.monotonic() < began + PATIENCE:
            await asyncio.wait([reading], timeout=3)
            writer.write(more)
        if not reading.done():
            self.tally.fail("slow", "never closed", repr(first[:60]))
            reading.cancel()
        else:
            reading.exception()  # a reset is as good as an end
        writer.close()

    async def endless(self) -> None:
        """A query that only its time limit ends."""
        reply = await self.once(sparql("/query", ENDLESS))
        self.tally.note("endless", reply, (503, 504))
