"""`python -m experiments`: runs the paper's experiments from a checkout, see `command`."""

import importlib.util
import sys

if __name__ == "__main__":
    if importlib.util.find_spec("unseen") is None:
        sys.exit("error: unseen is not installed; run `make setup` and use .venv/bin/python, or set PYTHONPATH=src")
    from experiments.command import COMMAND, app
    from unseen.cli.main import run

    run(lambda: app(prog_name=COMMAND))
