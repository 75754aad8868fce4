"""Counts and costs: tallies, curves, confusion matrices, costs, posteriors, closed-form intervals."""
