"""The paper's experiments: `python -m experiments`, run from a checkout. No part of the installed package."""
