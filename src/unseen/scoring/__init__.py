"""How likely statements are: facts, formulas, and whole tables of triples."""
