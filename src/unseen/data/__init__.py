"""Embedded graphs; `ATTRIBUTION.md` says where they come from."""
