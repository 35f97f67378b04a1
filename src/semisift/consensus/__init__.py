"""Rankers that stand on several others."""
