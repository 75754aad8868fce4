"""Evaluation and fitting in bounded memory, by passes over parts of the data."""
