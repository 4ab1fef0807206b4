"""The large graph of section 5.5: made up with the counts of WikiKG-QE, because the published one is not at hand."""
