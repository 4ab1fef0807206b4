"""Pickles from elsewhere, read without running anything in them, and the plain ones that published formats need."""
