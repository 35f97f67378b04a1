"""Committees: many small members, each on features and rows of its own.

- _blocks.py: what members of any kind share, and ranges of them
- _bootstrap.py: which rows are in whose bag
- _members.py: members that are trees of the kernels, and the choice between the two kinds
- _estimators.py: members that are scikit-learn classifiers, and their permutation importance
- _votes.py: how the votes decide on rows
"""
