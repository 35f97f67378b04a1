"""Active learning: which rows to label next."""
