"""What a committee member is dealt before anything is learnt: columns, bags, out-of-bag rows."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from tests.reference.streams import (
    LABELLED_BAG,
    SUBSPACE,
    UNLABELLED_BAG,
    bounded,
    distinct,
    stream_key,
)


@dataclass
class Plan:
    subspace: list  # columns in order of appearance
    weights: dict  # labelled row -> how often it was drawn (rows never drawn are absent)
    pool: list  # unlabelled rows drawn at least once, ascending
    oob_labelled: list  # ascending
    oob_unlabelled: list  # ascending


def make_plan(codes, p, m, *, seed, member, stratified=False):
    """Plan of one member; codes[row] is -1 (unlabelled) or the class 0..K-1."""
    codes = [int(code) for code in codes]
    labelled = [row for row, code in enumerate(codes) if code >= 0]
    unlabelled = [row for row, code in enumerate(codes) if code < 0]

    subspace = list(islice(distinct(stream_key(seed, member, SUBSPACE), p), m))

    groups = [labelled]
    if stratified:
        groups = [[row for row in labelled if codes[row] == k] for k in range(max(codes) + 1)]
    weights = Counter()
    key = stream_key(seed, member, LABELLED_BAG)
    j = 0  # runs on across the classes
    for group in groups:
        for _ in group:
            weights[group[bounded(key, j, len(group))]] += 1
            j += 1

    key = stream_key(seed, member, UNLABELLED_BAG)
    n_U = len(unlabelled)
    drawn = {unlabelled[bounded(key, j, n_U)] for j in range(n_U)}

    return Plan(
        subspace=subspace,
        weights=dict(weights),
        pool=sorted(drawn),
        oob_labelled=[row for row in labelled if row not in weights],
        oob_unlabelled=[row for row in unlabelled if row not in drawn],
    )
