"""The command line: commands, help and formats only."""
