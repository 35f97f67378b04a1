"""What the rows of a problem have to do with each other: pairs, classes, and edges by label."""
