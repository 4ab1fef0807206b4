"""How the weights that combine network and rules are found: hidden links of several graphs, and a fit to them."""
