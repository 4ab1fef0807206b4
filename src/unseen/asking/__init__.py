"""A question asked of a graph: from its text to answers with names, tables and warnings."""
