"""How much the members of an ensemble disagree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from semisift.utils._agreement import entropy_diversity


def test_entropy_diversity_by_hand():
    assert entropy_diversity([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]) == 0.5
    assert entropy_diversity(np.tile([True, False, False], (4, 1))) == 0
    assert entropy_diversity(np.array([[1, 0], [1, 0], [0, 1], [0, 1]])) == 1
    assert entropy_diversity([[True, False]]) == 0


def test_properties_of_entropy_diversity():
    rng = np.random.default_rng(0)
    for n_members in (2, 5, 8):
        correct = rng.random((n_members, 40)) < 0.7
        value = entropy_diversity(correct)
        right = correct.sum(axis=0)
        expected = [min(r, n_members - r) / (n_members - -(-n_members // 2)) for r in right]
        assert_allclose(value, np.mean(expected))
        assert_allclose(value, entropy_diversity(rng.permutation(correct)))
        assert_allclose(value, entropy_diversity(rng.permutation(correct, axis=1)))
        assert 0 < value <= 1


@pytest.mark.parametrize("correct", [[], [True], [[]], [[0, 2]], [[0.5, 1]]])
def test_what_is_neither_right_nor_wrong(correct):
    with pytest.raises(ValueError, match="correct must be true or false"):
        entropy_diversity(correct)
