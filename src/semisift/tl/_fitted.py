"""A ranker that was fitted to what an AnnData gives."""

from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from semisift.tl._asked import Asked
from semisift.tl._given import Given, read_given

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
    from semisift.outcome.markers import Markers


class Fitted(NamedTuple):
    """A ranker, and what it was fitted to."""

    asked: Asked
    given: Given
    ranker: "FeatureRanker"

    def markers(self) -> "Markers | None":
        """Return the markers by class; None where there is no rest to compare a class with."""
        if len(getattr(self.ranker, "classes_", ())) < 2:
            return None
        return self.ranker.markers(self.given.X, self.given.y, **self.given.of_rows)


def fit(adata: Any, asked: Asked) -> Fitted:
    """Read what was asked for, and rank."""
    given = read_given(adata, asked)
    wanted, n_genes = asked.n_features, len(given.names)
    if isinstance(wanted, Integral) and wanted > n_genes:
        raise ValueError(
            f"n_features must be at most {n_genes:,}, the number of genes that are ranked: got "
            f"{wanted:,}."
        )
    return Fitted(asked, given, asked.ranker().fit(given.X, given.y, **given.of_rows))
