"""How many features to select, and how sure to be of them, around any ranker.

Three rules decide by themselves: shuffled copies (`shadow`), resampling (`stability`) and modelled
copies (`knockoff`). `assessment` tells how much a ranking depends on the rows and on the labels.
"""
