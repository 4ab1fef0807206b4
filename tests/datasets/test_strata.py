from __future__ import annotations

import numpy as np
import pytest

from tests.datasets.random_graphs import graphs_with_missing_edges, random_edges
from tests.graph.graphs import graph_of
from unseen.datasets.program import positive_links
from unseen.datasets.sampling import strata
from unseen.datasets.sampling.sample import SampleOptions
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.datasets.sampling.strata import sample_strata
from unseen.datasets.table_hardness import table_hardness
from unseen.logic.shapes import SHAPES


@pytest.fixture(scope="module")
def graphs() -> SplitGraphs:
    return graphs_with_missing_edges()


@pytest.mark.parametrize("name", ["1p", "2p", "3i", "pi", "up", "3in", "2u"])
def test_hard_samples_have_equal_strata(graphs: SplitGraphs, name: str) -> None:
    shape = SHAPES[name]
    links = positive_links(shape.skeleton)
    found = sample_strata(graphs, shape, 24, SampleOptions(hard=True))
    table = found.table
    needed = table_hardness(graphs.complete, graphs.observed, shape, table.slots, table.hard)
    strata_of_queries = [set(part.tolist()) for part in np.split(needed, table.hard.offsets[1:-1])]
    assert strata_of_queries == [{s} for s in range(1, links + 1) for _ in range(24 // links)]
    pairs = np.bincount(needed, minlength=links + 1)[1:]
    assert pairs.max() <= pairs[-1]


def test_a_stratum_that_runs_dry_shortens_the_others() -> None:
    complete = graph_of(random_edges(7, 60, 20, 12).tolist(), 20, 12)
    graphs = SplitGraphs("test", complete.restricted_to(np.arange(complete.num_triples) % 4 > 0), complete)
    found = sample_strata(graphs, SHAPES["2i"], 10_000, SampleOptions(hard=True))
    needed = table_hardness(graphs.complete, graphs.observed, SHAPES["2i"], found.table.slots, found.table.hard)
    first_of_query = needed[found.table.hard.offsets[:-1]]
    assert 0 < len(found.table) < 10_000
    assert (first_of_query == 1).sum() == (first_of_query == 2).sum()
    assert "of 10,000 queries: there are no more" in str(found.shortfall)


def test_hard_samples_are_not_dominated_by_a_relation_or_an_anchor(graphs: SplitGraphs) -> None:
    shape = SHAPES["2i"]
    limits = strata.largest_shares(graphs, shape)
    table = sample_strata(graphs, shape, 60, SampleOptions(hard=True)).table
    pairs = table.hard.lengths
    for stratum in (slice(0, 30), slice(30, 60)):
        for kind, columns in (("r", [1, 3]), ("e", [0, 2])):
            values = table.slots[stratum][:, columns] // (2 if kind == "r" else 1)
            for value in np.unique(values):
                share = pairs[stratum][(values == value).any(axis=1)].sum() / pairs[stratum].sum()
                assert share <= limits[kind] + 1e-9


def test_a_fifth_is_the_largest_share_unless_there_are_too_few_relations(graphs: SplitGraphs) -> None:
    assert strata.largest_shares(graphs, SHAPES["2i"]) == {"r": 0.2, "e": 0.2}
    few = graph_of(random_edges(6, 100, 60, 6).tolist(), 60, 6)
    assert strata.largest_shares(SplitGraphs("test", few, few), SHAPES["2i"])["r"] == pytest.approx(2 / 3)
