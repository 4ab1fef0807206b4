"""Rules of a graph: what follows from what in it, how often, and which of its edges say so."""
