"""Tests of recorded values: comparisons, texts, and how rows of values pass them."""
