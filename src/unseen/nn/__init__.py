"""Tensors only: no files, no queries."""
