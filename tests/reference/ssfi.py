"""SSFI (Barkia, Elghazel, Aussem 2011), algorithms 1 to 4, with exact trees and expectations."""

from dataclasses import dataclass

import numpy as np

from tests.reference.importance import tree_importance
from tests.reference.plan import Plan, make_plan
from tests.reference.streams import TIES, stream_key, word
from tests.reference.tree import Example, Node, fit_tree, leaf_counts, predict


@dataclass
class Member:
    number: int
    plan: Plan
    examples: list  # training set: labelled bag, then the rows picked so far
    pool: list  # unlabelled rows of its bag not yet picked
    picks: list  # (round, row, label) in the order they were added
    tree: Node


def ssfi(
    X,
    codes,
    *,
    seed,
    n_members,
    m,
    n_rounds,
    n_k,
    stratified=False,
    votes="hard",
    spread=None,
    net=False,
    normalise="draws",
    prior=None,
    max_depth=None,
):
    """Scores of all features, and what led to them.

    Parameters
    ----------
    X : float64 array (n, p)
    codes : class 0..K-1 of each row, -1 where unlabelled; K = len(n_k)
    n_k : rows each member may pick per round, for each class
    votes : "hard" or "probability"
    spread : None for tie_break="first"; one float per feature for tie_break="gap"
    prior : None, or the class shares that the vote mass is scaled to

    Returns
    -------
    dict with scores, label and conf (n; -1 and 0.0 where no member voted), votes (n, K),
    n_iter, oob_agreement (NaN if no member has a usable row), draws (p), picks (per member a
    list of (round, row, label), rounds from 1), plans and trees (per member).
    """
    X = np.asarray(X, dtype=np.float64)
    p = X.shape[1]
    K = len(n_k)

    def fit(member):
        return fit_tree(
            X, member.examples, member.plan.subspace, K, spread=spread, max_depth=max_depth
        )

    committee = []
    for i in range(n_members):
        plan = make_plan(codes, p, m, seed=seed, member=i, stratified=stratified)
        bag = [Example(row, w, int(codes[row])) for row, w in sorted(plan.weights.items())]
        member = Member(i, plan, bag, list(plan.pool), [], None)
        member.tree = fit(member)
        committee.append(member)

    n_iter = 0
    for t in range(1, n_rounds + 1):
        label, conf = decide(cast_votes(committee, X, K, votes), prior)
        changed = False
        for member in committee:
            picked = pick(member, label, conf, n_k, seed)
            if picked:
                for row, k in picked:
                    member.examples.append(Example(row, 1, k))
                    member.pool.remove(row)
                    member.picks.append((t, row, k))
                member.tree = fit(member)
                changed = True
        if not changed:
            break
        n_iter = t

    final_votes = cast_votes(committee, X, K, votes)
    label, conf = decide(final_votes, prior)

    total = np.zeros(p)
    draws = np.zeros(p, dtype=int)
    agreements = []
    for member in committee:
        usable = [row for row in member.plan.oob_unlabelled if label[row] >= 0]
        out_of_bag = [(row, int(codes[row]), 1.0) for row in member.plan.oob_labelled]
        out_of_bag += [(row, int(label[row]), float(conf[row])) for row in usable]
        for feature, value in tree_importance(member.tree, X, out_of_bag, net=net).items():
            total[feature] += value
        for feature in member.plan.subspace:
            draws[feature] += 1
        if usable:
            agreeing = [predict(member.tree, X[row]) == label[row] for row in usable]
            agreements.append(sum(agreeing) / len(usable))

    divisor = {"members": n_members, "draws": np.maximum(draws, 1)}[normalise]
    return {
        "scores": total / divisor,
        "label": label,
        "conf": conf,
        "votes": final_votes,
        "n_iter": n_iter,
        "oob_agreement": sum(agreements) / len(agreements) if agreements else float("nan"),
        "draws": draws,
        "picks": [member.picks for member in committee],
        "plans": [member.plan for member in committee],
        "trees": [member.tree for member in committee],
    }


def cast_votes(committee, X, K, kind):
    """Integer votes (n, K): every member votes on its out-of-bag unlabelled rows."""
    votes = np.zeros((len(X), K), dtype=np.int64)
    for member in committee:
        for row in member.plan.oob_unlabelled:
            votes[row] += ballot(leaf_counts(member.tree, X[row]), kind)
    return votes


def ballot(counts, kind):
    """Votes of one leaf: 1 for its class, or its class shares in units of 1/65536, rounded."""
    total = sum(counts)
    if kind == "hard":
        winner = counts.index(max(counts))
        return [int(k == winner) for k in range(len(counts))]
    assert kind == "probability"
    return [(2 * c * 65536 + total) // (2 * total) for c in counts]


def decide(votes, prior=None):
    """Winning class and its share of the votes; -1 and 0.0 for rows without a vote."""
    label = np.full(len(votes), -1)
    conf = np.zeros(len(votes))
    usable = votes.sum(axis=1) > 0
    if not usable.any():
        return label, conf
    share = votes[usable] / votes[usable].sum(axis=1, keepdims=True)
    if prior is None:
        winner = votes[usable].argmax(axis=1)
    else:
        mass = share.mean(axis=0)
        factor = [prior[k] / mass[k] if mass[k] > 0 else 0.0 for k in range(len(mass))]
        share = share * np.array(factor)
        share = share / share.sum(axis=1, keepdims=True)
        winner = share.argmax(axis=1)
    label[usable] = winner
    conf[usable] = share.max(axis=1)
    return label, conf


def pick(member, label, conf, n_k, seed):
    """The n_k surest rows of each class from the member's pool, as (row, class) pairs."""
    key = stream_key(seed, member.number, TIES)
    picked = []
    for k in range(len(n_k)):
        rows = [row for row in member.pool if label[row] == k]
        rows.sort(key=lambda row: (-conf[row], word(key, row)))
        picked += [(row, k) for row in rows[: n_k[k]]]
    return picked
