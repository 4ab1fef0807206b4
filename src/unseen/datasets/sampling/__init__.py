"""Questions drawn from a graph: how candidates are grounded, which are kept, and whole datasets of them."""
