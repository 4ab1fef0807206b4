"""How good predicted values are: hidden values against intervals of 80 %, and errors against medians.

    python benchmarks/predicted_values.py train.tsv.gz --values numbers.tsv.gz --parts 10
    python benchmarks/predicted_values.py debian-core.tsv --values debian-numbers.tsv --parts 1

Values are hidden a tenth at a time, `--parts` times (10: each value once). One JSON line for each attribute with 100
values or more, with the share of hidden values inside of their interval (coverage) and the median of absolute errors:
of the prediction, of the median of the attribute, and of the median of entities with the same most telling role.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np

import unseen
from unseen.graph.attributes import Attributes
from unseen.logic.value_prediction.predictor import predicted_values
from unseen.logic.value_prediction.traits import numbers_of, roles


def main() -> None:
    """Measure all attributes, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--values", action="append", default=[])
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--least", type=int, default=100)
    parser.add_argument("--attribute", action="append")
    options = parser.parse_args()
    graph = unseen.load(*options.graphs, values=options.values)
    sizes = np.diff(graph.attributes.offsets)
    inside = []
    for attribute in np.argsort(-sizes, kind="stable").tolist():
        name = graph.attributes.names.name(attribute)
        if sizes[attribute] < options.least or (options.attribute and name not in options.attribute):
            continue
        found = measured(graph, attribute, options.parts)
        inside.append(0.75 <= found["coverage"] <= 0.85)
        write({"attribute": name, "values": int(sizes[attribute]), **found})
    write({"attributes": len(inside), "coverage from 75 to 85 %": sum(inside), "parts": options.parts})


def measured(graph: unseen.KnowledgeGraph, attribute: int, parts: int) -> dict[str, float]:
    """The numbers of one attribute."""
    known = numbers_of(graph, attribute)
    part = np.random.default_rng(0).permutation(len(known.entities)) % 10
    rows, seconds = [], time.process_time()
    for number in range(parts):
        hidden = known.entities[part == number]
        rest = without(graph, attribute, hidden)
        found = predicted_values(rest, attribute, hidden)
        if found is None:
            continue
        low, middle, high = found.intervals()
        truth = known.values[part == number]
        kept = numbers_of(rest, attribute)
        simple = np.full(len(truth), np.median(kept.values))
        rows.append(np.stack([truth, low, middle, high, simple, median_of_kind(rest, attribute, hidden)]))
    truth, low, middle, high, simple, kind = np.concatenate(rows, axis=1)
    errors = {"prediction": middle, "median": simple, "median of the kind": kind}
    covered = (low <= truth) & (truth <= high)
    return {
        "hidden": len(truth),
        "coverage": round(float(covered.mean()), 3),
        **{name: float(f"{np.median(np.abs(guess - truth)):.4g}") for name, guess in errors.items()},
        "seconds": round(time.process_time() - seconds, 1),
    }


def without(graph: unseen.KnowledgeGraph, attribute: int, hidden: np.ndarray) -> unseen.KnowledgeGraph:
    """The graph without the values of an attribute of some entities."""
    values = graph.attributes
    kept = (values.attributes != attribute) | ~np.isin(values.entities, hidden)
    columns = (values.entities[kept], values.attributes[kept], values.values[kept])
    return graph.with_attributes(Attributes(values.names, *columns, values.literals))


def median_of_kind(graph: unseen.KnowledgeGraph, attribute: int, wanted: np.ndarray) -> np.ndarray:
    """For each entity the median of those that share its rarest role, if five of them have a value."""
    known = numbers_of(graph, attribute)
    entities, directed = roles(graph)
    place = np.searchsorted(known.entities, entities)
    has_value = known.entities[np.minimum(place, len(known.entities) - 1)] == entities
    by_role = {
        role: known.values[place[has_value & (directed == role)]] for role in np.unique(directed[has_value]).tolist()
    }
    found = np.full(len(wanted), np.median(known.values))
    for row, entity in enumerate(wanted.tolist()):
        own = [by_role[role] for role in directed[entities == entity].tolist() if len(by_role.get(role, ())) >= 5]
        if own:
            found[row] = np.median(min(own, key=len))
    return found


def write(row: dict[str, object]) -> None:
    """One line of JSON."""
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
