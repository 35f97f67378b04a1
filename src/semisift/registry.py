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
    meaning : str
        Two to four sentences for a reader who does not know the method: what the score means, and
        what it does not mean. The report shows them.
    """

    name: str
    path: str
    family: str
    citation: str
    cost: str
    source: Literal["formula", "reading"]
    meaning: str

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
            meaning=(
                "Many small trees label rows for one another. The score is the number of rows that "
                "a tree gets wrong because the values of the feature were shuffled, averaged over "
                "the trees; an unlabelled row counts in proportion to how sure the trees are of "
                "its label. About 0 means that shuffling the feature changes nothing. For "
                "unlabelled rows, right and wrong are judged by the vote of the trees themselves: "
                "where that vote is mistaken, so is the score."
            ),
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
            meaning=(
                "Many small trees label rows for themselves. The score is the number of "
                "predictions that change when the values of the feature are shuffled, averaged "
                "over the trees that were dealt it; it counts labelled rows that a tree predicts "
                "right and unlabelled rows that it is sure about. It tells how much the trees "
                "lean on a feature, not whether they are right to do so: a tree that is sure and "
                "wrong counts as much as one that is sure and right."
            ),
        ),
        Method(
            name="forest",
            path="semisift.ensembles.forest:ForestImportance",
            family="ensembles",
            citation="Breiman (2001). Random forests. Machine Learning 45(1).",
            cost="members * trees on the labelled rows",
            source="formula",
            meaning=(
                "The score is how many more of the labelled rows that it was not grown on a tree "
                "gets wrong when the values of the feature are shuffled, averaged over the trees. "
                "Unlabelled rows play no part. With few labelled rows a tree is judged by a "
                "handful of them, so that useful features may score 0 and small differences mean "
                "little."
            ),
        ),
    ]
}
