"""How much a server takes: exact and predicted questions from 32 connections, with writes beside them.

Starts `unseen serve` on the embedded graph, on 127.0.0.1, and asks from a process of its own. Prints one JSON line for
each part: exact 2-hop SPARQL; predicted 2-hop questions; both beside ten writes a second, of which each is looked up
again, exactly and among predictions; and predicted questions to two servers in turns, with batching and without.
`processor_ms` is the processor time of the server for one request, which other work on the machine disturbs less.

    python benchmarks/server_load.py [--seconds 60] [--connections 32] [--model edge-type|RUN] [--parts exact predicted]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import unseen

RELATIONS = ("borders", "speaks", "part_of", "uses_currency")
WRITES = 10.0
"""A second."""
TURNS = 6
"""How often each of two servers is asked."""


class Load:
    """Requests of several connections for some time; their times and failures."""

    def __init__(self, url: str, make_request, seconds: float, connections: int) -> None:
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.make_request, self.seconds, self.connections = make_request, seconds, connections
        self.times: list[float] = []
        self.errors: list[str] = []

    async def run(self) -> None:
        """Ask on all connections until the time is over."""
        self.deadline = time.perf_counter() + self.seconds
        await asyncio.gather(*(self.connection(number) for number in range(self.connections)))

    async def connection(self, number: int) -> None:
        """Ask one question after the other."""
        chance = random.Random(number)
        reader, writer = await asyncio.open_connection(self.host, self.port)
        while time.perf_counter() < self.deadline:
            request, check = self.make_request(chance)
            began = time.perf_counter()
            writer.write(request)
            status, body = await answer(reader)
            self.times.append(time.perf_counter() - began)
            if status >= 300 or not check(body):
                self.errors.append(f"{status}: {body[:200]!r}")
        writer.close()

    def report(self) -> dict[str, object]:
        """Rate, times and failures."""
        ordered = sorted(self.times)
        count = len(ordered)
        return {
            "requests": count,
            "rate": round(count / self.seconds, 1),
            "p50_ms": round(1000 * ordered[count // 2], 2),
            "p99_ms": round(1000 * ordered[int(count * 0.99)], 2),
            "worst_ms": round(1000 * ordered[-1], 2),
            "errors": len(self.errors),
            **({"first_error": self.errors[0]} if self.errors else {}),
        }


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    status, _, body = await answer_with_headers(reader)
    return status, body


async def answer_with_headers(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Status, headers by lower-case name, and body of one reply."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length", 0))
    return int(first.split()[1]), headers, await reader.readexactly(length) if length else b""


def exact_requests(graph):
    """2-hop queries in SPARQL; the answer must have as many rows as the library finds."""
    countries = [name for name, relation, _ in graph.triples() if relation == "borders"]
    questions = []
    for country in sorted(set(countries)):
        for relation in RELATIONS:
            formula = f'?x : exists v . borders("{country}", v) & {relation}(v, x)'
            count = unseen.ask(graph, formula, method="exact").known
            sparql = f"SELECT DISTINCT ?x {{ <urn:unseen:{quote(country, safe='')}> :borders/:{relation} ?x }}"
            questions.append((get(f"/query?query={quote(sparql)}"), count))

    def make(chance):
        request, count = chance.choice(questions)
        return request, lambda body: body.count(b'"x":{') == count

    return make


def predicted_requests(graph):
    """2-hop questions to /ask, all countries and relations."""
    countries = sorted({name for name, relation, _ in graph.triples() if relation == "borders"})

    def make(chance):
        question = f'?x : exists v . borders("{chance.choice(countries)}", v) & {chance.choice(RELATIONS)}(v, x)'
        return post("/ask", {"question": question}), lambda body: b'"answers"' in body

    return make


def get(address: str) -> bytes:
    return f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/sparql-results+json\r\n\r\n".encode()


def post(address: str, body: object) -> bytes:
    data = json.dumps(body).encode()
    lines = ["Host: 127.0.0.1", "Content-Type: application/json", f"Content-Length: {len(data)}"]
    return "\r\n".join([f"POST {address} HTTP/1.1", *lines, "", ""]).encode() + data


class Writing:
    """New countries at a steady rate on one connection; each is looked up on another one once its write is answered."""

    def __init__(self, url: str, seconds: float, rate: float) -> None:
        self.parts, self.seconds, self.rate = urlsplit(url), seconds, rate
        self.times: list[float] = []
        self.checked = self.wrong = 0
        self.written: asyncio.Queue[str | None] = asyncio.Queue()

    async def run(self) -> dict[str, object]:
        """Write and look up until the time is over."""
        await asyncio.gather(self.write(), self.look_up())
        ordered = sorted(self.times)
        return {
            "writes": len(ordered),
            "writes_rate": round(len(ordered) / self.seconds, 2),
            "write_p50_ms": round(1000 * ordered[len(ordered) // 2], 2),
            "write_p99_ms": round(1000 * ordered[int(len(ordered) * 0.99)], 2),
            "looked_up": self.checked,
            "wrong": self.wrong,
        }

    async def write(self) -> None:
        """One write at each tick of a clock; what comes late does not move the next one."""
        reader, writer = await asyncio.open_connection(self.parts.hostname, self.parts.port)
        began = time.perf_counter()
        for number in range(int(self.seconds * self.rate)):
            await asyncio.sleep(max(0.0, began + number / self.rate - time.perf_counter()))
            name, sent = f"Newland {random.getrandbits(60):x}", time.perf_counter()
            writer.write(post("/triples", {"triples": [[name, "borders", "France"], [name, "speaks", "French"]]}))
            status, _ = await answer(reader)
            self.times.append(time.perf_counter() - sent)
            self.wrong += status != 200
            self.written.put_nowait(name)
        self.written.put_nowait(None)
        writer.close()

    async def look_up(self) -> None:
        """What was written must be there, exactly and among predictions."""
        reader, writer = await asyncio.open_connection(self.parts.hostname, self.parts.port)
        while (name := await self.written.get()) is not None:
            sparql = f"ASK {{ <urn:unseen:{quote(name, safe='')}> :borders :France }}"
            writer.write(get(f"/query?query={quote(sparql)}"))
            _, exact = await answer(reader)
            writer.write(post("/ask", {"question": f'?x : speaks("{name}", x)', "top": 3}))
            _, predicted = await answer(reader)
            self.wrong += b"true" not in exact or b"French" not in predicted
            self.checked += 1
        writer.close()


async def measured(url: str, make_request, arguments, *, writes: bool) -> dict[str, object]:
    load = Load(url, make_request, arguments.seconds, arguments.connections)
    if not writes:
        await load.run()
        return load.report()
    _, beside = await asyncio.gather(load.run(), Writing(url, arguments.seconds, WRITES).run())
    return {**load.report(), **beside}


@contextmanager
def served(source: str, model: str, *options: str):
    code = "from unseen.cli.main import run; run()"
    words = ["serve", source, "--port", "0", "--model", model, "--quiet", *options]
    process = subprocess.Popen([sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if "listening on" in line:
                yield line.split()[2], process.pid
                break
        else:
            raise SystemExit(f"the server did not start: {line}")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def resident_megabytes(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def part(name: str, url: str, process: int, make_request, arguments, *, writes: bool) -> dict[str, object]:
    before, began = resident_megabytes(process), processor_seconds(process)
    report = asyncio.run(measured(url, make_request, arguments, writes=writes))
    report["processor_ms"] = round(1000 * (processor_seconds(process) - began) / report["requests"], 3)
    line = {"benchmark": f"server_load {name}", **report, "memory_mb": [before, resident_megabytes(process)]}
    line["load"] = round(os.getloadavg()[0], 1)
    print(json.dumps(line), flush=True)
    return report


def batching(folder: str, make_request, arguments) -> None:
    """Two servers side by side, with batching and without, asked in turns, so that other work slows both alike."""
    slices = argparse.Namespace(seconds=arguments.seconds / TURNS, connections=arguments.connections)
    warm = argparse.Namespace(seconds=2, connections=arguments.connections)
    with (
        served(f"{folder}/0.db", arguments.model) as (url, process),
        served(f"{folder}/1.db", arguments.model, "--max-batch", "1") as (other_url, other_process),
    ):
        servers = [("predicted, batching", url, process), ("predicted, no batching", other_url, other_process)]
        for _, address, _ in servers:
            asyncio.run(measured(address, make_request, warm, writes=False))
        turns = [[part(*server, make_request, slices, writes=False) for server in servers] for _ in range(TURNS)]
    line: dict[str, object] = {"benchmark": "server_load batching", "model": arguments.model}
    for key, better in (("rate", 0), ("processor_ms", 1)):
        ratios = sorted(float(turn[better][key]) / float(turn[1 - better][key]) for turn in turns)
        line[f"{key}_ratio_median"] = round((ratios[(TURNS - 1) // 2] + ratios[TURNS // 2]) / 2, 2)
        line[f"{key}_ratio_range"] = [round(ratios[0], 2), round(ratios[-1], 2)]
    print(json.dumps(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--model", default="edge-type")
    parser.add_argument("--parts", nargs="*", default=["exact", "predicted", "writes", "batching"])
    arguments = parser.parse_args()
    graph = unseen.load("countries")
    exact, predicted = exact_requests(graph), predicted_requests(graph)
    with tempfile.TemporaryDirectory(prefix="unseen-load-") as folder:
        for number in range(2):
            code = "from unseen.cli.main import run; run()"
            words = ["db", "create", f"{folder}/{number}.db", "countries"]
            subprocess.run([sys.executable, "-c", code, *words], check=True)
        with served(f"{folder}/0.db", arguments.model) as (url, process):
            warm = argparse.Namespace(seconds=3, connections=arguments.connections)
            asyncio.run(measured(url, exact, warm, writes=False))
            asyncio.run(measured(url, predicted, warm, writes=False))
            if "exact" in arguments.parts:
                part("exact 2-hop", url, process, exact, arguments, writes=False)
            if "predicted" in arguments.parts:
                part("predicted 2-hop", url, process, predicted, arguments, writes=False)
            if "writes" in arguments.parts:
                part("exact beside 10 writes/s", url, process, exact, arguments, writes=True)
                part("predicted beside 10 writes/s", url, process, predicted, arguments, writes=True)
        if "batching" in arguments.parts:
            batching(folder, predicted, arguments)


if __name__ == "__main__":
    main()
