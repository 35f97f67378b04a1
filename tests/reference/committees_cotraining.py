"""Co-Forest, CoBC, Tri-training and the annealed forest, line by line.

Every member is asked about every row again whenever an answer is needed; trees are those of
tree.py, in exact arithmetic. Votes are counted in units of 1/65536, as the committees count them.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from tests.reference.forest import node_columns
from tests.reference.plan import make_plan
from tests.reference.streams import (
    NODE_SUBSPACE,
    PERMUTATION,
    TIES,
    UNLABELLED_BAG,
    stream_key,
    word,
)
from tests.reference.tree import Example, grow, leaf_counts

VOTE = 65536
UNIT = 256


@dataclass
class Committee:
    """Members that are trees, with m columns for each node or for each member."""

    X: np.ndarray
    codes: list
    seed: int
    n_members: int
    m: int
    at_nodes: bool
    spread: np.ndarray
    soft: bool = True
    trees: list = field(default_factory=list)

    def __post_init__(self):
        self.n_classes = max(self.codes) + 1
        self.labelled = [row for row, code in enumerate(self.codes) if code >= 0]
        self.unlabelled = [row for row, code in enumerate(self.codes) if code < 0]
        self.plans = [
            make_plan(self.codes, self.X.shape[1], self.m, seed=self.seed, member=i)
            for i in range(self.n_members)
        ]
        self.bags = [
            [Example(row, w, self.codes[row]) for row, w in plan.weights.items()]
            for plan in self.plans
        ]
        self.trees = [self.fit(i, self.bags[i]) for i in range(self.n_members)]

    def fit(self, i, examples):
        def columns_at(number, examples):
            if not self.at_nodes:
                return self.plans[i].subspace
            key = stream_key(self.seed, i, NODE_SUBSPACE + number)
            return node_columns(self.X, examples, self.m, key)

        examples = sorted(examples, key=lambda e: e.label)
        return grow(self.X, examples, columns_at, self.n_classes, self.spread)

    def vote(self, i, row, soft=None):
        counts = leaf_counts(self.trees[i], self.X[row])
        if self.soft if soft is None else soft:
            total = sum(counts)
            return np.array([(2 * VOTE * c + total) // (2 * total) for c in counts])
        return np.array([int(k == counts.index(max(counts))) for k in range(self.n_classes)])

    def predict(self, i, row):
        return int(self.vote(i, row, soft=False).argmax())

    def opinion(self, members, row):
        """Label and confidence of some members; confidence 0 where there is none."""
        votes = sum((self.vote(j, row) for j in members), np.zeros(self.n_classes, dtype=int))
        return int(votes.argmax()), votes.max() / max(votes.sum(), 1)

    def others(self, i):
        return [j for j in range(self.n_members) if j != i]

    def word(self, n_round, i, purpose, row):
        return word(stream_key(self.seed, n_round * self.n_members + i, purpose), row)

    def total(self):
        rows = range(len(self.X))
        return np.array([sum(self.vote(i, row) for i in range(self.n_members)) for row in rows])


def co_forest(committee, threshold, max_iter=100):
    """Return the rounds, e' and the first rounds of the rows that a member has in the end."""
    c, N = committee, committee.n_members
    held = {}
    previous, size = [0.5] * N, [min(len(c.unlabelled) / 10, 100)] * N
    first = {}
    for n_round in range(1, max_iter + 1):
        updates = {}
        for i in range(N):
            sure = []
            for row in c.labelled:
                judges = [j for j in c.others(i) if row in c.plans[j].oob_labelled]
                label, confidence = c.opinion(judges, row)
                if confidence > threshold:
                    sure.append(label != c.codes[row])
            error = sum(sure) / len(sure) if sure else 0.5
            if error >= previous[i]:
                continue
            most = len(c.unlabelled)
            if error > 0:
                most = math.ceil(previous[i] * size[i] / error - 1 - 1e-9)
            drawn = sorted(c.unlabelled, key=lambda row: c.word(n_round, i, TIES, row))[:most]
            kept = [(row, *c.opinion(c.others(i), row)) for row in sorted(drawn)]
            kept = [(row, label, conf) for row, label, conf in kept if conf > threshold]
            weight = sum(conf for _, _, conf in kept)
            if size[i] < len(kept) and error * weight < previous[i] * size[i]:
                updates[i] = error, weight, kept
        if not updates:
            return n_round, previous, still_held(first, held)
        for i, (error, weight, kept) in updates.items():
            previous[i], size[i] = error, weight
            bag = [Example(row, UNIT, c.codes[row]) for row in c.labelled]
            bag += [Example(row, round(UNIT * conf), label) for row, label, conf in kept]
            updates[i] = c.fit(i, bag)
            held[i] = [row for row, _, _ in kept]
            for row in held[i]:
                first.setdefault(row, n_round)
        for i, tree in updates.items():
            c.trees[i] = tree
    return max_iter, previous, still_held(first, held)


def still_held(first, held):
    """Leave out the rows that a member was handed and has no longer: none of them counts."""
    return {row: n for row, n in first.items() if any(row in rows for rows in held.values())}


def co_bc(committee, growth, pool_size, max_iter):
    """Return the rounds and for each unlabelled row the first round in which it was handed."""
    c, N = committee, committee.n_members
    counts = [sum(c.codes[row] == k for row in c.labelled) for k in range(c.n_classes)]
    quotas = [max(1, math.ceil(growth * n / sum(counts) - 1e-9)) for n in counts]
    left = [list(c.unlabelled) for _ in range(N)]
    first = {}
    for n_round in range(1, max_iter + 1):
        pseudo_labelled = []
        for i in range(N):
            order = sorted(left[i], key=lambda row: c.word(n_round, i, UNLABELLED_BAG, row))
            opinions = {row: c.opinion(c.others(i), row) for row in order[:pool_size]}
            for k in range(c.n_classes):
                rows = [row for row, (label, _) in opinions.items() if label == k]
                rows.sort(key=lambda row: (-opinions[row][1], c.word(0, i, TIES, row)))
                pseudo_labelled += [(i, row, k) for row in rows[: quotas[k]]]
        for i, row, k in pseudo_labelled:
            c.bags[i].append(Example(row, 1, k))
            left[i].remove(row)
            first.setdefault(row, n_round)
        if not pseudo_labelled:
            return n_round, first
        c.trees = [c.fit(i, c.bags[i]) for i in range(N)]
        if not any(left):
            return n_round, first
    return max_iter, first


def tri_training(committee, max_iter=100):
    """Return the rounds, the e' after each, and the first rounds of the rows held in the end."""
    c, held = committee, {}
    previous, size, first, history = [0.5] * 3, [0] * 3, {}, []
    for n_round in range(1, max_iter + 1):
        updates = {}
        for i in range(3):
            one, two = c.others(i)

            def agree(row, one=one, two=two):
                return c.predict(one, row) == c.predict(two, row)

            judged = [c.predict(one, row) != c.codes[row] for row in c.labelled if agree(row)]
            error = sum(judged) / len(judged) if judged else 0.5
            if error >= previous[i]:
                continue
            rows = [row for row in c.unlabelled if agree(row)]
            ratio = error / (previous[i] - error)
            if size[i] == 0:
                size[i] = math.floor(ratio + 1)
            if size[i] >= len(rows):
                continue
            if error * len(rows) >= previous[i] * size[i]:
                if size[i] <= ratio:
                    continue
                rows.sort(key=lambda row: c.word(n_round, i, TIES, row))
                rows = rows[: math.ceil(previous[i] * size[i] / error - 1 - 1e-9)]
            updates[i] = [(row, c.predict(one, row)) for row in rows]
            previous[i], size[i] = error, len(rows)
        history.append(list(previous))
        if not updates:
            return n_round, history, still_held(first, held)
        trees = {}
        for i, taught in updates.items():
            bag = [Example(row, 1, c.codes[row]) for row in c.labelled]
            trees[i] = c.fit(i, bag + [Example(row, 1, label) for row, label in taught])
            held[i] = [row for row, _ in taught]
            for row in held[i]:
                first.setdefault(row, n_round)
        for i, tree in trees.items():
            c.trees[i] = tree
    return max_iter, history, still_held(first, held)


def ss_forest(committee, alpha, temperature, cooling, max_iter):
    """Return the out-of-bag errors of the first and of the last forest (no airbag)."""
    c = committee
    errors = [oob_error(c)]
    for n_round in range(1, max_iter + 1):
        total = c.total()
        shares = {row: annealed(total[row] / total[row].sum(), alpha, temperature)
                  for row in c.unlabelled}  # fmt: skip
        trees = []
        for i in range(c.n_members):
            bag = list(c.bags[i])
            for row in c.unlabelled:
                uniform = (c.word(n_round, i, PERMUTATION, row) >> 11) / 2**53
                below = np.cumsum(shares[row])[:-1]
                bag.append(Example(row, 1, int((uniform >= below).sum())))
            trees.append(c.fit(i, bag))
        c.trees = trees
        temperature /= cooling
    return errors[0], oob_error(c)


def annealed(votes, alpha, temperature):
    """p(k) proportional to exp(-alpha * hinge loss / T)."""
    weight = []
    for k, vote in enumerate(votes):
        margin = vote - max(other for j, other in enumerate(votes) if j != k)
        weight.append(math.exp(-alpha * max(0.0, 1 - margin) / temperature))
    return np.array(weight) / sum(weight)


def oob_error(c):
    wrong = []
    for row in c.labelled:
        judges = [j for j in range(c.n_members) if row in c.plans[j].oob_labelled]
        if judges:
            wrong.append(c.opinion(judges, row)[0] != c.codes[row])
    return sum(wrong) / len(wrong)
