"""What GNN-QE and the zero-shot model share: a graph network that projects fuzzy sets."""
