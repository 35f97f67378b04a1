"""Rows that are labelled or in pairs, and their pairs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift._labels import Labels, pairs_from_labels


class Constraints(NamedTuple):
    """Rows that are labelled or in pairs, and their pairs.

    Attributes
    ----------
    rows : int array of shape (n_constrained,)
    must_link, cannot_link : int arrays of shape (k, 2)
        Places in `rows`; a pair may be there several times.
    labels : Labels or None
        Labels of these rows, where the pairs that follow from them are too many to be listed: they
        come on top of the listed pairs.
    """

    rows: NDArray[np.integer]
    must_link: NDArray[np.integer]
    cannot_link: NDArray[np.integer]
    labels: Labels | None = None

    def ordered(self, order: NDArray[np.integer]) -> "Constraints":
        """Return the same constraints with the rows in another order."""
        place = np.argsort(order).astype(np.int32)
        labels = self.labels and Labels(self.labels.codes[order], self.labels.classes)
        pairs = place[self.must_link], place[self.cannot_link]
        return Constraints(self.rows[order], *pairs, labels)

    def listed(self, places: NDArray[np.integer]) -> "Constraints":
        """Return some of the rows with all pairs among them, those of the labels listed too."""
        own = np.full(len(self.rows), -1, dtype=np.int32)
        own[places] = np.arange(len(places))
        pairs = [own[kind] for kind in (self.must_link, self.cannot_link)]
        pairs = [kind[(kind >= 0).all(axis=1)] for kind in pairs]
        if self.labels is not None:
            implied = pairs_from_labels(Labels(self.labels.codes[places], self.labels.classes))
            pairs = [np.concatenate(both) for both in zip(implied, pairs, strict=True)]
        return Constraints(self.rows[places], *pairs)
