"""Tables that are computed from predicted solutions: counts, groups, display values, order."""
