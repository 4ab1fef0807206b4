"""The published formats: what programs of this field read from our files, and what we read back."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.datasets.published_files import STRUCTURES, exported, load
from tests.datasets.small_dataset import assert_same, disjoint_dataset, inductive_dataset, transductive_dataset
from unseen.datasets.dataset import SPLITS
from unseen.datasets.published import FORMATS, export_dataset, import_dataset
from unseen.datasets.published.structures import Numbering, shape_of_structure, structure_of_shape
from unseen.errors import DatasetError, QueryRefused
from unseen.logic.shapes import SHAPES
from unseen.logic.traverse import answers
from unseen.logic.tuples import from_tuple

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def inductive(tmp_path: Path) -> Path:
    return exported(inductive_dataset(), tmp_path / "small", "inductiveqe")


@pytest.fixture
def betae(tmp_path: Path) -> Path:
    return exported(transductive_dataset(), tmp_path / "growing", "betae")


@pytest.fixture
def query2box(tmp_path: Path) -> Path:
    return exported(transductive_dataset(), tmp_path / "growing", "query2box")


class TestStructures:
    @pytest.mark.parametrize(("name", "structure"), STRUCTURES.items())
    def test_every_published_structure_is_its_shape(self, name: str, structure: tuple) -> None:
        assert shape_of_structure(structure) is SHAPES[name]
        assert structure_of_shape(SHAPES[name]) == structure

    def test_de_morgans_form_of_a_union_is_a_shape_of_its_own(self) -> None:
        shape = shape_of_structure(((("e", ("r", "n")), ("e", ("r", "n"))), ("n",)))
        assert (shape.template, shape.slots) == ("!(!e/r & !e/r)", "erer")

    def test_branches_in_another_order_are_not_mistaken_for_the_named_shape(self) -> None:
        shape = shape_of_structure((("e", ("r",)), ("e", ("r", "r"))))
        assert shape.name == shape.template == "e/r & e/r/r"

    @pytest.mark.parametrize("structure", [("e", ("x",)), (), "e", 5, ("e", ("r", 1)), None])
    def test_other_things_are_no_structures(self, structure: object) -> None:
        with pytest.raises(QueryRefused):
            shape_of_structure(structure)

    @pytest.mark.parametrize(("in_blocks", "published"), [(True, [0, 3, 1, 4, 2, 5]), (False, [0, 1, 2, 3, 4, 5])])
    def test_directed_relations_are_translated_both_ways(self, in_blocks: bool, published: list[int]) -> None:
        numbering = Numbering(6, in_blocks)
        ours = np.arange(6)
        assert numbering.to_published(ours).tolist() == published
        assert numbering.to_ours(np.array(published)).tolist() == ours.tolist()


class TestRoundTrips:
    @pytest.mark.parametrize("suffix", ["", ".zip"])
    def test_inductiveqe(self, tmp_path: Path, suffix: str) -> None:
        path = exported(inductive_dataset(), tmp_path / f"x{suffix}", "inductiveqe")
        assert_same(inductive_dataset(), import_dataset(path))

    @pytest.mark.parametrize("suffix", ["", ".zip"])
    @pytest.mark.parametrize("form", ["betae", "query2box", "inductiveqe"])
    def test_a_growing_graph(self, tmp_path: Path, suffix: str, form: str) -> None:
        whole = transductive_dataset()
        if form == "query2box":
            positive = {s: {n: t for n, t in whole.tables[s].items() if not t.shape.has_negation} for s in SPLITS}
            whole = whole.with_queries(positive, {})
        assert_same(whole, import_dataset(exported(whole, tmp_path / f"x{suffix}", form)))

    def test_npz_gives_the_answers_again(self, tmp_path: Path) -> None:
        path = exported(inductive_dataset(), tmp_path / "x.npz", "npz")
        again = import_dataset(path)
        assert_same(inductive_dataset(), again, names=False)
        assert again.manifest["answers"] == "published"
        assert "false in the complete graph" in again.manifest["answers_mean"]

    def test_all_answers_are_those_of_traversal(self, inductive: Path) -> None:
        dataset = import_dataset(inductive)
        for split in SPLITS:
            observed, complete = dataset.observed(split), dataset.complete(split)
            for table in dataset.tables[split].values():
                for row in range(len(table)):
                    easy = answers(observed, table.query(row))
                    assert table.easy.row(row).tolist() == easy.tolist()
                    hard = np.setdiff1d(answers(complete, table.query(row)), easy)
                    assert table.hard.row(row).tolist() == hard.tolist()

    def test_exports_of_equal_data_are_equal_bytes(self, tmp_path: Path) -> None:
        paths = [exported(inductive_dataset(), tmp_path / f"{name}.zip", "inductiveqe") for name in "ab"]
        assert paths[0].read_bytes() == paths[1].read_bytes()


class TestWhatOthersRead:
    """Our files under Python's own pickle module, with the assumptions of the published programs."""

    def test_graph_files_have_forward_edges_then_their_inverses(self, inductive: Path) -> None:
        split, relations = inductive_dataset().split, inductive_dataset().vocabulary.num_relations
        text = (inductive / "val_inference.txt").read_text()
        lines = [tuple(map(int, line.split())) for line in text.split("\n")]
        forward = [tuple(row) for row in split.valid_inference.tolist()]
        assert lines == forward + [(tail, relation + relations, head) for head, relation, tail in forward]

    def test_the_stats_count_new_entities_only(self, inductive: Path) -> None:
        dataset = inductive_dataset()
        old = len(dataset.candidates("train"))
        new = [len(dataset.candidates(side)) - old for side in ("valid", "test")]
        assert (inductive / "stats.txt").read_text().splitlines() == [
            f"numentity: {dataset.vocabulary.num_entities}",
            f"numrelations: {dataset.vocabulary.num_directed_relations}",
            f"entities in train: {old}",
            f"entities in validation: {new[0]}",
            f"entities in test: {new[1]}",
        ]

    @pytest.mark.parametrize("split", SPLITS)
    def test_queries_and_nested_answers_agree(self, inductive: Path, split: str) -> None:
        queries = load(inductive / f"{split}_queries.pkl")
        hard = load(inductive / f"{split}_answers_hard.pkl")
        assert type(queries) is type(hard) is collections.defaultdict
        assert set(queries) == set(hard) == set(STRUCTURES.values())
        dataset = inductive_dataset()
        relations = dataset.vocabulary.num_relations
        for structure, found in queries.items():
            assert type(found) is set
            assert found == set(hard[structure])
            for query in found:
                ours = from_tuple(query, lambda r: 2 * (r % relations) + r // relations)
                truth = set(answers(dataset.complete(split), ours).tolist())
                expected = truth if split == "train" else truth - set(answers(dataset.observed(split), ours).tolist())
                assert hard[structure][query] == expected

    @pytest.mark.parametrize("file", ["train_answers_val", "train_answers_valid", "train_answers_test"])
    def test_answer_lists_follow_the_order_of_the_readers_set(self, inductive: Path, file: str) -> None:
        queries, lists = load(inductive / "train_queries.pkl"), load(inductive / f"{file}.pkl")
        dataset = inductive_dataset()
        relations = dataset.vocabulary.num_relations
        graph = dataset.observed("test" if file.endswith("test") else "valid")
        for structure in queries:
            assert len(lists[structure]) == len(queries[structure])
            for query, found in zip(queries[structure], lists[structure], strict=True):
                ours = from_tuple(query, lambda r: 2 * (r % relations) + r // relations)
                assert found == set(answers(graph, ours).tolist())

    def test_betae_answers_are_flat_and_relations_alternate(self, betae: Path) -> None:
        dataset = transductive_dataset()
        names = load(betae / "id2rel.pkl")
        assert names[3] == "-" + dataset.vocabulary.relations.key(1)
        assert load(betae / "rel2id.pkl")[names[3]] == 3
        easy = load(betae / "test-easy-answers.pkl")
        for queries in load(betae / "test-queries.pkl").values():
            for query in queries:
                assert easy[query] == set(answers(dataset.observed("test"), from_tuple(query)).tolist())
        training = load(betae / "train-queries.pkl").values()
        assert set(load(betae / "train-answers.pkl")) == {query for queries in training for query in queries}

    def test_query2box_files_have_their_flat_forms(self, query2box: Path) -> None:
        table = transductive_dataset().tables["test"]["ip"]
        head, relation, other, second, last = table.slots[0].tolist()
        key = ((head, (relation,)), (other, (second,)), last)
        assert load(query2box / "test_triples_ic.pkl")[0] == (*key, 0, "inter-chain")
        full, hard = load(query2box / "test_ans_ic.pkl"), load(query2box / "test_ans_ic_hard.pkl")
        assert hard[key] == set(table.hard.row(0).tolist())
        assert full[key] == hard[key] | set(table.easy.row(0).tolist())
        chain = transductive_dataset().tables["test"]["2p"].slots[0].tolist()
        assert load(query2box / "test_triples_2c.pkl")[0] == ((chain[0], tuple(chain[1:]), 0), "2-chain")

    def test_what_a_format_cannot_hold_is_refused_or_said(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"2in, 3in, inp, pin, pni; --types 1p,2p,3p,2i,3i,ip,pi,2u,up"):
            export_dataset(transductive_dataset(), tmp_path / "q2b", "query2box")
        (remark,) = export_dataset(inductive_dataset(), tmp_path / "x.npz", "npz")
        assert "answers are left out" in remark

    @pytest.mark.parametrize("form", ["betae", "query2box"])
    def test_new_entities_do_not_fit_a_growing_graph(self, tmp_path: Path, form: str) -> None:
        with pytest.raises(DatasetError, match="use --format inductiveqe"):
            export_dataset(inductive_dataset(), tmp_path / "x", form)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(("form", "file"), [("inductiveqe", "x.zip"), ("npz", "x.npz"), ("betae", "x")])
    def test_a_disjoint_dataset_fits_no_published_format(self, tmp_path: Path, form: str, file: str) -> None:
        with pytest.raises(DatasetError, match="a disjoint dataset does not fit; its dataset folder is the one format"):
            export_dataset(disjoint_dataset(), tmp_path / file, form)
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_overwritten(self, inductive: Path) -> None:
        with pytest.raises(DatasetError, match="already exists"):
            export_dataset(inductive_dataset(), inductive, "inductiveqe")

    def test_an_unknown_format_names_the_known_ones(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=", ".join(FORMATS)):
            export_dataset(inductive_dataset(), tmp_path / "x", "csv")
