"""`python -m unseen`: the command line where the command itself is not on the path."""

from unseen.cli.main import run

if __name__ == "__main__":
    run()
