"""Maps from scores to log-likelihood ratios: two classes, several classes, fusion, cross-fitting and selection."""
