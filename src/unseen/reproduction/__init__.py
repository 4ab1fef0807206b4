"""The paper's experiments as a grid of cells: planned, run in slices by several processes, and written up."""
