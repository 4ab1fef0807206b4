"""Reasons for answers: rules with the edges that ground them, the model's own share, proofs, and what is absent."""
