"""Ways to damage a file: bits, slices, values of JSON and TOML, arrays, members of archives, and the file itself."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

ODD_VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 2, 7, 1.5, -0.0, 1e308, float("nan"), float("inf")),
    *(2**31, -(2**63), 10**40, "", "x", "9" * 300, "\0", "\ud800", "../..", "/", "1p=2", "e"),
    *([], {}, [[]], [None], ["x", "x"], [1, 2, 3], {"": None}, {"0": 0}, [[[[[]]]]]),
]
ODD_TEXT = [
    "9" * 30,
    "-1",
    "nan",
    '"',
    "'",
    "\0",
    "[",
    "{",
    "\n",
    "\t\t",
    "<<(",
    "&x;",
    "é",
    "\\u12",
    "e999",
    "true",
    "[]",
]
ODD_TOML = [
    "-1",
    "0",
    "1.5",
    "nan",
    "inf",
    '""',
    '"x"',
    "[]",
    "[1]",
    "{}",
    "true",
    "9" * 25,
    "1979-05-27",
    '["1p=x"]',
    "1e400",
]


def damage(path: Path, chance: Random) -> str:
    """Damage one file in one way; what was done, in words."""
    ways = [_file, _bytes, _bytes, _text, *_WAYS_BY_SUFFIX.get(path.suffix, ())]
    way = chance.choice(ways)
    if path.suffix == ".gz" and chance.random() < 0.5:
        return "in gzip: " + _repacked(path, gzip.decompress, lambda data: gzip.compress(data, mtime=0), chance)
    return way(path, chance)


def _repacked(path: Path, unpack: Callable[[bytes], bytes], pack: Callable[[bytes], bytes], chance: Random) -> str:
    done, data = changed_bytes(unpack(path.read_bytes()), chance)
    path.write_bytes(pack(data))
    return done


def _bytes(path: Path, chance: Random) -> str:
    done, data = changed_bytes(path.read_bytes(), chance)
    path.write_bytes(data)
    return done


def changed_bytes(data: bytes, chance: Random) -> tuple[str, bytes]:
    """Data with one thing wrong, and what it is."""
    size = len(data)
    one, two = sorted((chance.randint(0, size), chance.randint(0, size)))
    kind = chance.choice(["flip", "flips", "cut", "remove", "repeat", "swap", "zero", "insert", "empty"])
    if kind in ("flip", "flips") and size:
        changed = bytearray(data)
        for _ in range(1 if kind == "flip" else 20):
            changed[chance.randrange(size)] ^= 1 << chance.randrange(8)
        return kind, bytes(changed)
    two = min(two, one + 2000)
    made = {
        "cut": data[:one],
        "remove": data[:one] + data[two:],
        "repeat": data[:two] + data[one:],
        "swap": data[:one] + data[two : 2 * two - one] + data[one:two] + data[2 * two - one :],
        "zero": data[:one] + bytes(two - one) + data[two:],
        "insert": data[:one] + chance.randbytes(8) + data[one:],
    }
    return f"{kind} {one}", made.get(kind, b"")


def _text(path: Path, chance: Random) -> str:
    """Put an odd piece of text somewhere, in place of a word or between two."""
    words = path.read_bytes().split(b" ") if chance.random() < 0.5 else path.read_bytes().split(b"\n")
    separator = b" " if b"\n".join(words) != path.read_bytes() else b"\n"
    odd = chance.choice(ODD_TEXT).encode()
    words[chance.randrange(len(words))] = odd
    path.write_bytes(separator.join(words))
    return f"text {odd!r}"


def _file(path: Path, chance: Random) -> str:
    """Replace the file itself by something else."""
    kind = chance.choice(["missing", "folder", "empty", "loop", "dangling", "full folder"])
    if kind == "empty":
        path.write_bytes(b"")
        return kind
    path.unlink()
    if kind == "folder":
        path.mkdir()
    if kind == "full folder":
        path.mkdir()
        (path / "file.json").write_text("{}")
    if kind == "loop":
        path.symlink_to(path.name)
    if kind == "dangling":
        path.symlink_to("nowhere")
    return kind


def _json(path: Path, chance: Random) -> str:
    """Change one value of a JSON document, or of one line of JSON."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    place = chance.randrange(len(lines))
    value = json.loads(lines[place])
    done, value = changed_json(value, chance)
    lines[place] = json.dumps(value)
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    return done


def changed_json(value: Any, chance: Random) -> tuple[str, Any]:
    """A value with another one somewhere inside, and where."""
    places = [([], None), *_places(value, [])]
    way, _ = chance.choice(places)
    if not way:
        odd = chance.choice(ODD_VALUES)
        return f"JSON {odd!r:.40}", odd
    holder = value
    for step in way[:-1]:
        holder = holder[step]
    kind, where = chance.choice(["set", "set", "set", "delete", "rename"]), "/".join(map(str, way))
    if kind == "delete":
        del holder[way[-1]]
        return f"{where} deleted", value
    if kind == "rename" and isinstance(holder, dict):
        holder[chance.choice(["x", "", "seed"])] = holder.pop(way[-1])
        return f"{where} renamed", value
    holder[way[-1]] = chance.choice(ODD_VALUES)
    return f"{where} = {holder[way[-1]]!r:.40}", value


def _places(value: Any, way: list[Any]) -> list[tuple[list[Any], Any]]:
    if isinstance(value, dict):
        inner: list[tuple[Any, Any]] = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))[:5]
    else:
        return []
    return [place for key, part in inner for place in [([*way, key], part), *_places(part, [*way, key])]]


def _toml(path: Path, chance: Random) -> str:
    lines = path.read_text().splitlines()
    settings = [number for number, line in enumerate(lines) if " = " in line]
    number = chance.choice(settings)
    lines[number] = lines[number].partition(" = ")[0] + " = " + chance.choice(ODD_TOML)
    path.write_text("\n".join(lines))
    return lines[number]


def _tensors(path: Path, chance: Random) -> str:
    """Change the header of a safetensors file, or one of its tensors."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    if chance.random() < 0.6 or not set(header) - {"__metadata__"}:
        done, header = changed_json(header, chance)
    else:
        name = chance.choice([name for name in header if name != "__metadata__"])
        start, end = header[name]["data_offsets"]
        fill = chance.choice([b"\xff", b"\0", b"\x7f", b"\x80"])
        body, done = body[:start] + fill * (end - start) + body[end:], f"{name} of {fill!r}"
    text = json.dumps(header).encode(errors="surrogatepass")
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return done


def _pickle(path: Path, chance: Random) -> str:
    """Change one thing inside a pickle of plain data."""
    odd = [*ODD_VALUES[:-9], [], {}, set(), (), ((),), {0}, {-1}, {2**40}, {"x"}, ("e", ("r",)), b"x"]
    value = pickle.loads(path.read_bytes())
    done, value = _changed_inside(value, chance, odd)
    path.write_bytes(pickle.dumps(value, chance.choice([0, 2, 4])))
    return f"pickle: {done}"


def _changed_inside(value: Any, chance: Random, odd: list[Any]) -> tuple[str, Any]:
    if not isinstance(value, dict | list | tuple | set) or not value or chance.random() < 0.25:
        other = chance.choice(odd)
        return f"{value!r:.30} -> {other!r:.30}", other
    if isinstance(value, dict):
        key = chance.choice(sorted(value, key=repr))
        if chance.random() < 0.2:
            return f"{key!r:.30} dropped", {other: part for other, part in value.items() if other != key}
        done, part = _changed_inside(value[key], chance, odd)
        return done, value | {key: part}
    items = sorted(value, key=repr) if isinstance(value, set) else list(value)
    place = chance.randrange(len(items))
    done, items[place] = _changed_inside(items[place], chance, odd)
    try:
        return done, type(value)(items)
    except TypeError:  # a set holds no lists
        return done, items


def _zip(path: Path, chance: Random) -> str:
    """Change, drop or rename one member of an archive; arrays also by another type or shape."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(list(members))
    kind = chance.choice(["member", "array", "drop", "rename", "compressed member"])
    if kind == "array" and name.endswith(".npy"):
        done, members[name] = changed_array(members[name], chance)
    elif kind == "compressed member" and name.endswith(".gz"):
        done, data = changed_bytes(gzip.decompress(members[name]), chance)
        members[name] = gzip.compress(data)
    elif kind == "drop":
        done = "dropped"
        del members[name]
    elif kind == "rename":
        members[done := chance.choice(["x", "graph/x.npy", "test/4p.npy", "é.txt"])] = members.pop(name)
    else:
        done, members[name] = changed_bytes(members[name], chance)
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return f"{name}: {done}"


def changed_array(data: bytes, chance: Random) -> tuple[str, bytes]:
    """An `.npy` file of another type, shape or range."""
    array = np.load(io.BytesIO(data))
    makers: dict[str, Callable[[], Any]] = {
        "float": lambda: array.astype(float),
        "nan": lambda: array * np.nan,
        "bool": lambda: array.astype(bool),
        "complex": lambda: array.astype(complex),
        "text": lambda: array.astype(str),
        "uint64": lambda: array.astype(np.uint64) + np.uint64(2**63),
        "negative": lambda: -1 - array,
        "large": lambda: array + np.int32(2**31 - 5),
        "larger": lambda: array.astype(np.int64) + 2**40,
        "flat": lambda: array.reshape(-1),
        "deep": lambda: array[None],
        "turned": lambda: array.T,
        "none": lambda: array[:0],
        "scalar": lambda: np.array(3),
        "structured": lambda: np.zeros(3, [("a", "i4"), ("b", "f8")]),
        "big-endian": lambda: array.astype(">i4"),
        "dates": lambda: array.astype("datetime64[s]"),
    }
    kind = chance.choice(list(makers))
    output = io.BytesIO()
    with np.errstate(all="ignore"):
        np.save(output, makers[kind](), allow_pickle=False)
    return kind, output.getvalue()


_WAYS_BY_SUFFIX: dict[str, tuple[Callable[[Path, Random], str], ...]] = {
    ".json": (_json, _json, _json),
    ".jsonl": (_json, _json),
    ".jsonld": (_json, _json),
    ".toml": (_toml, _toml, _toml),
    ".safetensors": (_tensors, _tensors, _tensors),
    ".npz": (_zip, _zip, _zip),
    ".zip": (_zip, _zip),
    ".pkl": (_pickle, _pickle, _pickle, _pickle),
}


def copy_of(folder: Path, target: Path) -> Path:
    """A fresh copy of an example, links and all."""
    if target.is_symlink() or target.is_file():
        target.unlink()
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(folder, target, symlinks=True))


def files_in(folder: Path) -> list[Path]:
    """All regular files below a folder, in order."""
    return sorted(Path(base) / name for base, _, names in os.walk(folder) for name in names)
