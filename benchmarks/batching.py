"""What batching is worth to a model: questions a second when each is asked alone, and when many share one call.

Prints one JSON line for each size of batch, with the ratio to asking one by one. It needs no server, so that it also
runs on machines with a GPU and little else; `server_load.py` measures the same through HTTP.

    python benchmarks/batching.py [--graph countries] [--model edge-type|RUN] [--questions 256]
"""

from __future__ import annotations

import argparse
import json
import random
import time

import unseen
from unseen.api import ask_all, open_method
from unseen.asking.answers import Question
from unseen.asking.preparing import prepare
from unseen.errors import QueryRefused
from unseen.logic.algebra import Anchor, Project


def questions(graph: unseen.KnowledgeGraph, method: object, count: int) -> list[Question]:
    """2-hop questions from random edges: different ones, as different people would ask."""
    chance = random.Random(0)
    triples = list(graph.triples())
    relations = [r for r in sorted({relation for _, relation, _ in triples}) if is_known(graph, method, r, triples)]
    triples = [triple for triple in triples if triple[1] in relations]
    texts = set()
    while len(texts) < count:
        head, relation, _ = chance.choice(triples)
        quoted = [json.dumps(name, ensure_ascii=False) for name in (head, relation, chance.choice(relations))]
        texts.add("?x : exists v . {1}({0}, v) & {2}(v, x)".format(*quoted))
    return [prepare(graph, text) for text in sorted(texts)]


def is_known(graph: unseen.KnowledgeGraph, method: object, relation: str, triples: list) -> bool:
    """Whether the model has learned a relation."""
    head = next(head for head, found, _ in triples if found == relation)
    try:
        ask_all(graph, [prepare(graph, Project(relation, Anchor(head)))], method, "model")
    except QueryRefused:
        return False
    return True


def rate(graph: unseen.KnowledgeGraph, asked: list[Question], method: object, size: int) -> float:
    began = time.perf_counter()
    for start in range(0, len(asked), size):
        ask_all(graph, asked[start : start + size], method, "model")
    return len(asked) / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="countries")
    parser.add_argument("--model", default="edge-type")
    parser.add_argument("--questions", type=int, default=256)
    arguments = parser.parse_args()
    graph, method = unseen.load(arguments.graph), open_method(arguments.model)
    asked = questions(graph, method, arguments.questions)
    rate(graph, asked[:64], method, 32)
    alone = rate(graph, asked, method, 1)
    for size in (1, 8, 32, 64):
        found = alone if size == 1 else rate(graph, asked, method, size)
        line = {"benchmark": "batching", "model": arguments.model, "batch": size, "rate": round(found, 1)}
        print(json.dumps({**line, "ratio": round(found / alone, 2)}), flush=True)


if __name__ == "__main__":
    main()
