"""Evaluation and fitting in bounded memory, by passes over parts of the data."""

from tercet.outofcore.scan import Arrays, Chunks, Scan

__all__ = ["Arrays", "Chunks", "Scan"]
