"""What a question is, how it is written, and what it means on a graph."""
