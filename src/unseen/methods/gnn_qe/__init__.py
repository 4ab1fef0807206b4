"""GNN-QE: a graph network for each projection, trained on queries; see `gnn_qe`."""
