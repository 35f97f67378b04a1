"""METHODS: every ranker by its short name, without importing any of them."""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from semisift._base import FeatureRanker

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """What is known of a ranker.

    Attributes
    ----------
    name : str
        Short lower-case name, as on the command line.
    path : str
        ``"module:class"``.
    family : str
        The folder it lives in.
    citation : str
        The paper that describes the method.
    cost : str
        Order of the running time.
    source : {"formula", "reading"}
        Whether the paper's text was followed, or what is known of it had to be completed.
    """

    name: str
    path: str
    family: str
    citation: str
    cost: str
    source: Literal["formula", "reading"]

    @property
    def cls(self) -> type["FeatureRanker"]:
        """The class, imported on first use."""
        module, _, attribute = self.path.partition(":")
        return cast("type[FeatureRanker]", getattr(importlib.import_module(module), attribute))


METHODS: dict[str, Method] = {
    method.name: method
    for method in [
        Method(
            name="ssfi",
            path="semisift.ensembles.ssfi:SSFI",
            family="ensembles",
            citation=(
                "Barkia, Elghazel, Aussem (2011). Semi-supervised feature importance evaluation "
                "with ensemble learning. ICDM."
            ),
            cost="members * iterations * (unlabelled rows + trees on the labelled rows)",
            source="formula",
        ),
        Method(
            name="sefr",
            path="semisift.ensembles.sefr:SEFR",
            family="ensembles",
            citation=(
                "Bellal, Elghazel, Aussem (2012). A semi-supervised feature ranking method with "
                "ensemble learning. Pattern Recognition Letters 33(10). Written after a survey's "
                "listing; the original was not available."
            ),
            cost="as ssfi, with more refits of each member",
            source="reading",
        ),
        Method(
            name="forest",
            path="semisift.ensembles.forest:ForestImportance",
            family="ensembles",
            citation="Breiman (2001). Random forests. Machine Learning 45(1).",
            cost="members * trees on the labelled rows",
            source="formula",
        ),
    ]
}
