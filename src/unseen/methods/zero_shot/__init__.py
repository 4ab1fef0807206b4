"""One model for any graph: relations are known by how they share entities; see `zero_shot`."""
