"""How methods compare: what was measured, whether the differences mean something, how stable."""
