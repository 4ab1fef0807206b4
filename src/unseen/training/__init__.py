"""How a method learns: configuration, batches, the loop, and the run folder that all of it ends in."""
