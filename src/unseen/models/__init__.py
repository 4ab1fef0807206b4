"""Run folders and model folders: what `ask`, `serve` and `evaluate` open."""
