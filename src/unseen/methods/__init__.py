"""One method, one file: ways to evaluate a query on a graph that is incomplete."""
