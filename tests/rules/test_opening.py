"""Rules are mined once: they are kept beside a database or in a cache, and a damaged file does no harm."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unseen
from tests.rules.worlds import family, rule_world
from unseen.rules import keeping, opening, updating
from unseen.rules.keeping import cache_folder, place_of
from unseen.rules.listing import listed
from unseen.rules.mining import mine
from unseen.rules.opening import rules_for, use_rules
from unseen.rules.origins import note_source
from unseen.rules.rule_set import Rules


@pytest.fixture
def cache(tmp_path: Path, few_hidden: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of its own, and a process that has met no graph."""
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(opening, "_LATEST", {})
    return tmp_path / "cache" / "rules"


@pytest.fixture
def mined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many triples each graph had that was mined."""
    calls: list[int] = []
    real = opening.mine

    def counted(graph: unseen.KnowledgeGraph, **effort: object) -> Rules:
        calls.append(graph.num_triples)
        return real(graph, **(effort | {"most": 3}))

    monkeypatch.setattr(opening, "mine", counted)
    return calls


def graph_of_files() -> unseen.KnowledgeGraph:
    return note_source(family().graph, None)


def forget_latest() -> None:
    opening._LATEST.clear()


def test_the_rules_of_a_file_are_mined_once(cache: Path, mined: list[int], tmp_path: Path) -> None:
    path = tmp_path / "tree.tsv"
    path.write_text("".join("\t".join(triple) + "\n" for triple in family().graph.triples()), encoding="utf-8")
    first, second = unseen.load(path), unseen.load(path)
    rules = rules_for(first)
    forget_latest()
    again = rules_for(second)
    assert len(mined) == 1
    assert [file.suffix for file in cache.iterdir()] == [".safetensors"]
    assert listed(again, second) == listed(rules, first)
    assert np.array_equal(again.weights.coefficients, rules.weights.coefficients)
    (tmp_path / "copy.tsv").write_bytes(path.read_bytes())
    forget_latest()
    rules_for(unseen.load(tmp_path / "copy.tsv"))
    rules_for(note_source(rule_world("inverse").graph, None))
    assert len(mined) == 2


def test_the_rules_of_the_embedded_graph_come_with_the_package(cache: Path, mined: list[int]) -> None:
    graph = unseen.load("countries")
    assert opening.are_at_hand(graph)
    assert rules_for(graph).is_of(graph)
    assert not mined
    assert not cache.exists()
    grown = note_source(graph.extended_with([("Atlantis", "borders", "France")]), None)
    assert not opening.are_at_hand(grown)


def test_the_shipped_rules_are_those_that_are_mined() -> None:
    graph = unseen.load("countries")
    shipped, mined = Rules.load(keeping.shipped_place(graph)), mine(graph)
    again = "they changed: python tools/shipped_rules.py"
    assert listed(shipped, graph) == listed(mined, graph), again
    assert np.allclose(shipped.weights.coefficients, mined.weights.coefficients, rtol=0.01, atol=0.01), again
    assert np.allclose(shipped.weights.calibration, mined.weights.calibration, rtol=0.01, atol=0.01), again


def test_a_graph_out_of_a_program_leaves_nothing_behind(cache: Path, mined: list[int]) -> None:
    graph = family().graph
    assert place_of(graph) is None
    assert rules_for(graph) is rules_for(graph)
    assert len(mined) == 1
    assert not cache.parent.exists()


def test_a_database_keeps_its_rules_in_its_folder(cache: Path, mined: list[int], tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    from unseen.database import Database

    with Database.create(tmp_path / "world.db") as database:
        database.add(list(rule_world("composition", entities=600).graph.triples()))
    rules_for(unseen.load(tmp_path / "world.db"))
    forget_latest()
    assert (tmp_path / "world.db" / "rules.safetensors").is_file()
    with Database(tmp_path / "world.db") as database:
        database.add([("e1", "a", "somebody")])
    grown = unseen.load(tmp_path / "world.db")
    rules = rules_for(grown)
    assert len(mined) == 1
    assert rules.is_of(grown)
    assert not cache.parent.exists()


@pytest.mark.parametrize("damage", ["flipped", "short", "empty", "other", "folder"])
def test_a_damaged_file_is_mined_anew(cache: Path, mined: list[int], damage: str) -> None:
    graph = graph_of_files()
    rules_for(graph)
    (path,) = cache.iterdir()
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.unlink()
    if damage == "folder":
        path.mkdir()
    else:
        spoilt = {"flipped": content, "short": content[:-1], "empty": b"", "other": b"something else entirely"}
        path.write_bytes(bytes(spoilt[damage]))
    forget_latest()
    again = graph_of_files()
    assert rules_for(again).is_of(again)
    assert len(mined) == 2
    forget_latest()
    rules_for(graph_of_files())
    assert len(mined) == (3 if damage == "folder" else 2)


def test_rules_that_lie_about_their_relations_are_refused(few_hidden: None, tmp_path: Path) -> None:
    rules = rules_for(family().graph, samples=2)
    rules.paths.steps[0, 1] = 1000
    rules.save(tmp_path / "rules")
    with pytest.raises(unseen.UnseenError, match="outside"):
        Rules.load(tmp_path / "rules")


def test_where_nothing_can_be_written_rules_are_still_there(
    monkeypatch: pytest.MonkeyPatch, cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "file"))
    assert len(rules_for(graph_of_files()))
    monkeypatch.setenv("UNSEEN_CACHE", "")
    assert cache_folder() is None
    assert len(rules_for(graph_of_files()))
    assert not cache.parent.exists()


def test_the_cache_folder_is_that_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("UNSEEN_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "unseen"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "unseen"


def test_old_rules_make_room_for_new_ones(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules_for(graph_of_files())
    (first,) = cache.iterdir()
    os.utime(first, (1, 1))
    monkeypatch.setattr(keeping, "MOST_BYTES", first.stat().st_size + 10)
    forget_latest()
    rules_for(note_source(rule_world("chain").graph, None))
    assert first not in cache.iterdir()


def test_more_thorough_rules_replace_the_kept_ones_and_others_do_not(cache: Path) -> None:
    graph = graph_of_files()
    use_rules(graph, mine(graph, samples=6))
    use_rules(graph, mine(graph, samples=2))
    (path,) = cache.iterdir()
    assert Rules.load(path).samples == 6
    use_rules(graph, mine(graph, samples=8))
    assert Rules.load(path).samples == 8


def _open_in_a_process(folder: str) -> None:
    os.environ["UNSEEN_CACHE"] = folder
    assert len(rules_for(graph_of_files(), seconds=0.5))


def test_two_processes_at_once_leave_one_whole_file(cache: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_open_in_a_process, args=(str(cache.parent),)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    (path,) = cache.iterdir()
    assert Rules.load(path).is_of(family().graph)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_control_c_while_mining_leaves_no_file(cache: Path) -> None:
    program = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tests.rules.test_large_graphs import hubs\n"
        "from unseen.rules.opening import rules_for\n"
        "from unseen.rules.origins import note_source\n"
        "graph = note_source(hubs(100_000), None)\n"
        "rules_for(graph, seconds=60, progress=lambda label, done, total: print(label, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(60) != 0
    assert not cache.exists()


def test_a_successor_is_brought_up_to_date_and_not_mined(cache: Path, mined: list[int]) -> None:
    graph = rule_world("composition", entities=600).graph
    assert graph.num_triples > updating.SMALL
    rules_for(graph)
    grown = graph.extended_with([("e1", "a", "nobody")])
    assert rules_for(grown).is_of(grown)
    assert len(mined) == 1
