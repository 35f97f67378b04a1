"""ForestImportance: the supervised baseline, permutation importance of a random forest.

L. Breiman (2001). Random forests. Machine Learning 45(1).
"""

from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._ranker import WeightedRanker
from semisift.base._training_data import TrainingData
from semisift.committee._members import build_context, new_blocks
from semisift.ensemble._importance import COMMITTEE_CONSTRAINTS, CommitteeMixin, add_up, measure
from semisift.parallel import features_to_draw
from semisift.utils._random import row_mask
from semisift.utils._typing import Floats


class ForestImportance(CommitteeMixin, WeightedRanker):
    """Rank features by the out-of-bag permutation importance of a random forest on labelled rows.

    The gold standard that the SSFI paper compares with; unlabelled rows are not used. Each tree is
    grown on a bootstrap of the labelled rows, with sqrt(p) candidate features drawn at every node
    (and further ones while all of them are constant there). Each feature that it splits on is
    permuted over its out-of-bag rows::

        score(f) = sum over trees of (rows that turn wrong - rows that turn right) / number of trees

    as the exact expectation over all permutations. Higher is better. The cost is that of growing
    the trees: linear in sqrt(p) and in the trees, and up to quadratic in the labelled rows.

    Parameters
    ----------
    {n_features_to_select}
    n_members : int or "auto", default="auto"
        Number of trees; "auto" is ``10 ceil(log(0.01) / log(1 - 1 / sqrt(p)))``.
    {max_features (node)}
    {max_depth}
    {permutation}
    {n_jobs}
    {redundancy_threshold}
    {known columns}
    {random_state (draws, ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    L. Breiman (2001). Random forests. Machine Learning 45(1).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import ForestImportance
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = ForestImportance(n_features_to_select=3, random_state=0).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['hue', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "two_classes"
    allow_nan = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedRanker._parameter_constraints,
        **COMMITTEE_CONSTRAINTS,
    }

    n_members: int | Literal["auto"] = "auto"
    max_features: int | float | Literal["sqrt"] = "sqrt"
    max_depth: int | None = None
    permutation: Literal["expected", "sampled"] = "expected"
    n_jobs: int | None = None

    def _score(self, data: TrainingData) -> Floats:
        data = data.part(data.labels.labelled)
        labels = data.labels
        context = build_context(
            data,
            features_to_draw(self.max_features, data.n_features),
            max_depth=self.max_depth,
            draws_at_nodes=True,
        )
        truth = row_mask(labels.codes == np.arange(labels.n_classes)[:, None])
        options = {"net": True, "sampled": self.permutation == "sampled"}
        with self._committee(data) as committee:
            blocks, weights = new_blocks(committee, context), np.ones(data.n_rows)
            measured = committee.map(measure, blocks, context, truth, weights, options)
            parts = list(self._progress(measured, "trees"))
        n_grown = sum(len(part.agreement) for part in parts)  # fewer if a callback stopped it
        return add_up(parts, n_grown, data.n_features)
