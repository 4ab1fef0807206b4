"""The published formats: what programs of this field would read from our files, and what we read from theirs."""

from __future__ import annotations

import collections
import os
import pickle
import shutil
import stat
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.benchmark.small_dataset import (
    QUERIES,
    assert_same,
    disjoint_dataset,
    inductive_dataset,
    transductive_dataset,
)
from unseen.benchmark.dataset import SPLITS, Dataset
from unseen.benchmark.published import FORMATS, export_dataset, import_dataset
from unseen.benchmark.published_structures import Numbering, shape_of_structure, structure_of_shape
from unseen.errors import DatasetError, QueryRefused
from unseen.logic.shapes import SHAPES
from unseen.logic.traverse import answers
from unseen.logic.tuples import from_tuple

if TYPE_CHECKING:
    from pathlib import Path

STRUCTURES = {
    "1p": ("e", ("r",)),
    "2p": ("e", ("r", "r")),
    "3p": ("e", ("r", "r", "r")),
    "2i": (("e", ("r",)), ("e", ("r",))),
    "3i": (("e", ("r",)), ("e", ("r",)), ("e", ("r",))),
    "ip": ((("e", ("r",)), ("e", ("r",))), ("r",)),
    "pi": (("e", ("r", "r")), ("e", ("r",))),
    "2in": (("e", ("r",)), ("e", ("r", "n"))),
    "3in": (("e", ("r",)), ("e", ("r",)), ("e", ("r", "n"))),
    "inp": ((("e", ("r",)), ("e", ("r", "n"))), ("r",)),
    "pin": (("e", ("r", "r")), ("e", ("r", "n"))),
    "pni": (("e", ("r", "r", "n")), ("e", ("r",))),
    "2u": (("e", ("r",)), ("e", ("r",)), ("u",)),
    "up": ((("e", ("r",)), ("e", ("r",)), ("u",)), ("r",)),
}
"""The name table of the published readers."""


def load(path: Path) -> Any:
    """As a published reader does."""
    return pickle.loads(path.read_bytes())


def dump(value: Any, path: Path, protocol: int = 4) -> None:
    path.write_bytes(pickle.dumps(value, protocol))


def exported(dataset: Dataset, folder: Path, form: str) -> Path:
    export_dataset(dataset, folder, form)
    return folder


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

    def test_what_a_format_cannot_hold_is_said(self, tmp_path: Path) -> None:
        (remark,) = export_dataset(transductive_dataset(), tmp_path / "q2b", "query2box")
        assert remark.endswith("2in 3in inp pin pni")
        (remark,) = export_dataset(inductive_dataset(), tmp_path / "x.npz", "npz")
        assert "answers are left out" in remark

    @pytest.mark.parametrize("form", ["betae", "query2box"])
    def test_new_entities_do_not_fit_a_growing_graph(self, tmp_path: Path, form: str) -> None:
        with pytest.raises(DatasetError, match="use --format inductiveqe"):
            export_dataset(inductive_dataset(), tmp_path / "x", form)
        assert list(tmp_path.iterdir()) == []

    def test_a_disjoint_dataset_does_not_fit_inductiveqe(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="a disjoint dataset does not fit"):
            export_dataset(disjoint_dataset(), tmp_path / "x.zip", "inductiveqe")
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_overwritten(self, inductive: Path) -> None:
        with pytest.raises(DatasetError, match="is there already"):
            export_dataset(inductive_dataset(), inductive, "inductiveqe")

    def test_an_unknown_format_names_the_known_ones(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=", ".join(FORMATS)):
            export_dataset(inductive_dataset(), tmp_path / "x", "csv")


class TestForeignFiles:
    """Files that others wrote, with their habits."""

    @pytest.mark.parametrize("protocol", [0, 2, 3])
    def test_old_protocols(self, inductive: Path, protocol: int) -> None:
        before = load(inductive / "train_queries.pkl")
        for file in inductive.glob("*.pkl"):
            dump(load(file), file, protocol)
        after = load(inductive / "train_queries.pkl")
        for file in inductive.glob("train_answers_[vt]*.pkl"):
            rows = {key: dict(zip(before[key], found, strict=True)) for key, found in load(file).items()}
            dump({key: [rows[key][query] for query in after[key]] for key in rows}, file, protocol)
        assert_same(inductive_dataset(), import_dataset(inductive))

    def test_pickles_of_python_itself_with_shared_parts(self, inductive: Path) -> None:
        queries = load(inductive / "test_queries.pkl")
        memo: dict[Any, Any] = {}
        shared = {key: {shared_tuple(query, memo) for query in found} for key, found in queries.items()}
        dump(shared, inductive / "test_queries.pkl")
        assert_same(inductive_dataset(), import_dataset(inductive))

    def test_betaes_names_and_flat_answers_beside_inductive_graphs(self, inductive: Path) -> None:
        for split in ("valid", "test"):
            for kind in ("easy", "hard"):
                file = inductive / f"{split}_answers_{kind}.pkl"
                flat = {query: ids for inner in load(file).values() for query, ids in inner.items()}
                dump(flat, inductive / f"{split}-{kind}-answers.pkl")
                file.unlink()
        assert_same(inductive_dataset(), import_dataset(inductive))

    def test_one_of_the_two_names_of_an_answer_list_is_enough(self, inductive: Path) -> None:
        (inductive / "train_answers_valid.pkl").unlink()
        assert_same(inductive_dataset(), import_dataset(inductive))

    def test_answers_on_larger_graphs_may_be_absent(self, inductive: Path) -> None:
        for file in inductive.glob("train_answers_[vt]*.pkl"):
            file.unlink()
        assert import_dataset(inductive).training_answers == {"valid": {}, "test": {}}

    def test_a_query_may_lack_easy_answers_only_if_it_has_none(self, betae: Path) -> None:
        easy = load(betae / "test-easy-answers.pkl")
        assert {len(ids) > 0 for ids in easy.values()} == {True, False}
        dump({query: ids for query, ids in easy.items() if ids}, betae / "test-easy-answers.pkl")
        assert_same(transductive_dataset(), import_dataset(betae))
        dump({query: ids for query, ids in easy.items() if not ids}, betae / "test-easy-answers.pkl")
        with pytest.raises(DatasetError, match="has no answers for the query"):
            import_dataset(betae)

    def test_edges_in_one_direction_only_are_taken_and_noted(self, betae: Path) -> None:
        lines = (betae / "train.txt").read_text().split("\n")
        count = len(lines) // 2
        (betae / "train.txt").write_text("\n".join(lines[: count - 3] + lines[count:]))
        dataset = import_dataset(betae)
        assert dataset.manifest["notes"] == ["train.txt has edges in one direction only; they hold in both here"]
        assert {tuple(row) for row in dataset.split.train_graph.tolist()} == {
            tuple(row) for row in transductive_dataset().split.train_graph.tolist()
        }
        (betae / "train.txt").write_text("\n".join(lines[:count]))
        assert_same(transductive_dataset(), import_dataset(betae))

    def test_triples_by_name(self, betae: Path) -> None:
        original = transductive_dataset()
        entity, relation = original.vocabulary.entities.key, original.vocabulary.relations.key
        edges = original.split.train_graph.tolist()
        (betae / "train.txt").write_text("".join(f"{entity(h)}\t{relation(r)}\t{entity(t)}\n" for h, r, t in edges))
        assert_same(original, import_dataset(betae))

    def test_a_split_may_be_absent(self, inductive: Path) -> None:
        for file in inductive.glob("train_*.pkl"):
            file.unlink()
        dataset = import_dataset(inductive)
        assert dataset.tables["train"] == {}
        assert len(dataset.tables["test"]["2p"]) == len(inductive_dataset().tables["test"]["2p"])

    def test_original_ids_become_names_with_the_graph_they_come_from(self, inductive: Path, tmp_path: Path) -> None:
        vocabulary = inductive_dataset().vocabulary
        old = {"e2id": {2 * i: i for i in range(vocabulary.num_entities)}}
        old["r2id"] = {i + 1: i for i in range(vocabulary.num_relations)}
        dump(old, inductive / "og_mappings.pkl")
        assert import_dataset(inductive).vocabulary.entity_name(3) == "6"
        lines = [f"entity {i}\trelation {i % 9}\tentity {i + 1}" for i in range(2 * vocabulary.num_entities)]
        (tmp_path / "names.tsv").write_text("\n".join(lines))
        named = import_dataset(inductive, graph_files=[tmp_path / "names.tsv"]).vocabulary
        assert named.entity_name(3) == "entity 6"
        assert named.relation_name(0) == ("relation 1", False)

    def test_archives_with_a_folder_inside(self, inductive: Path, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "nested.zip", "w") as archive:
            for file in inductive.iterdir():
                archive.write(file, f"data/175/{file.name}")
            archive.writestr("__MACOSX/data/175/train_graph.txt", "")
        dataset = import_dataset(tmp_path / "nested.zip")
        assert (dataset.name, dataset.manifest["ratio"]) == ("175", 175)
        assert_same(inductive_dataset(), dataset)

    def test_several_datasets_need_a_choice(self, inductive: Path, betae: Path, tmp_path: Path) -> None:
        both = tmp_path / "both"
        shutil.copytree(inductive, both / "one")
        shutil.copytree(betae, both / "two")
        with pytest.raises(DatasetError, match=r"choose one with --folder: 'one', 'two'"):
            import_dataset(both)
        with pytest.raises(DatasetError, match=r"no dataset folder 'three'; there are: 'one', 'two'"):
            import_dataset(both, folder="three")
        assert_same(transductive_dataset(), import_dataset(both, folder="two"))

    def test_query2box_without_a_graph_takes_the_answers_it_finds(self, query2box: Path) -> None:
        for side in SPLITS:
            (query2box / f"{side}.txt").unlink()
        (query2box / "test_ans_ic.pkl").unlink()
        dataset = import_dataset(query2box)
        table, original = dataset.tables["test"]["2i"], transductive_dataset().tables["test"]["2i"]
        assert np.array_equal(table.easy.values, original.easy.values)
        assert len(dataset.tables["test"]["ip"].easy.values) == 0
        assert len(dataset.manifest["notes"]) == 2

    def test_query2box_with_a_graph_beside_it(self, query2box: Path, tmp_path: Path) -> None:
        original = transductive_dataset()
        files = []
        for side, edges in zip(
            SPLITS,
            (original.split.train_graph, original.split.valid_predict, original.split.test_predict),
            strict=True,
        ):
            (query2box / f"{side}.txt").unlink()
            entity, relation = original.vocabulary.entities.key, original.vocabulary.relations.key
            lines = [f"{entity(h)}\t{relation(r)}\t{entity(t)}\n" for h, r, t in edges.tolist()]
            files.append(tmp_path / f"{side}.tsv")
            files[-1].write_text("".join(lines) + "stranger\tis 0\t/m/1\n")
        (query2box / "test_ans_ic.pkl").unlink()
        dataset = import_dataset(query2box, graph_files=files)
        assert "notes" not in dataset.manifest
        assert np.array_equal(dataset.tables["test"]["ip"].easy.values, original.tables["test"]["ip"].easy.values)

    def test_hard_answers_that_the_graph_denies_are_noted(self, query2box: Path) -> None:
        answers = load(query2box / "test_ans_2i_hard.pkl")
        answers[next(iter(answers))] ^= {0}
        dump(answers, query2box / "test_ans_2i_hard.pkl")
        assert import_dataset(query2box).manifest["notes"] == [
            "test 2i: hard answers of 1 queries are not those of the graph"
        ]


def shared_tuple(query: Any, memo: dict[Any, Any]) -> Any:
    if isinstance(query, tuple):
        query = tuple(shared_tuple(part, memo) for part in query)
    return memo.setdefault(query, query)


class Malicious:
    """Touches a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


class TestRefusals:
    @pytest.mark.parametrize("file", ["test_queries", "test_answers_easy", "train_answers_test", "og_mappings"])
    def test_a_malicious_pickle(self, inductive: Path, tmp_path: Path, file: str) -> None:
        dump({("e", ("r",)): Malicious(tmp_path / "pwned")}, inductive / f"{file}.pkl")
        with pytest.raises(DatasetError, match=r"asks for 'posix\.system'"):
            import_dataset(inductive)
        assert not (tmp_path / "pwned").exists()

    def test_answers_missing_for_a_query(self, inductive: Path) -> None:
        answers = load(inductive / "test_answers_hard.pkl")
        query = next(iter(answers[STRUCTURES["2i"]]))
        del answers[STRUCTURES["2i"]][query]
        dump(answers, inductive / "test_answers_hard.pkl")
        with pytest.raises(DatasetError) as caught:
            import_dataset(inductive)
        assert str(caught.value) == f"{inductive / 'test_answers_hard.pkl'}: has no answers for the query {query}"

    def test_a_whole_structure_missing(self, inductive: Path) -> None:
        answers = load(inductive / "valid_answers_easy.pkl")
        del answers[STRUCTURES["up"]]
        dump(answers, inductive / "valid_answers_easy.pkl")
        with pytest.raises(DatasetError, match="has no answers for the query"):
            import_dataset(inductive)

    def test_a_file_of_answers_missing(self, inductive: Path) -> None:
        (inductive / "test_answers_easy.pkl").unlink()
        with pytest.raises(DatasetError, match=r"test_answers_easy\.pkl is missing, though there are test queries"):
            import_dataset(inductive)

    @pytest.mark.parametrize("wrong", [10_000, -1, "x", None])
    def test_an_answer_that_is_no_entity(self, inductive: Path, wrong: object) -> None:
        answers = load(inductive / "test_answers_hard.pkl")
        query = next(iter(answers[STRUCTURES["2i"]]))
        answers[STRUCTURES["2i"]][query] = {wrong}
        dump(answers, inductive / "test_answers_hard.pkl")
        with pytest.raises(DatasetError) as caught:
            import_dataset(inductive)
        assert f"an answer of the query {query} is no entity id" in str(caught.value)
        assert caught.value.path == inductive / "test_answers_hard.pkl"

    @pytest.mark.parametrize(("query", "noun"), [((10_000, (0,)), "entity"), ((0, (10_000,)), "relation")])
    def test_a_query_with_an_id_out_of_range(self, inductive: Path, query: tuple, noun: str) -> None:
        for file in ("test_queries", "test_answers_easy", "test_answers_hard"):
            value = load(inductive / f"{file}.pkl")
            value[STRUCTURES["1p"]] = {query} if file == "test_queries" else {query: set()}
            dump(value, inductive / f"{file}.pkl")
        with pytest.raises(DatasetError, match=f"has a {noun} id beyond"):
            import_dataset(inductive)

    def test_a_query_of_another_structure(self, inductive: Path) -> None:
        queries = load(inductive / "test_queries.pkl")
        queries[STRUCTURES["2p"]].add((1, (2, 3, 4)))
        dump(queries, inductive / "test_queries.pkl")
        with pytest.raises(DatasetError, match=r"has \(1, \(2, 3, 4\)\) among the queries of"):
            import_dataset(inductive)

    def test_an_answer_both_easy_and_hard(self, inductive: Path) -> None:
        easy = load(inductive / "test_answers_easy.pkl")
        hard = load(inductive / "test_answers_hard.pkl")
        query = next(query for query, found in easy[STRUCTURES["2p"]].items() if found)
        hard[STRUCTURES["2p"]][query] = set(easy[STRUCTURES["2p"]][query])
        dump(hard, inductive / "test_answers_hard.pkl")
        with pytest.raises(DatasetError, match="both easy and hard"):
            import_dataset(inductive)

    def test_too_few_answer_lists(self, inductive: Path) -> None:
        lists = load(inductive / "train_answers_test.pkl")
        lists[STRUCTURES["pi"]].pop()
        dump(lists, inductive / "train_answers_test.pkl")
        with pytest.raises(DatasetError, match=f"has {QUERIES - 1} answer sets for {QUERIES} queries"):
            import_dataset(inductive)

    @pytest.mark.parametrize(
        ("file", "old", "new", "message"),
        [
            ("stats.txt", "entities in train: ", "entities in train: 9", "but the graphs have"),
            ("stats.txt", "numentity: ", "numentity: 3\n", "has an id beyond"),
            ("stats.txt", "numrelations: 10", "numrelations: 9", "not an even number"),
            ("stats.txt", "numrelations: 10", "numrelations: 8", "are not the same|beyond"),
            ("train_graph.txt", "\t", "\tx", "not three numbers"),
            ("train_graph.txt", "\n", "\t1\n", "not three numbers"),
            ("train_graph.txt", "\n", "\n\n", "not three numbers"),
            ("train_graph.txt", "\n", "\n0\t0\t1\n", "that are not the same"),
            ("train_graph.txt", "\n", "\n99999\t0\t1\n", "has an id beyond"),
            ("train_graph.txt", "\n", "\n-1\t0\t1\n", "not three numbers"),
            ("test_predict.txt", "\n", "\n99999999999999999999\t0\t1\n", "not three numbers|beyond"),
        ],
    )
    def test_counts_and_edges_that_do_not_fit(self, inductive: Path, file, old, new, message) -> None:
        text = (inductive / file).read_text()
        (inductive / file).write_text(text.replace(old, new, 1))
        with pytest.raises(DatasetError, match=message):
            import_dataset(inductive)

    def test_a_missing_graph(self, inductive: Path) -> None:
        (inductive / "test_predict.txt").unlink()
        with pytest.raises(DatasetError, match=r"test_predict\.txt is missing"):
            import_dataset(inductive)

    def test_a_folder_of_something_else(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="none of the files by which a published dataset is known"):
            import_dataset(tmp_path)

    def test_nothing_there(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="no such file or folder"):
            import_dataset(tmp_path / "nothing")

    def test_names_for_too_few_entities(self, betae: Path) -> None:
        names = load(betae / "id2ent.pkl")
        del names[5]
        dump(names, betae / "id2ent.pkl")
        with pytest.raises(DatasetError, match="has no name for the entity 5"):
            import_dataset(betae)

    def test_torch_tensors_are_read_as_weights_only(self, inductive: Path, tmp_path: Path) -> None:
        import torch

        rows = [list(map(int, line.split())) for line in (inductive / "train_graph.txt").read_text().split("\n")]
        (inductive / "train_graph.txt").unlink()
        torch.save(torch.tensor(rows), inductive / "train_graph.pt")
        assert_same(inductive_dataset(), import_dataset(inductive))
        torch.save(Malicious(tmp_path / "pwned"), inductive / "train_graph.pt")
        with pytest.raises(DatasetError, match="is no torch tensor"):
            import_dataset(inductive)
        assert not (tmp_path / "pwned").exists()


class TestArchives:
    @pytest.fixture
    def archive(self, tmp_path: Path) -> Path:
        return exported(inductive_dataset(), tmp_path / "x.zip", "inductiveqe")

    @pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil", "a/../../evil", "C:/evil", "a\\..\\evil"])
    def test_names_that_lead_out(self, archive: Path, name: str) -> None:
        with zipfile.ZipFile(archive, "a") as added:
            info = zipfile.ZipInfo("placeholder")
            info.filename = info.orig_filename = name
            added.writestr(info, "x")
        with pytest.raises(DatasetError, match="leads out of the archive"):
            import_dataset(archive)

    def test_a_link(self, archive: Path) -> None:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        with zipfile.ZipFile(archive, "a") as added:
            added.writestr(info, "/etc/passwd")
        with pytest.raises(DatasetError, match="is a link"):
            import_dataset(archive)

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_name_twice(self, archive: Path) -> None:
        with zipfile.ZipFile(archive, "a") as added:
            added.writestr("stats.txt", "numentity: 1")
        with pytest.raises(DatasetError, match="one name twice"):
            import_dataset(archive)

    def test_a_zip_bomb(self, archive: Path) -> None:
        with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as added:
            added.writestr("test_answers_extra.pkl", bytes(200_000_000))
        with pytest.raises(DatasetError, match="zip bomb"):
            import_dataset(archive)

    def test_a_member_that_grows_beyond_what_it_says(self, archive: Path) -> None:
        content = bytearray(archive.read_bytes())
        with zipfile.ZipFile(archive) as opened:
            size = opened.getinfo("test_answers_easy.pkl").file_size
        old, new = size.to_bytes(4, "little"), (size // 2).to_bytes(4, "little")
        place = content.rfind(old)
        content[place : place + 4] = new
        archive.write_bytes(content)
        with pytest.raises(DatasetError):
            import_dataset(archive)

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
    def test_a_truncated_archive(self, archive: Path, share: float) -> None:
        content = archive.read_bytes()
        archive.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(DatasetError, match="no whole zip archive"):
            import_dataset(archive)

    def test_a_damaged_member(self, archive: Path) -> None:
        content = bytearray(archive.read_bytes())
        content[len(content) // 2] ^= 0xFF
        archive.write_bytes(content)
        with pytest.raises(DatasetError):
            import_dataset(archive)


class TestNpz:
    @pytest.fixture
    def arrays(self) -> dict[str, np.ndarray]:
        edges = np.array([[0, 0, 1], [1, 1, 2]], np.int32)
        parts = ("train_graph", "val_inference", "val_predict", "test_inference", "test_predict")
        return {f"graph/{part}": edges for part in parts} | {"test/1p": np.array([[0, 0], [2, 3]], np.int32)}

    def test_inverse_relations_are_numbered_in_blocks(self, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
        np.savez_compressed(tmp_path / "x.npz", **arrays)
        table = import_dataset(tmp_path / "x.npz").tables["test"]["1p"]
        assert table.slots.tolist() == [[0, 0], [2, 3]]
        assert [table.easy.row(row).tolist() for row in range(2)] == [[1], [1]]

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("test/1p", np.array([[9, 0]]), "entity id beyond"),
            ("test/1p", np.array([[0, 4]]), "relation id beyond"),
            ("test/1p", np.array([[0, -1]]), "not rows of 2 ids"),
            ("test/1p", np.array([[0, 0, 0]]), "not rows of 2 ids"),
            ("test/1p", np.array([[0.5, 0]]), "does not hold the numbers"),
            ("test/9z", np.array([[0, 0]]), "unknown shape '9z'"),
            ("graph/train_graph", np.array([[0, 0, 2**40]]), "not rows of 3 ids"),
            ("graph/train_graph", np.array([None]), "does not hold the numbers"),
        ],
    )
    def test_arrays_that_are_not_ids(self, tmp_path, arrays, name: str, value: np.ndarray, message: str) -> None:
        np.savez(tmp_path / "x.npz", **{**arrays, name: value})
        with pytest.raises(DatasetError, match=message):
            import_dataset(tmp_path / "x.npz")

    def test_a_header_that_promises_terabytes(self, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
        np.savez(tmp_path / "x.npz", **arrays)
        with zipfile.ZipFile(tmp_path / "y.npz", "w") as target, zipfile.ZipFile(tmp_path / "x.npz") as source:
            for name in source.namelist():
                member = source.read(name)
                promising = member.replace(b"(2, 2), }            ", b"(2000000000000, 2), }")
                assert (promising != member) == ("1p" in name)
                target.writestr(name, promising)
        with pytest.raises(DatasetError, match="damaged"):
            import_dataset(tmp_path / "y.npz")

    def test_an_array_missing(self, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
        del arrays["graph/test_predict"]
        np.savez(tmp_path / "x.npz", **arrays)
        with pytest.raises(DatasetError, match="has no array 'test_predict'"):
            import_dataset(tmp_path / "x.npz")

    def test_names_cannot_be_given(self, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
        np.savez(tmp_path / "x.npz", **arrays)
        with pytest.raises(DatasetError, match="leave out --graph"):
            import_dataset(tmp_path / "x.npz", graph_files=[tmp_path / "x.tsv"])
