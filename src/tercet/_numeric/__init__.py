"""Numerical helpers without a notion of trials: exact sums, validation, threads, Newton's method, saved models."""
