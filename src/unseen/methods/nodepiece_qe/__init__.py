"""NodePiece-QE: entities are vectors made of tokens, links are scored; see `nodepiece_qe`."""
