"""What can be counted and priced: tallies, curves, confusion matrices, costs, posteriors, closed-form intervals."""
