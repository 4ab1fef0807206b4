"""Whatever is wrong with a file, reading it ends in success or in one error that says what, where and what to do.

Every case follows from the name of the example and a number. `UNSEEN_FUZZ_ROUNDS=200 pytest tests/attack -k damaged`
runs more of them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from random import Random

import pytest

from tests.attack.fuzz_run import attack, ending_of, show, undamaged
from tests.attack.mutations import ODD_TOML, changed_bytes
from tests.attack.specimens import SPECIMENS
from unseen.errors import UnseenError
from unseen.methods.registry import TRAINED
from unseen.methods.training_settings import from_mapping
from unseen.models.settings_file import read_toml, write_toml
from unseen.server.keys import read_keys

ROUNDS = int(os.environ.get("UNSEEN_FUZZ_ROUNDS", "6"))
CASES_THAT_FAILED = {
    "npz": (33,),
    "run of betae": (52,),
}
"""Numbers that once ended in an internal error, beside the first few."""


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where examples lie that were made already."""
    return {"": tmp_path_factory.mktemp("examples")}


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_damaged_file_is_read_or_is_one_error(examples: dict[str, Path], tmp_path: Path, name: str) -> None:
    specimen, example, place = SPECIMENS[name], examples[""] / name, tmp_path / "place"
    example.mkdir()
    specimen.make(example)
    for ending in undamaged(specimen, example, place):
        assert ending.code == 0, show("undamaged", ending)
    for seed in (*range(ROUNDS), *CASES_THAT_FAILED.get(name, ())):
        done, endings = attack(name, specimen, example, place, seed)
        for ending in endings:
            assert ending.is_good, show(f"case {seed}, {done}", ending)


@pytest.mark.parametrize("method", TRAINED)
def test_damaged_settings_are_read_or_are_one_error(tmp_path: Path, method: str) -> None:
    chance, path = Random(method), tmp_path / "config.toml"
    write_toml(TRAINED[method].settings(), path)
    whole = path.read_text()
    lines = whole.splitlines()
    settings = [number for number, line in enumerate(lines) if " = " in line]
    for _ in range(20 * ROUNDS):
        changed = list(lines)
        number = chance.choice(settings)
        changed[number] = changed[number].partition(" = ")[0] + " = " + chance.choice(ODD_TOML)
        data = "\n".join(changed).encode() if chance.random() < 0.7 else changed_bytes(whole.encode(), chance)[1]
        path.write_bytes(data)
        with contextlib.suppress(UnseenError):
            from_mapping(TRAINED[method].settings, read_toml(path), str(path))


def test_a_damaged_key_file_is_read_or_is_one_error(tmp_path: Path) -> None:
    chance, path = Random(5), tmp_path / "keys.txt"
    for _ in range(20 * ROUNDS):
        path.write_bytes(changed_bytes(f"# who\nread {'a' * 20}\nwrite {'b' * 20}\n".encode(), chance)[1])
        path.chmod(0o600)
        with contextlib.suppress(UnseenError):
            assert read_keys(path)


def test_a_name_that_is_not_utf_8_is_read(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.tsv")
    Path(path).write_text("a\tr\tb\n")
    for words in (("info", path), ("convert", path, path + ".nt"), ("ask", path, "?x : r(a, x)", "--method", "exact")):
        ending = ending_of(words)
        assert ending.is_good, show("a name of other bytes", ending)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["graph.tsv", ".ttl", "dataset", "npz", "model", "result"])
def test_a_file_that_may_not_be_read_is_one_error(tmp_path: Path, name: str) -> None:
    specimen = SPECIMENS[name]
    specimen.make(tmp_path)
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        file.chmod(0)
    for ending in undamaged(specimen, tmp_path, tmp_path.parent / "place"):
        assert ending.code == 2, show("not readable", ending)


@pytest.mark.parametrize("name", ["graph.tsv", ".ttl", "ogb", "npz", "dataset", "model", "result", "inductiveqe"])
def test_a_pipe_in_place_of_a_file_holds_nobody(tmp_path: Path, name: str) -> None:
    specimen, example = SPECIMENS[name], tmp_path / "example"
    example.mkdir()
    specimen.make(example)
    files = sorted(path for path in example.rglob("*") if path.is_file())
    file = next((path for path in files if path.suffix == ".json"), files[0])
    file.unlink()
    os.mkfifo(file)
    before = Path.cwd()
    os.chdir(example)
    try:
        for words in specimen.commands:
            ending = ending_of(words)
            assert ending.is_good, show(f"{file.name} is a pipe", ending)
    finally:
        os.chdir(before)
        shutil.rmtree(example)
