import numpy as np
import pytest
from numpy.testing import assert_allclose

from semisift.transduction._components import components, scaled_rows
from semisift.transduction._gaussian_ridge import gaussian_classes, ridge, softmax
from semisift.transduction._permuted_features import exceeded_by_permuted_features, labelled_scores
from semisift.transduction._soft_labels import fifths, find_soft_labels, kappa
from tests.reference import transduction as reference
from tests.transduction.cases import mixture

CASES = [{"seed": 0}, {"seed": 1, "n_classes": 3}, {"seed": 2, "n_columns": 2, "per_class": 1}]
every = pytest.mark.parametrize("case", CASES, ids=str)
PRIORS = {2: np.array([0.3, 0.7]), 3: np.array([0.2, 0.5, 0.3])}


def held(codes, n_classes):
    return (codes[None, :, None] == np.arange(n_classes)).astype(float)


@every
@pytest.mark.parametrize("given", [False, True])
def test_gaussian_classes_equal_the_loops(case, given):
    problem, _ = mixture(**case)
    T, codes, n_classes = components(problem), problem.labels.codes, problem.labels.n_classes
    prior = PRIORS[n_classes] if given else None
    found = gaussian_classes(T[:, :5], held(codes, n_classes), prior)[0]
    assert_allclose(found, reference.gaussian_classes(T[:, :5], codes, n_classes, prior), atol=1e-8)


def test_sets_of_labels_do_not_see_each_other():
    problem, _ = mixture()
    T, codes = components(problem)[:, :4], problem.labels.codes
    other = np.where(np.arange(40) % 3, codes, -1)
    other[:2] = 0, 1
    sets = np.concatenate([held(codes, 2), held(other, 2)])
    own = np.array([T, T[::-1]])
    for number, (each, rows) in enumerate(zip(sets, own, strict=True)):
        alone = gaussian_classes(T, each[None], None)[0]
        assert_allclose(gaussian_classes(T, sets, None)[number], alone, atol=1e-12)
        alone = gaussian_classes(rows, each[None], None)[0]
        assert_allclose(gaussian_classes(own, sets, None)[number], alone, atol=1e-12)


@every
def test_ridge_equals_the_normal_equations(case):
    problem, _ = mixture(**case)
    T, codes, n_classes = components(problem), problem.labels.codes, problem.labels.n_classes
    assert_allclose(ridge(T, codes, n_classes), reference.ridge(T, codes, n_classes), atol=1e-9)


def test_a_ridge_without_differences_says_nothing():
    T = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 5.0]])
    assert_allclose(ridge(T, np.array([0, 1, -1]), 2), 0.5)


def test_softmax_of_large_numbers():
    assert_allclose(softmax(np.array([[1e300, 1e300, -1e300]])), [[0.5, 0.5, 0.0]])


@every
@pytest.mark.parametrize("given", [False, True])
def test_soft_labels_equal_the_reference(case, given):
    problem, _ = mixture(**case)
    codes, n_classes = problem.labels.codes, problem.labels.n_classes
    prior = PRIORS[n_classes] if given else None
    found = find_soft_labels(problem, prior)
    shares, weights, stability, recovered, trust = reference.soft_labels(
        components(problem), codes, n_classes, prior
    )
    assert_allclose(found.shares, shares, atol=1e-7)
    assert_allclose(found.weights, weights, rtol=1e-6)
    assert found.stability == pytest.approx(stability)
    assert found.n_recovered == recovered
    assert found.trust == pytest.approx(trust, abs=1e-6)


def test_fifths_equal_the_reference():
    rng = np.random.default_rng(0)
    codes, key = rng.integers(-1, 3, 50), rng.normal(size=50)
    codes[codes == 2] = -1
    codes[7] = 2
    assert fifths(codes, 3, key).tolist() == reference.fifths(codes, 3, key)
    assert fifths(codes, 3, key)[7] == -1


def test_kappa_equals_the_table():
    rng = np.random.default_rng(0)
    for n_classes in (2, 4):
        one = rng.integers(0, n_classes, 30)
        other = np.where(rng.random(30) < 0.6, one, rng.integers(0, n_classes, 30))
        expected = reference.kappa(one, other, n_classes)
        assert kappa(one, other, range(n_classes)) == pytest.approx(expected)
    same = np.zeros(3, dtype=int)
    assert kappa(same, same, range(2)) == 1.0
    assert kappa(same, same + 1, range(2)) == 0.0


@every
@pytest.mark.parametrize("given", [False, True])
def test_permuted_features_equal_a_table_of_columns_and_permuted_features(case, given):
    problem, _ = mixture(**(case | {"per_class": 4, "n_columns": 7}))
    codes, n_classes = problem.labels.codes, problem.labels.n_classes
    Z, T = scaled_rows(problem).values, components(problem)
    prior = PRIORS[n_classes] if given else None
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(codes)) for _ in range(6)]
    found = list(exceeded_by_permuted_features(problem, iter(orders), prior))
    for order, (soft, few) in zip(orders, found, strict=True):
        wanted = reference.beaten_by_permuted(Z, T, codes, n_classes, order, prior)
        assert soft.tolist() == np.array(wanted[0]).tolist()
        assert few.tolist() == np.array(wanted[1]).tolist()
    beaten = np.concatenate([np.concatenate(pair, axis=None) for pair in found])
    assert 0 < beaten.mean() < 1, "the example must have both"


@every
def test_scores_of_labelled_rows_equal_the_loops(case):
    problem, _ = mixture(**(case | {"per_class": 4}))
    labels, rows = problem.labels, scaled_rows(problem)
    order = np.random.default_rng(0).permutation(len(labels.codes))
    expected = reference.labelled_scores(rows.values[order], labels.codes, labels.n_classes)
    assert_allclose(labelled_scores(rows, labels, order)[0], expected)
