"""What a server does when more predicted questions come at once than it can answer in time.

Starts `unseen serve` on a database, on 127.0.0.1, and sends two-hop questions, sampled from its graph, all at the same
moment. Whoever is refused with Retry-After comes again after that time. Prints one JSON line for each round and one for
the whole: how many were answered, refused at once, too slow (504); how long the refusals took; and how long `/healthz`
took meanwhile, asked five times a second.

    python benchmarks/server_burst.py DATABASE [--questions 20] [--model default] [--time-limit 30] [--rounds 20]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import time
from urllib.parse import urlsplit

import unseen
from server_load import answer_with_headers, post, processor_seconds, served


def two_hops(path: str, count: int, seed: int) -> list[str]:
    """Different questions that follow two edges of the graph, so that each has a known answer."""
    graph, chance = unseen.load(path), random.Random(seed)
    name, relation = graph.vocabulary.entity_name, graph.vocabulary.relations.name
    texts: set[str] = set()
    while len(texts) < count:
        first = chance.randrange(graph.num_triples)
        middle = int(graph.tails[first])
        onward = (graph.heads == middle).nonzero()[0].tolist()[:50]
        if onward:
            names = (
                name(int(graph.heads[first])),
                relation(int(graph.relations[first])),
                relation(int(graph.relations[chance.choice(onward)])),
            )
            quoted = [json.dumps(one, ensure_ascii=False) for one in names]
            texts.add("?x : exists v . {1}({0}, v) & {2}(v, x)".format(*quoted))
    return sorted(texts)


async def asked(url: str, question: str) -> dict[str, object]:
    """The status of one question, how long it took, and when to come again."""
    parts, began = urlsplit(url), time.perf_counter()
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(post("/ask", {"question": question}))
    status, headers, body = await answer_with_headers(reader)
    writer.close()
    again = int(headers.get("retry-after", 0))
    return {
        "question": question,
        "status": status,
        "seconds": time.perf_counter() - began,
        "again": again,
        "body": body,
    }


async def health(url: str, times: list[float]) -> None:
    """Ask five times a second whether the server is well, until cancelled."""
    parts = urlsplit(url)
    while True:
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await answer_with_headers(reader)
        writer.close()
        times.append(time.perf_counter() - began)
        await asyncio.sleep(0.2)


async def patient(url: str, question: str, rounds: int, seen: list[dict[str, object]]) -> None:
    """Ask until answered, and come again when told so."""
    for _ in range(rounds):
        reply = await asked(url, question)
        seen.append(reply)
        if reply["status"] != 503:
            return
        await asyncio.sleep(float(str(reply["again"])))


def summary(seen: list[dict[str, object]], health_times: list[float]) -> dict[str, object]:
    """Counts and times of all replies."""
    statuses: dict[str, int] = {}
    for reply in seen:
        statuses[str(reply["status"])] = statuses.get(str(reply["status"]), 0) + 1
    refused = [float(str(reply["seconds"])) for reply in seen if reply["status"] == 503]
    good = [float(str(reply["seconds"])) for reply in seen if reply["status"] == 200]
    ordered = sorted(health_times)
    return {
        "statuses": statuses,
        "slowest_refusal_ms": round(1000 * max(refused, default=0.0), 1),
        "slowest_answer_s": round(max(good, default=0.0), 2),
        "health_p50_ms": round(1000 * ordered[len(ordered) // 2], 1),
        "health_worst_ms": round(1000 * ordered[-1], 1),
        "load": round(os.getloadavg()[0], 1),
    }


async def burst(url: str, questions: list[str], rounds: int) -> dict[str, object]:
    """Send all questions at once, then let the refused ones come again."""
    health_times: list[float] = []
    watching = asyncio.create_task(health(url, health_times))
    began, seen = time.perf_counter(), []
    await asyncio.gather(*(patient(url, question, rounds, seen) for question in questions))
    watching.cancel()
    bad = [reply["body"] for reply in seen if reply["status"] not in (200, 503)]
    answered = {reply["question"] for reply in seen if reply["status"] == 200}
    return {
        "questions": len(questions),
        "answered": len(answered),
        "requests": len(seen),
        "seconds": round(time.perf_counter() - began, 1),
        **summary(seen, health_times),
        **({"first_other": str(bad[0])[:300]} if bad else {}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--model", default="default")
    parser.add_argument("--time-limit", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=20, help="how often a refused question comes again")
    parser.add_argument("--bursts", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    questions = two_hops(arguments.database, arguments.questions * arguments.bursts, arguments.seed)
    with served(arguments.database, arguments.model, "--time-limit", str(arguments.time_limit)) as (url, process):
        for number in range(arguments.bursts):
            some = questions[number :: arguments.bursts]
            began = processor_seconds(process)
            report = asyncio.run(burst(url, some, arguments.rounds))
            report["processor_s"] = round(processor_seconds(process) - began, 1)
            print(json.dumps({"benchmark": f"server_burst {number + 1}", **report}), flush=True)


if __name__ == "__main__":
    main()
