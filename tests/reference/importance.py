"""Expected permutation importance of one tree: the average over ALL permutations of a column.

Under a uniformly random permutation of column f inside O, the value that lands on a row x is
uniform over O. So the expectation needs only, for every x, the share of the |O| values with
which the tree still answers label_x.
"""

from tests.reference.tree import predict, split_features


def kept_share(tree, X, rows, x, label, feature):
    """Share of z in rows for which tree(x with x_f := z_f) is still the label."""
    kept = 0
    for z in rows:
        if predict(tree, X[x], feature, X[z, feature]) == label:
            kept += 1
    return kept / len(rows)


def tree_importance(tree, X, out_of_bag, *, net):
    """Contribution {feature: value} of one tree; out_of_bag is a list of (row, label, weight).

    net=False, the paper's measure: O = the rows predicted right, the weight expected to be lost.
    net=True: O = all rows, the weight right before minus the weight expected to be right after.
    """
    right = {row: predict(tree, X[row]) == label for row, label, _ in out_of_bag}
    kept_rows = [entry for entry in out_of_bag if net or right[entry[0]]]
    rows = [row for row, _, _ in kept_rows]
    if len(rows) < 2:
        return {}
    contribution = {}
    for feature in sorted(split_features(tree)):
        total = 0.0
        for row, label, weight in kept_rows:
            lost = float(right[row]) - kept_share(tree, X, rows, row, label, feature)
            total += float(weight) * lost
        contribution[feature] = total
    return contribution
