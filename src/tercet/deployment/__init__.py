"""Putting scores to use: rules, abstaining, a prior that moved, gaps between groups, grids of models."""
