"""The half of recall that is not in hot: catalog, a model that chooses, answers."""
