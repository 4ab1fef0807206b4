"""BetaE, the transductive control: vectors of the entities of the training graph; see `beta_e`."""
