"""Many questions from a file, answered into a table."""
