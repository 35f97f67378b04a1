"""Rankers that ask a committee."""

from semisift.registry.entries import Method

ENSEMBLES = [
    Method(
        name="ssfi",
        summary="Trees label rows for one another; what permuting a column costs.",
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
        summary="As ssfi, but each tree labels rows for itself.",
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
        summary="Random forest on labelled rows: what permuting a column costs.",
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
    Method(
        name="bs",
        summary="The constraint score of many bags of pairs, ranks averaged.",
        path="semisift.ensembles.bagging_constraint:BaggingConstraintScore",
        family="ensembles",
        citation=(
            "Sun, Zhang (2010). Bagging constraint score for feature selection with pairwise "
            "constraints. Pattern Recognition 43(6). Written after its abstract; the original "
            "was not available."
        ),
        cost="bags * pairs of labelled rows * columns",
        source="reading",
        direction="low",
        meaning=(
            "Many bags of pairs of rows are drawn at random, and in each the features are "
            "ranked by how close they keep rows of the same class and how far apart others. "
            "The score is the mean of these ranks with a minus sign, so that -1 is the best "
            "possible. It uses the labelled rows, or given pairs of rows, alone."
        ),
    ),
    Method(
        name="enscls",
        summary="cls in many random subspaces with bags of the labelled rows.",
        path="semisift.ensembles.enscls:EnsCLS",
        family="ensembles",
        citation=(
            "Hindawi, Elghazel, Benabdeslem (2013). Efficient semi-supervised feature "
            "selection by an ensemble approach. COPEM workshop at ECML-PKDD."
        ),
        cost="members * unlabelled rows^2 * sqrt(p)",
        source="formula",
        direction="low",
        meaning=(
            "Many times, a few features are drawn at random and compared with each other: how "
            "much each differs between rows that are alike in these features or of the same "
            "class, against how much it varies and differs between classes. The score is how "
            "far above the average of its company a feature was, in standard deviations; 0 is "
            "the average feature. It tells which features are smooth, not how well they "
            "separate the classes together."
        ),
    ),
    Method(
        name="pct-forest",
        summary="Trees whose splits make labels and columns alike: their gains.",
        path="semisift.ensembles.pct_forest:PCTForestImportance",
        family="ensembles",
        citation=(
            "Petkovic, Dzeroski, Kocev (2022). Feature ranking for semi-supervised learning. "
            "Machine Learning. Trees of Levatic, Ceci, Kocev, Dzeroski (2017). "
            "Semi-supervised classification trees. Journal of Intelligent Information Systems "
            "49(3)."
        ),
        cost="members * depth of the trees * rows * columns",
        source="reading",
        meaning=(
            "Many trees split the rows into groups that are alike, both in the labels and in "
            "the features. The score is how much more alike the groups are after the splits "
            "on the feature, summed over all rows and averaged over the trees. A feature may "
            "score high because it parts the rows well, whether or not this has to do with "
            "the classes; the weight of the labels says how much it has to."
        ),
    ),
]
