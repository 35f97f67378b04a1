"""SelfTraining: one classifier that learns from the labels that it gives.

D. Yarowsky (1995). Unsupervised word sense disambiguation rivaling supervised methods. ACL.

    repeat:
        train the classifier on the labelled rows
        add the rows that it is surest about, with the classes that it gives them
"""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.semi_supervised import SelfTrainingClassifier

from semisift.base._training_data import TrainingData
from semisift.committee._estimators import with_random_states
from semisift.parallel import Committee
from semisift.semi_supervised._base import Labelling
from semisift.semi_supervised._subspace_loop import EstimatorTrainer, SubspaceClassifier
from semisift.utils._sklearn_compat import Interval, StrOptions, at_least
from semisift.utils._typing import Ints


class SelfTraining(SubspaceClassifier):
    """A classifier that adds the rows it is surest about to those it learns from.

    With ``label_by="k_best"`` the `k_best` surest rows of each class are added in an iteration,
    equally sure ones in a seeded random order; with ``label_by="min_confidence"`` all rows whose
    probability exceeds it, by scikit-learn's `SelfTrainingClassifier`. The first is the
    default because trees, and neighbours, give a probability of 1 to most rows. Labels may be
    strings, and None or NaN mark unlabelled rows as -1 does.

    Parameters
    ----------
    estimator : classifier, default=None
        Any scikit-learn classifier, with `predict_proba` for min_confidence; None is 3 nearest
        neighbours.
    label_by : {"k_best", "min_confidence"}, default="k_best"
        Which rows are added.
    k_best : int, default=1
        Rows of each class.
    min_confidence : float, default=0.75
        In [0, 1).
    max_iter : int or None, default=10
        Iterations; None goes on until all rows are labelled, or none is sure enough.
    n_jobs : int, default=None
        Threads of the nearest neighbours; the results do not depend on it.
    random_state : int or RandomState instance, default=None
        Seed of the order of equally sure rows and of the random states of the estimator. None is a
        fixed seed.

    Attributes
    ----------
    {classes_}
    {transduction_}
    {labeled_iter_}
    {n_iter_}
    {termination_condition_}
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    D. Yarowsky (1995). Unsupervised word sense disambiguation rivaling supervised methods. ACL.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from semisift import SelfTraining
    >>> X, y = load_iris(return_X_y=True)
    >>> names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    >>> names[np.arange(150) % 50 > 3] = None
    >>> model = SelfTraining().fit(X, names)
    >>> (model.transduction_ != None).sum()
    np.int64(42)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubspaceClassifier._parameter_constraints,
        "label_by": [StrOptions({"k_best", "min_confidence"})],
        "k_best": [at_least(1)],
        "min_confidence": [Interval(Real, 0, 1, closed="left")],
    }

    label_by: Literal["k_best", "min_confidence"] = "k_best"
    k_best: int = 1
    min_confidence: float = 0.75

    def _n_tasks(self, data: TrainingData) -> int | None:
        return 0 if self._uses_threshold(data) else super()._n_tasks(data)

    def _uses_threshold(self, data: TrainingData) -> bool:
        return self.label_by == "min_confidence" and len(data.labels.unlabelled) > 0

    def _draw(self, data: TrainingData) -> Ints:
        return np.arange(data.n_features)[None, :]

    def _co_train(self, training: TrainingData) -> Labelling:
        if not self._uses_threshold(training):
            return super()._co_train(training)
        estimator = self._classifier(training)
        with Committee(1, self.n_jobs) as committee:
            trainer = EstimatorTrainer(training, self._draw(training), estimator, committee)
            if not hasattr(estimator, "predict_proba"):
                raise ValueError(
                    "label_by='min_confidence' needs an estimator with predict_proba: got "
                    f"{estimator!r}."
                )
            trainer.predict_each(trainer.rows[:1])  # what it answers is checked
            begin, _ = trainer.members()
        (member,), data = begin.fitted, trainer.context.table
        rows = begin.row_format.take(data, np.arange(training.n_rows), member.columns)
        model = SelfTrainingClassifier(
            with_random_states(estimator, training.seed, 0),
            threshold=self.min_confidence,
            max_iter=self.max_iter,
        ).fit(rows, training.labels.codes)
        end = replace(begin, fitted=[member._replace(estimator=model.estimator_)])
        self._first_members, self._members = begin, end
        return Labelling(
            model.transduction_, model.labeled_iter_, model.n_iter_, model.termination_condition_
        )
