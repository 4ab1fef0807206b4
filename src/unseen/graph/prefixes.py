"""IRIs and their short forms: `http://www.wikidata.org/entity/Q90` is shown as `wd:Q90`.

A short form is made of a prefix and the rest of the IRI, so it always leads back to exactly one IRI. Prefixes come
from the file that was read, from a table of well-known ones, or are made from the namespace itself. Names without `//`
(`urn:isbn:12`, `tag:a`) are only shortened by prefixes that a file declares.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAIN_NAMESPACE = "urn:unseen:"
"""Names that are no IRIs (from a TSV file, say) become IRIs here when RDF or SPARQL needs one."""

WELL_KNOWN = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "schema": "http://schema.org/",
    "dbr": "http://dbpedia.org/resource/",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "yago": "http://yago-knowledge.org/resource/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
}
MOST_PREFIXES = 256
"""Namespaces that get a prefix of their own; IRIs of rarer ones are shown in full."""

_IRI = re.compile(r"[a-z][a-z0-9+.-]*://|(?:urn|mailto|tel|tag|did):", re.IGNORECASE)
_NEVER_IN_AN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_LOCAL_PART = r"[^/#:]*$"
_GENERIC_WORDS = {"www", "org", "com", "net", "http", "https", "id", "resource", "entity", "property", "ns", "ontology"}


def is_iri(name: str) -> bool:
    """Whether a name looks like an absolute IRI."""
    return _IRI.match(name) is not None


def iri_of(key: str) -> str:
    """The IRI of a key: itself, or its form in the namespace of plain names where RDF could not hold it as it is."""
    is_fit = is_iri(key) and _NEVER_IN_AN_IRI.search(key) is None and _plain_name(key) is None
    return key if is_fit else PLAIN_NAMESPACE + quote(key, safe="")


def key_of(iri: str) -> str:
    """The key of an IRI: `iri_of` backwards, so that no two IRIs share a key.

    `<urn:unseen:Bb>` is the name `Bb`; `<urn:unseen:%42b>` is another IRI, and its own key.
    """
    plain = _plain_name(iri)
    return iri if plain is None else plain


def name_in_question(iri: str) -> str:
    """The name that an IRI of a question stands for: plain names may be spelled with or without escapes."""
    plain = iri.removeprefix(PLAIN_NAMESPACE)
    if plain == iri or not plain:
        return iri
    try:
        return unquote(plain, errors="strict")
    except UnicodeDecodeError:
        return iri


def _plain_name(iri: str) -> str | None:
    """The key whose IRI in the namespace of plain names this is; None if `iri_of` makes it of no other key."""
    key, outer = None, iri
    while outer.startswith(PLAIN_NAMESPACE):
        inner = _unquoted(outer.removeprefix(PLAIN_NAMESPACE))
        if inner is None:
            return None
        key = inner if key is None else key
        if not is_iri(inner) or _NEVER_IN_AN_IRI.search(inner) is not None:
            return key
        outer = inner
    return None


def _unquoted(text: str) -> str | None:
    """The text that is written so when all but letters, digits and `_.-~` are escaped; None if there is none."""
    try:
        plain = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return None
    return plain if plain and quote(plain, safe="") == text else None


class Prefixes:
    """Prefixes and their namespaces; immutable."""

    def __init__(self, namespaces: Mapping[str, str] | None = None) -> None:
        self.namespaces = dict(namespaces or {})
        self._prefix_of = {namespace: prefix for prefix, namespace in self.namespaces.items()}

    def extended_to(self, keys: pa.Array, declared: Mapping[str, str] | None = None) -> Prefixes:
        """These prefixes, and one for every frequent namespace among `keys` that has none yet."""
        namespaces = dict(self.namespaces)
        known = dict(WELL_KNOWN) | dict(declared or {})
        prefix_of = {namespace: prefix for prefix, namespace in known.items()}
        for namespace in _frequent_namespaces(keys):
            if namespace not in namespaces.values() and len(namespaces) < MOST_PREFIXES:
                wanted = prefix_of.get(namespace) or _invented_prefix(namespace)
                namespaces |= {_unused(wanted, namespaces): namespace} if wanted else {}
        return Prefixes(namespaces)

    def shorten(self, key: str) -> str:
        """`prefix:local` where the namespace has a prefix, else the key itself."""
        if not is_iri(key):
            return key
        cut = 1 + max(key.rfind(mark) for mark in "/#:")
        prefix = self._prefix_of.get(key[:cut])
        return key if prefix is None or cut == len(key) else f"{prefix}:{key[cut:]}"

    def expand(self, name: str) -> str | None:
        """The key that `<iri>`, `prefix:local` or the IRI of a plain name stands for, or None."""
        if name.startswith("<") and name.endswith(">"):
            return key_of(name[1:-1])
        if name.startswith(PLAIN_NAMESPACE):
            return key_of(name)
        prefix, colon, local = name.partition(":")
        return self.namespaces[prefix] + local if colon and prefix in self.namespaces else None

    def key_of_name(self, name: str) -> str:
        """The key of a name not met before: the IRI that `<iri>` or `prefix:local` stands for, else the name itself."""
        expanded = self.expand(name)
        is_text = name.startswith("<") and not is_iri(name[1:])
        return name if expanded is None or is_text else expanded


def _frequent_namespaces(keys: pa.Array) -> list[str]:
    """Namespaces of the IRIs among `keys`, the most frequent first, equal ones in order of appearance."""
    candidates = keys.filter(pc.match_substring(keys, ":"))
    iris = candidates.filter(pc.match_substring_regex(candidates, f"^(?:{_IRI.pattern})", ignore_case=True))
    if len(iris) == 0:
        return []
    counted = pc.value_counts(pc.replace_substring_regex(iris, _LOCAL_PART, ""))
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    return [namespace for namespace, _ in sorted(pairs, key=lambda pair: -pair[1])]


def _invented_prefix(namespace: str) -> str | None:
    """A prefix from the last telling word of the namespace: `http://example.org/geo/` gives `geo`.

    Names such as `urn:isbn:12` or `tag:a` are short already, and often no IRIs but names of a table: they get none.
    """
    if "://" not in namespace:
        return None
    words = re.findall(r"[A-Za-z][A-Za-z0-9_-]*", namespace)
    telling = [word for word in words if word.lower() not in _GENERIC_WORDS]
    last: str = (telling or words or ["ns"])[-1]
    return last.lower()


def _unused(wanted: str, taken: Mapping[str, str]) -> str:
    """`wanted`, or `wanted` with the first number that makes it new."""
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    return name
