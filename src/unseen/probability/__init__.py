"""From memberships to probabilities and expected counts."""
