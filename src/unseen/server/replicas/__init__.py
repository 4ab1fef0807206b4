"""Predictions in processes of their own: each has a copy of the graph, which follows every write."""
