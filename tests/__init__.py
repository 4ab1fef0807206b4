"""Tests mirror `src/unseen`; `conformance` is the suite that every method passes."""
