"""What rankers and classifiers share: validation, training data, labels and the base classes."""
