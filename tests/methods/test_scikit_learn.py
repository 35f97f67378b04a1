"""scikit-learn's own checks, every class once."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

from semisift import CLASSIFIERS, METHODS, LabelledOnly, MixedNB, NNge
from tests.methods.test_common import REPRESENTATIVES, make
from tests.methods.test_ranker import MeanGap

# As with the forests of scikit-learn: three copies of a row are drawn into bags one by one, a row
# of weight 3 as a whole. tests/ensemble compares it with copies that are drawn together.
BY_CHANCE = "members draw rows at random"
ONE_FIFTH = "a row of weight 2 is left out at once, two equal rows one after the other"
WEIGHTS = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
CLASSES = {
    "check_classifiers_classes": (
        "feeds the classes {-1, 1}; scikit-learn exempts its own semi-supervised classifiers"
    )
}

# What only asks for the constructor, the tags and the methods that the base class has: every night
# for all classes, and every day for the representatives of their families.
OF_THE_BASE = {
    "check_array_api_input",
    "check_complex_data",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_empty_data_messages",
    "check_estimators_overwrite_params",
    "check_estimators_unfitted",
    "check_estimator_sparse_tag",
    "check_fit1d",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_score_takes_y",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_set_params",
    "check_transformer_data_not_an_array",
    "check_transformer_n_iter",
    "check_transformer_preserve_dtypes",
    "check_transformers_unfitted",
    "check_transformers_unfitted_stateless",
    "check_valid_tag_types",
}

EVERY_DAY = {*REPRESENTATIVES, "self-training", "tri-training", "transduction", "labelled-only"}
EVERY_DAY |= {"mixed-nb", "nnge", "a ranker of one's own"}

SMALL = {
    "co-forest": {"n_members": 10},
    "co-bc": {"n_members": 4, "max_iter": 3},
    "ss-forest": {"n_members": 5, "max_iter": 2},
}
CHECKED = {name: make(name) for name in METHODS}
CHECKED |= {
    name: entry.cls(**SMALL.get(name, {}))
    for name, entry in CLASSIFIERS.items()
    if name != "labelled-only"
}
CHECKED |= {"mixed-nb": MixedNB(), "nnge": NNge(), "a ranker of one's own": MeanGap()}
CHECKED["labelled-only"] = LabelledOnly(LogisticRegression())


def expected_failures(name):
    """Return why a class fails some checks."""
    if name in METHODS:
        reason = BY_CHANCE if hasattr(CHECKED[name], "n_members") else None
        return dict.fromkeys(WEIGHTS, reason) if reason else {}
    weights = dict.fromkeys(WEIGHTS, ONE_FIFTH) if name == "transduction" else {}
    return CLASSES | weights if name in CLASSIFIERS else {}


def checks():
    """Yield a test for each class and check."""
    for name, estimator in CHECKED.items():
        failures = expected_failures(name)
        for _, check in estimator_checks_generator(estimator):
            what = check.func.__name__
            marks = [pytest.mark.xfail(reason=failures[what])] if what in failures else []
            if what in OF_THE_BASE and name not in EVERY_DAY:
                marks.append(pytest.mark.nightly)
            yield pytest.param(estimator, check, marks=marks, id=f"{name}-{what}")


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
@pytest.mark.parametrize(("estimator", "check"), [*checks()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
