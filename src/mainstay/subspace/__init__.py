"""Random-subspace ensembles of any model that learn which features to use."""
