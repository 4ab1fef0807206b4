r"""Trials of pre-training from the command line.

    python -m experiments.pretraining family FOLDER
    python -m experiments.pretraining trial FOLDER --graphs wn18rr codex-m wd50k --data family kinships 175.npz \
        --seconds 170 [--parts 3] [--from without-fb15k-237] [--set relation_states=by_source dim=16]

`family` writes a family tree whose hidden grandparents follow from its parents. `trial` trains and measures, see
`trial.py`.
"""

from __future__ import annotations

import argparse
import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

PEOPLE, GENERATIONS, HIDDEN = 12, 6, 0.1


def main() -> None:
    """The command that was given."""
    options = _parser().parse_args()
    if options.command == "family":
        write_family(options.folder)
    else:
        _trial(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Trials of pre-training.")
    commands = parser.add_subparsers(dest="command", required=True)
    family = commands.add_parser("family", help="write a family tree as train and valid files")
    family.add_argument("folder", type=Path)
    trial = commands.add_parser("trial", help="train for some time and measure")
    trial.add_argument("folder", type=Path)
    trial.add_argument("--graphs", nargs="+", required=True)
    trial.add_argument("--data", nargs="+", type=Path, default=[])
    trial.add_argument("--seconds", type=float, required=True)
    trial.add_argument("--parts", type=int, default=1)
    trial.add_argument("--limit", type=int, default=200, help="triples, or questions of a type")
    trial.add_argument("--from", dest="start")
    trial.add_argument("--share", type=float, default=1.0, help="of the GPU's memory")
    trial.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    return parser


def _trial(options: argparse.Namespace) -> None:
    from experiments.pretraining.trial import Trial
    from unseen.training.pretraining.source_graphs import open_graphs

    if options.share < 1:
        import torch

        torch.cuda.set_per_process_memory_fraction(options.share)
    options.folder.mkdir(parents=True, exist_ok=True)
    settings = dict(_setting(text) for text in options.set)
    graphs, data = open_graphs(options.graphs), options.data
    how = (options.seconds, options.parts, data, options.limit, options.start)
    Trial(graphs, options.folder, settings, *how).run()


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def write_family(folder: Path) -> None:
    """Parents and siblings, and nine of ten grandparents; the others are to be found, most of them in validation."""
    random = np.random.default_rng(0)
    people, parents, siblings = [[f"p0-{number}" for number in range(PEOPLE)]], [], []
    for generation in range(1, GENERATIONS):
        broods = [
            [f"p{generation}-{number}-{child}" for child in range(1 + int(random.integers(3)))]
            for number in range(len(people[-1]))
        ]
        for parent, brood in zip(people[-1], broods, strict=True):
            parents += [(parent, "parent_of", child) for child in brood]
            siblings += [(one, "sibling_of", other) for one in brood for other in brood if one != other]
        people.append(list(chain.from_iterable(broods)))
    child_of = {child: parent for parent, _, child in parents}
    grand = [(child_of[one], "grandparent_of", child) for one, _, child in parents if one in child_of]
    hidden = random.random(len(grand)) < HIDDEN
    known = [fact for fact, is_hidden in zip(grand, hidden, strict=True) if not is_hidden]
    _write(folder / "train.tsv", [*parents, *siblings, *known])
    missing = [fact for fact, is_hidden in zip(grand, hidden, strict=True) if is_hidden]
    _write(folder / "valid.tsv", missing[len(missing) // 4 :])
    _write(folder / "test.tsv", missing[: len(missing) // 4])


def _write(path: Path, facts: list[tuple[str, str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(fact) + "\n" for fact in facts), encoding="utf-8")


if __name__ == "__main__":
    main()
