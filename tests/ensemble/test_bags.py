"""What is in the bags of committees whose rows are of groups."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from semisift import (
    SEFR,
    SSFI,
    BaggingConstraintScore,
    EnsCLS,
    ForestImportance,
    PCTForestImportance,
    _kernels,
)
from semisift.base._pairs import some_pairs
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import MAX_DRAWS, Bootstrap
from semisift.committee._members import build_context
from semisift.ensemble._pct import PCTSetting, folds
from semisift.ensemble._subspaces import draw_members, make_setting
from semisift.ensemble.bagging_constraint import draw_groups_of_pairs
from semisift.parallel import Committee
from semisift.semi_supervised._team import Team
from semisift.utils._random import unmask
from tests.conftest import make_data
from tests.reference.streams import LABELLED_BAG, bounded, stream_key

RANKERS = {
    "ssfi": SSFI(n_members=60),
    "sefr": SEFR(n_members=60),
    "forest": ForestImportance(n_members=60),
    "pct": PCTForestImportance(n_members=30),
    "enscls": EnsCLS(n_members=60),
    "bagging": BaggingConstraintScore(n_members=30),
}


def grouped_problem(seed=0, n_rows=70, n_groups=11, **known):
    """Rows in groups of very unequal sizes, whose numbers neither start at 0 nor are in order."""
    data = make_data(n_rows=n_rows, n_features=9, per_class=8)
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_groups, 0.7))
    groups = 5 + 3 * rng.permutation(n_groups)[rng.choice(n_groups, size=n_rows, p=shares)]
    design = parse_design(n_rows, groups=groups, **known)
    return TrainingData.build(data.X, data.y, design=design, seed=7)


def test_groups_are_drawn_as_the_reference_draws_them():
    data = grouped_problem()
    rows = Bootstrap.of(data, stratified=False)
    counts, masks = rows.draw(7, 20, 60)
    names = list(dict.fromkeys(data.design.groups.tolist()))  # by their first rows
    outside = unmask(masks, data.n_rows)
    for i, member in enumerate(range(20, 60)):
        key = stream_key(7, member, LABELLED_BAG)
        for n_before in range(MAX_DRAWS):
            start = n_before * len(names)
            drawn = [names[bounded(key, start + j, len(names))] for j in range(len(names))]
            times = np.array([drawn.count(group) for group in data.design.groups])
            if times[rows.labelled].any():
                break
        assert_array_equal(counts[i], times[rows.labelled])
        assert_array_equal(outside[i], times == 0)
        assert_array_equal(rows.count(7, member), times)
    assert counts.any(axis=1).all()


def test_bags_without_a_labelled_row_are_drawn_anew():
    groups = np.arange(40)
    rows = Bootstrap(
        n_rows=40,
        labelled=np.array([3], dtype=np.int32),
        strata=np.array([0, 1], dtype=np.int32),
        unlabelled=np.setdiff1d(groups, 3).astype(np.int32),
        groups=groups,
    )
    counts, _ = rows.draw(0, 0, 3000)
    assert counts.all()
    # a row that is in the bag: a binomial variable that is not 0
    none = (1 - 1 / 40) ** 40
    assert_allclose(counts.mean(), 1 / (1 - none), atol=0.05)
    assert (rows.draw(0, 5, 6)[0] == counts[5]).all()


def test_each_group_is_drawn_once_on_average():
    times, _ = Bootstrap.of_all(9, groups=np.arange(9)).draw(1, 0, 4000)
    assert_array_equal(times.sum(axis=1), 9)
    assert_allclose(times.mean(axis=0), 1.0, atol=0.06)
    assert_allclose((times == 0).mean(axis=0), (1 - 1 / 9) ** 9, atol=0.03)


@pytest.mark.filterwarnings("ignore::semisift.CompiledKernelsMissingWarning")
@pytest.mark.parametrize("kinds", [nullcontext, _kernels.numpy_only])
def test_no_group_is_on_both_sides(kinds):
    data = grouped_problem()
    with kinds():
        setting = build_context(data, 3)
        plan = setting.new_block(0, 200).plan(setting)
    groups = data.design.groups
    for counts, outside in zip(plan.weights, unmask(plan.out_of_bag, data.n_rows), strict=True):
        inside = np.repeat(groups[setting.labelled], counts)
        assert not set(inside) & set(groups[outside])
        for group in set(groups):  # all rows of a group are on one side
            assert len(set(outside[groups == group])) == 1


def test_rows_are_handed_from_groups_in_the_bag():
    data = grouped_problem()
    setting = build_context(data, 3)
    block = setting.new_block(0, 50)
    unlabelled = data.labels.unlabelled
    starts = np.array([0, len(unlabelled), len(unlabelled)], dtype=np.int32)
    quotas = np.array([5, 0], dtype=np.int32)
    picks = block.pick_confident(setting, unlabelled, np.ones(data.n_rows), starts, quotas)
    outside = unmask(block.plan(setting).out_of_bag, data.n_rows)
    for rows, out in zip(picks, outside, strict=True):
        assert not out[rows[rows >= 0]].any()
    assert (picks >= 0).any()


def test_a_team_has_no_group_on_both_sides():
    data = grouped_problem()
    setting = build_context(data, 3)
    with Committee(30, 1) as committee:
        team = Team(committee, setting, data, probability=True)
    groups = data.design.groups[data.labels.labelled]
    for counts, outside in zip(team.bags.counts, team.out_of_bag, strict=True):
        assert not set(groups[counts > 0]) & set(groups[outside])
        assert_array_equal(counts == 0, outside)


def test_trees_for_clusters_count_rows_as_often_as_their_group():
    data = grouped_problem()
    options = {"n_candidates": 3, "n_descriptive": 3, "min_leaf": 1, "max_depth": -1}
    setting = PCTSetting.build(data, label_weight=0.9, by_labelled=True, **options)
    for member in range(20):
        bag = setting.bag(member)
        for group in set(data.design.groups):
            assert len(set(bag[data.design.groups == group])) == 1


def test_folds_of_the_label_weight_hold_out_groups():
    data = grouped_problem()
    groups, held_once = data.design.groups, []
    for rows, held_out in folds(data):
        assert not set(groups[rows]) & set(groups[held_out])
        held_once += held_out.tolist()
    assert sorted(held_once) == data.labels.labelled.tolist()
    ranker = PCTForestImportance(n_members=5, label_weight="cv")
    assert np.isfinite(ranker.fit(data.X, data.labels.codes, groups=groups).scores_).all()


def test_constraints_of_a_group_are_drawn_together():
    data = grouped_problem()
    setting = make_setting(EnsCLS(variant="paper", n_members=40), data)
    copies = draw_members((0, 40), setting).copies
    groups = data.design.groups[setting.constraints.rows]
    for member in copies:
        for group in set(groups):
            assert len(set(member[groups == group])) == 1
    pairs = some_pairs(data, 500)
    must, cannot = draw_groups_of_pairs(data, pairs, range(40))
    rows = np.unique(np.concatenate([pairs.must_link.ravel(), pairs.cannot_link.ravel()]))
    times, _ = Bootstrap.of_all(len(rows), groups=data.design.groups[rows]).draw(7, 0, 40)
    for kind, found in ((pairs.must_link, must), (pairs.cannot_link, cannot)):
        first, second = (np.searchsorted(rows, kind[:, side]) for side in (0, 1))
        assert_array_equal(found, times[:, first] * times[:, second])


def test_pairs_without_labels_are_drawn_with_their_groups():
    data = make_data(n_rows=40, n_features=6)
    groups = np.arange(40) // 4
    pairs = {"must_link": [[0, 2], [4, 6], [9, 11]], "cannot_link": [[0, 1], [5, 10], [8, 3]]}
    design = parse_design(40, groups=groups)
    training = TrainingData.build(data.X, None, design=design, **pairs)
    setting = make_setting(EnsCLS(variant="paper"), training)
    drawn = draw_members((0, 30), setting).pair_counts
    assert drawn.shape == (30, 6)
    assert_array_equal(drawn[:, 0], np.maximum(drawn[:, 0], drawn[:, 3]))  # rows 0, 1, 2: one group
    assert len(np.unique(drawn)) > 2


@pytest.mark.parametrize("name", RANKERS)
def test_groups_give_the_same_bits_for_any_number_of_threads(name):
    data = make_data(n_rows=60, n_features=9)
    groups = np.random.default_rng(0).integers(0, 12, size=60)
    ranker = RANKERS[name]
    grouped = ranker.fit(data.X, data.y, groups=groups).scores_
    assert not np.array_equal(grouped, ranker.fit(data.X, data.y).scores_)
    if "n_jobs" in ranker.get_params():
        ranker.set_params(n_jobs=2)
    assert_array_equal(ranker.fit(data.X, data.y, groups=groups.astype(str)).scores_, grouped)


@pytest.mark.parametrize("name", ["ssfi", "sefr", "forest"])
def test_a_class_may_be_one_group(name):
    """Then most bags have labelled rows of one class only."""
    data = make_data(n_rows=60, n_features=9)
    scores = RANKERS[name].fit(data.X, data.y, groups=data.y_true).scores_
    assert np.isfinite(scores).any()
