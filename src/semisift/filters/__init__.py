"""Rankers that score each column by a formula."""
