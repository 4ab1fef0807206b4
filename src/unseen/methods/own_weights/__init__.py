"""What the graph that is asked says about the weights of network and rules: a fit to facts hidden from it."""
