"""Committees: many small learners, each on columns and rows of its own.

- engine.py: how many members, and their work spread over threads, processes or machines
- blocks.py: what members of any kind are dealt and handed
- bags.py: which rows are in whose bag
- members.py: members that are trees of the kernels, and the choice between the two kinds
- estimators.py, permutation.py: members that are scikit-learn classifiers
"""
