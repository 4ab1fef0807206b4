r"""Fits the numbers that combine a network with rules, and writes them beside its weights.

    python -m experiments.combining MODEL --data family kinships umls nations 106.npz 175.npz 550.npz [--triples 500]

Validation links of the data are asked for, the training triples observed. MODEL is the folder of a network, as
`unseen models average` or `unseen pretrain` leave it; ceiling and powers stay what they were in its `combination.json`,
or are those of the shipped model.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from experiments.combining.fitting import Rows, fit, ranks, weights_of
from experiments.combining.hidden_links import HiddenLinks, collected
from experiments.pretraining.trial import dataset_of
from unseen.methods.combination import Combination
from unseen.methods.combined import Combined
from unseen.methods.mined_rules import MinedRules
from unseen.methods.zero_shot.zero_shot import ZeroShot
from unseen.models.checkpoint import read_json, write_json
from unseen.models.model_folder import COMBINATION, RULE_MEMBERS, find_model, open_model


def main() -> None:
    """Ask every graph, fit, and write."""
    options = _parser().parse_args()
    folder = find_model(options.model).path
    before = _before(folder)
    opened = open_model(options.model, device=options.device)
    network = opened.beside_rules if isinstance(opened, Combined) else opened
    if not isinstance(network, ZeroShot):
        raise SystemExit(f"{options.model} is not a network for any graph: name a zero-shot model")
    method = Combined(network, MinedRules(members=RULE_MEMBERS), before)
    graphs = {}
    for path in options.data:
        links = HiddenLinks.of_dataset(path.name, dataset_of(path))
        found = collected(method, links, options.triples)
        if found:
            graphs[path.name] = found
        sys.stdout.write(f"{path.name}: {len(found.get('many', ()))} sources and sets\n")
    fitted = fit(graphs, device=str(network.device))
    for name, found in graphs.items():
        rows = Rows({name: found})
        shown = [f"{100 * one[0]:.1f}" for one in (ranks(weights_of(way), rows) for way in (before, fitted))]
        sys.stdout.write(f"{name}: MRR {shown[0]} before, {shown[1]} fitted\n")
    about = {"graphs": list(graphs), "hidden": f"validation triples, up to {options.triples} of a graph"}
    kept = {name: getattr(before, name) for name in ("ceiling", "sharpness", "inner_sharpness")}
    write_json(options.output or folder / COMBINATION, replace(fitted, **kept, about=about).to_json())


def _before(folder: Path) -> Combination:
    own = folder / COMBINATION
    return Combination.from_json(read_json(own if own.exists() else find_model("default").path / COMBINATION))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Fit the numbers that combine a network with rules.")
    parser.add_argument("model", help="a shipped model or the folder of one")
    parser.add_argument("--data", nargs="+", type=Path, required=True, help="folders of triples, or .npz files")
    parser.add_argument("--triples", type=int, default=500, help="hidden triples of each graph, from both ends")
    parser.add_argument("--device", default="auto")
    parser.add_argument("-o", "--output", type=Path, help="where to write; the model's own file by default")
    return parser


if __name__ == "__main__":
    main()
