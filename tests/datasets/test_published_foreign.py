"""Files in the published formats that others wrote: with their habits, and with their faults."""

from __future__ import annotations

import shutil
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.datasets.published_files import STRUCTURES, Malicious, dump, exported, load
from tests.datasets.small_dataset import PARTS, QUERIES, assert_same, inductive_dataset, transductive_dataset
from unseen.datasets.dataset import SPLITS
from unseen.datasets.published import import_dataset
from unseen.errors import DatasetError

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

    @pytest.mark.parametrize("missing", ["*answers*", "*-answers*", "*easy*", "*hard*", "*-easy-*", "*-hard-*"])
    def test_answers_without_a_file_are_computed(self, inductive: Path, betae: Path, missing: str) -> None:
        for folder, whole in ((betae, transductive_dataset()), (inductive, inductive_dataset())):
            for file in folder.glob(f"{missing}.pkl"):
                file.unlink()
            dataset = import_dataset(folder)
            assert_same(whole.with_queries(whole.tables, {}), dataset)
            noted = " ".join(dataset.manifest.get("notes", ()))
            assert ("they were computed on the graph" in noted) or folder is inductive

    def test_hard_answers_of_query2box_are_computed(self, query2box: Path) -> None:
        for file in query2box.glob("*_hard.pkl"):
            file.unlink()
        whole = transductive_dataset()
        positive = {s: {n: t for n, t in whole.tables[s].items() if not t.shape.has_negation} for s in SPLITS}
        assert_same(whole.with_queries(positive, {}), import_dataset(query2box))

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

    @pytest.mark.parametrize("by_name", [True, False])
    def test_a_graph_in_another_vocabulary_is_refused(self, betae: Path, tmp_path: Path, by_name: bool) -> None:
        """Its triples would all be left out, and the dataset would have an empty graph."""
        text = "".join(f"Q{i}\tP{i % 3}\tQ{i + 1}\n" for i in range(40))
        files = []
        for side in SPLITS:
            files.append(betae / f"{side}.txt" if by_name else tmp_path / f"{side}.tsv")
            files[-1].write_text(text)
        message = (
            r"40 of 40 triples have names that the dataset does not know \(41 unknown entities: 'Q0', 'Q1', 'Q10', …"
        )
        with pytest.raises(DatasetError, match=f"{message}; 3 unknown relations: 'P0', 'P1', 'P2'.*in the same names"):
            import_dataset(betae, graph_files=() if by_name else files)

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
        split = inductive_dataset().split
        for edges in (getattr(split, part) for part in PARTS):
            lines += [f"entity {2 * h}\trelation {r + 1}\tentity {2 * t}" for h, r, t in edges.tolist()]
        (tmp_path / "names.tsv").write_text("\n".join(lines))
        named = import_dataset(inductive, graph_files=[tmp_path / "names.tsv"]).vocabulary
        assert named.entity_name(3) == "entity 6"
        assert named.relation_name(0) == ("relation 1", False)
        (tmp_path / "other.tsv").write_text("\n".join(lines[:-3]))
        with pytest.raises(DatasetError, match=r"not made from the graph that was given: [1-3] of its .* edges"):
            import_dataset(inductive, graph_files=[tmp_path / "other.tsv"])

    def test_a_graph_that_names_nothing_is_refused(self, inductive: Path, tmp_path: Path) -> None:
        (tmp_path / "names.tsv").write_text("a\tr\tb\n")
        with pytest.raises(DatasetError, match=r"has names, not numbers, in og_mappings\.pkl: leave out --graph"):
            import_dataset(inductive, graph_files=[tmp_path / "names.tsv"])
        (inductive / "og_mappings.pkl").unlink()
        with pytest.raises(DatasetError, match=r"has no og_mappings\.pkl to find names by: leave out --graph"):
            import_dataset(inductive, graph_files=[tmp_path / "names.tsv"])

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
        count = len(original.split.train_graph) + 1
        known = f"train.tsv: 1 of {count} triples were left out, the dataset does not know their names"
        assert f"{known} (1 unknown entities: 'stranger')" in dataset.manifest["notes"]
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

    def test_answers_are_missing_and_there_is_no_graph_to_compute_them_on(self, betae: Path) -> None:
        for side in SPLITS:
            (betae / f"{side}.txt").unlink()
        (betae / "valid-hard-answers.pkl").unlink()
        with pytest.raises(DatasetError, match=r"valid-hard-answers\.pkl is missing, and without a graph .* --graph"):
            import_dataset(betae)

    @pytest.mark.parametrize("wrong", [10_000, -1, "x", None])
    def test_an_answer_that_is_no_entity(self, inductive: Path, wrong: object) -> None:
        answers = load(inductive / "test_answers_hard.pkl")
        query = next(iter(answers[STRUCTURES["2i"]]))
        answers[STRUCTURES["2i"]][query] = {wrong}
        dump(answers, inductive / "test_answers_hard.pkl")
        with pytest.raises(DatasetError) as caught:
            import_dataset(inductive)
        assert f"an answer of the query {query} is not an entity id" in str(caught.value)
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
        with pytest.raises(DatasetError, match="is not a torch tensor"):
            import_dataset(inductive)
        assert not (tmp_path / "pwned").exists()
