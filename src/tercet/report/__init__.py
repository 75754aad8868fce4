"""Output: an evaluation's facts in, text out. Nothing here computes a result or sees a trial."""
