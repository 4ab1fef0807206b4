"""Answers to patterns: tuples that the graph knows, and the best of those that it implies."""
