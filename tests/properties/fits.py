"""Fits of every method of the registry to small tables, and what may come out of them."""

import inspect
import traceback
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier

import semisift
from semisift import CLASSIFIERS, METHODS

MODELS = sorted({**METHODS, **CLASSIFIERS})
MIN = {"n_members": 6, "n_samplings": 3, "random_state": 0}

# Who may refuse: our own code, and scikit-learn's checks of parameters and of arrays.
HOUSE = str(Path(semisift.__file__).parent)
CHECKS = ("_param_validation.py", "validation.py")


def make(name, **params):
    """Return a small model; of `params` it gets those that it has."""
    cls = {**METHODS, **CLASSIFIERS}[name].cls
    known = inspect.signature(cls).parameters
    wanted = {**MIN, **params}
    if name == "labelled-only":
        wanted["estimator"] = DummyClassifier()
    return cls(**{key: value for key, value in wanted.items() if key in known})


@dataclass
class Answer:
    """What came out of a fit: arrays by the meaning of their places, or a refusal."""

    refused: str | None = None
    of_columns: dict = field(default_factory=dict)
    of_rows: dict = field(default_factory=dict)
    classes: np.ndarray | None = None

    def taken(self, columns=slice(None), rows=slice(None)):
        """Return what is expected where columns and rows stand in another order."""
        of_columns = {key: values[columns] for key, values in self.of_columns.items()}
        of_rows = {key: values[rows] for key, values in self.of_rows.items()}
        return replace(self, of_columns=of_columns, of_rows=of_rows)

    def renamed(self, new):
        """Return what is expected where class ``c`` is called ``new[c]``."""
        if self.refused is not None or not self.of_rows:
            return self
        names = np.array([new[c] if 0 <= c < len(new) else c for c in self.classes])
        of_rows = {"probabilities": self.of_rows["probabilities"][:, np.argsort(names)]}
        if "codes" in self.of_rows:
            place = np.append(np.argsort(np.argsort(names)), -1)  # -1 stays where it is
            of_rows["codes"] = place[self.of_rows["codes"]]
        return replace(self, of_rows=of_rows)


def answer(name, X, y, **params):
    """Fit and return what came out; another error than a refusal goes on.

    What is no number where there should be one fails at once.
    """
    model = make(name, **params)
    with warnings.catch_warnings():
        for each in ("Fallback", "Graph", "NoUnlabelledData", "NovelClass"):
            warnings.simplefilter("ignore", getattr(semisift, f"{each}Warning"))
        try:
            model.fit(X, y)
            found = _of_ranker(model) if name in METHODS else _of_learner(model, X)
        except (ValueError, TypeError) as error:
            check_refusal(error)
            return Answer(refused=f"{type(error).__name__}: {error}")
    return found


def _of_ranker(model):
    n_columns = model.n_features_in_
    assert model.scores_.shape == (n_columns,)
    assert sorted(model.ranking_) == [*range(1, n_columns + 1)]
    order = np.argsort(model.score_ranking_)
    with np.errstate(invalid="ignore"):
        assert not (np.diff(model.scores_[order]) > 0).any()
    return Answer(of_columns={"scores": model.scores_})


def _of_learner(model, X):
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    of_rows = {"probabilities": probabilities}
    if hasattr(model, "transduction_"):
        place = {label: code for code, label in enumerate(model.classes_.tolist())}
        labels = np.asarray(model.transduction_).tolist()
        of_rows["codes"] = np.array([place.get(label, -1) for label in labels])
    return Answer(of_rows=of_rows, classes=model.classes_)


def check_refusal(error):
    """Fail unless an error is one of ours, in words of ours."""
    place = traceback.extract_tb(error.__traceback__)[-1].filename
    is_ours = place.startswith(HOUSE) or place.endswith(CHECKS)
    if not is_ours or type(error).__module__.startswith("numpy"):
        raise AssertionError(f"not a refusal of ours, but {error!r} of {place}") from error
    assert len(str(error)) > 15, error
