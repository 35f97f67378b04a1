"""Soft labels: how likely each class is for each row, from few labels and the shape of all rows."""
