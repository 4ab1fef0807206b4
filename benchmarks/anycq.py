"""Large cyclic questions (AnyCQ) on a graph with facts missing: easy answers all found, F1 of one answer each.

A question of the file has about 20 atoms. Its label says where an answer was found: `e` easy, `h` hard, `n` none in
the whole graph. On the whole graph (training, validation and test) every `e` and `h` has a known answer. On less, the
system gives its best answer, or none if that is less probable than `--least`: it is right if the file lists it, and a
question that has an answer but got none or a wrong one counts as missed. Choose `--least` on the validation file.

    python benchmarks/anycq.py anycq-fb15k-237.zip query2box-fb15k-237.zip train.tsv.gz --split qar_test_3hub_efo1
"""

from __future__ import annotations

import argparse
import json
import re
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from unseen import UnseenError, load
from unseen.api import ask_all, open_method
from unseen.asking.preparing import prepare
from unseen.datasets.pickles.restricted import Pickled
from unseen.graph import KnowledgeGraph
from unseen.logic.formula import Atom, Conjunction, Constant, Formula, Place, Term, Variable
from unseen.logic.pattern import Pattern, query_or_pattern

_ATOM = re.compile(r"\((r\d+)\(([sef]\d+),([sef]\d+)\)\)")


def pattern_of(text: str, symbols: dict[str, int], names: dict[str, dict[int, str]]) -> Pattern:
    """A formula of the file with the names of the graph."""

    def term(symbol: str) -> Term:
        return Constant(names["e"][symbols[symbol]]) if symbol[0] == "s" else Variable(symbol)

    atoms: list[Formula] = []
    for relation, head, tail in _ATOM.findall(text):
        sign, name = names["r"][symbols[relation]][:1], names["r"][symbols[relation]][1:]
        ends = (term(head), term(tail)) if sign == "+" else (term(tail), term(head))
        atoms.append(Atom(name, *ends, Place()))
    free = sorted({s for _, *ends in _ATOM.findall(text) for s in ends if s[0] == "f"})
    return Pattern(Conjunction(tuple(atoms), Place()), tuple(Variable(name) for name in free), text)


def read(path: str, split: str, labels: str) -> tuple[list[dict[str, Any]], dict[str, dict[int, str]]]:
    """The questions of a split, and the names behind the numbers."""
    with zipfile.ZipFile(path) as archive:
        index = json.loads(archive.read("kgindex.json"))
        found = json.loads(archive.read(f"{split}.json"))
    with zipfile.ZipFile(labels) as archive:
        entities = Pickled(archive.read("ind2ent.pkl"), Path(labels)).plain()
    names = {"e": entities, "r": {number: name for name, number in index["r"].items()}}
    rows = [
        {"text": text, "symbols": symbols, "answers": answers, "label": label}
        for text, instances in found.items()
        for symbols, answers, label in instances
    ]
    return rows, names


def answered(graph: KnowledgeGraph, row: dict[str, Any], names: Any, method: Any) -> dict[str, Any]:
    """The first known answer, or the best predicted one with its probability."""
    question = prepare(graph, query_or_pattern(pattern_of(row["text"], row["symbols"], names)), top=1)
    began = time.process_time()
    (found,) = ask_all(graph, [question], method, "")
    best = found[0] if len(found) else None
    keys = None if best is None else (tuple(best.keys.values()) or (best.key,))
    return {"best": best, "keys": keys, "seconds": time.process_time() - began}


def is_right(row: dict[str, Any], keys: tuple[str, ...], names: dict[str, dict[int, str]]) -> bool:
    """Whether a tuple is among the answers of the file."""
    (listed,) = list(row["answers"].values())[:1]
    return list(keys) in [[names["e"][number] for number in one] for one in listed]


def main() -> None:
    """Print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("entities", help="an archive with ind2ent.pkl, the names of the entities")
    parser.add_argument("graph", nargs="+")
    parser.add_argument("--split", default="qar_valid_3hub_efo1")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--method", default="rules")
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    graph = load(*options.graph)
    method = None if options.method == "exact" else open_method(options.method)
    rows, names = read(options.archive, options.split, options.entities)
    chosen = np.random.default_rng(options.seed).permutation(len(rows))[: options.questions]
    counts: Counter[str] = Counter()
    seconds = []
    for place in chosen.tolist():
        row = rows[place]
        counts[row["label"]] += 1
        try:
            result = answered(graph, row, names, method)
        except UnseenError as error:
            counts["refused"] += 1
            counts[str(error)[:80]] += 1
            counts["missed"] += row["label"] != "n"
            continue
        seconds.append(result["seconds"])
        best = result["best"]
        if best is None or best.probability < options.least:
            counts["missed"] += row["label"] != "n"
        elif is_right(row, result["keys"], names):
            counts["right"] += 1
            counts["easy_found" if best.known else "hard_found"] += 1
        else:
            counts["wrong"] += 1
            counts["missed"] += row["label"] != "n"
    total = 2 * counts["right"] + counts["wrong"] + counts["missed"]
    line = {
        "split": options.split,
        "method": options.method,
        **counts,
        "f1": round(2 * counts["right"] / max(1, total), 4),
        "cpu_seconds_median": round(float(np.median(seconds)), 3) if seconds else None,
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
