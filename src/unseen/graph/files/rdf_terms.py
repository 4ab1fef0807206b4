"""Keys as N-Triples terms, so that reading them again gives the same keys."""

from __future__ import annotations

import re

from unseen.graph.prefixes import iri_of

_LETTER = (
    "A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_BLANK_NODE = re.compile(rf"_:[{_LETTER}](?:[{_LETTER}.-]*[{_LETTER}-])?")
_CHARACTER = r'[^"\\\x00-\x1f\x7f\ufffe\uffff]|\\(?:[tbnrf"\\]|u00(?:0[0-7BEF]|1[0-9A-F]|7F)|uFFF[EF])'
_LANGUAGE = r"@[a-z]{1,8}(?:-[a-z0-9]{1,8})*(?:--ltr|--rtl)?"
_IMPLIED = r"http://www\.w3\.org/[^>]*#(?:string|langString|dirLangString)>"
_DATATYPE = rf"\^\^<(?!{_IMPLIED})[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{{}}|^`\\]*>"
_LITERAL = re.compile(rf'"(?:{_CHARACTER})*"(?:{_LANGUAGE}|{_DATATYPE})?')
"""Literals in exactly the form in which readers make keys of them; the same text in any other form is a plain name."""


def iri_term(key: str) -> str:
    """Any key as an IRI: the only form a relation can have."""
    return f"<{iri_of(key)}>"


def subject_term(key: str) -> str:
    """A key as a blank node if it is the key of one, else as an IRI: a literal cannot be a head."""
    return key if _BLANK_NODE.fullmatch(key) else iri_term(key)


def object_term(key: str) -> str:
    """A key as the literal or blank node whose key it is, else as an IRI."""
    return key if _LITERAL.fullmatch(key) else subject_term(key)


def text_literal(text: str) -> str:
    """A text as a plain literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
