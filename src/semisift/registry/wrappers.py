"""Rankers that search around a classifier."""

from semisift.registry.entries import Method

WRAPPERS = [
    Method(
        name="sffs",
        summary="Forward search: adds the column that a classifier gains most by.",
        path="semisift.wrappers.sequential_forward:SequentialForward",
        family="wrappers",
        citation=(
            "Ren, Qiu, Fan, Cheng, Yu (2008). Forward semi-supervised feature selection. "
            "PAKDD. Its supervised baseline."
        ),
        cost="picks * columns * trials of the classifier on the labelled rows",
        source="reading",
        meaning=(
            "Features are picked one by one: each time the one with which a classifier, by "
            "default naive Bayes, is right about most of the labelled rows that it was not "
            "fitted on. The score is the place in this order, counted from the end, and not a "
            "measure; features that were not picked follow in the order of how well the "
            "classifier does with each alone. With few labelled rows many features do equally "
            "well, and the order says little beyond the first ones."
        ),
    ),
    Method(
        name="fw-semifs",
        summary="sffs on samples of unlabelled rows with predicted labels.",
        path="semisift.wrappers.fw_semifs:FWSemiFS",
        family="wrappers",
        citation=(
            "Ren, Qiu, Fan, Cheng, Yu (2008). Forward semi-supervised feature selection. PAKDD."
        ),
        cost="picks * samplings * steps * columns * trials of the classifier",
        source="formula",
        meaning=(
            "A classifier predicts the unlabelled rows from the features picked so far; then "
            "features are picked on many random samples of these rows together with the "
            "labelled ones, and the one that comes up most often is added. The score is the "
            "place in this order, counted from the end, and not a measure. Where the first "
            "predictions are mistaken, the features that are added confirm the mistake."
        ),
    ),
    Method(
        name="en-semifs",
        summary="sffs with the unlabelled rows that an ensemble agrees on.",
        path="semisift.wrappers.en_semifs:ENSemiFS",
        family="wrappers",
        citation=(
            "Han, Park, Lee (2011). Confident wrapper-type semi-supervised feature selection "
            "using an ensemble classifier. AIMSEC. Written after its abstract; the original "
            "was not available."
        ),
        cost="picks * columns * trials of the classifier",
        source="reading",
        meaning=(
            "Several copies of a classifier vote on the unlabelled rows; the rows on which "
            "they agree join the labelled ones, and the feature that helps the classifier most "
            "beside those picked before is added. The score is the place in this order, "
            "counted from the end, and not a measure. Copies that agree may all be mistaken, "
            "as they have seen the same few labels."
        ),
    ),
]
