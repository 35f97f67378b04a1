"""Filters: columns scored by a formula."""

from semisift.registry.entries import Method

FILTERS = [
    Method(
        name="variance",
        summary="The variance over all rows, after scaling to [0, 1].",
        path="semisift.filters.variance:VarianceScore",
        family="filters",
        citation="Bishop (1995). Neural networks for pattern recognition. Oxford.",
        cost="rows * columns",
        source="formula",
        meaning=(
            "The score is the variance of the feature over all rows, after its values were "
            "scaled to the range from 0 to 1. It says how evenly the rows are spread over "
            "that range, not whether this has anything to do with the classes: labels play no "
            "part."
        ),
    ),
    Method(
        name="fisher",
        summary="Distance between the classes against the spread within them.",
        path="semisift.filters.fisher:FisherScore",
        family="filters",
        citation="Duda, Hart, Stork (2001). Pattern classification, 2nd edition. Wiley.",
        cost="labelled rows * columns",
        source="formula",
        meaning=(
            "The score compares how far the classes lie apart in the feature with how much the "
            "rows of one class differ from each other. 0 means that all classes have the same "
            "mean, infinity that no two labelled rows of one class differ. Unlabelled rows "
            "play no part, and with few labelled rows a feature may score high by chance."
        ),
    ),
    Method(
        name="constraint",
        summary="Differences in must-link pairs against cannot-link pairs.",
        path="semisift.filters.constraint:ConstraintScore",
        family="filters",
        citation=(
            "Zhang, Chen, Zhou (2008). Constraint score: a new filter method for feature "
            "selection with pairwise constraints. Pattern Recognition 41(5)."
        ),
        cost="(labelled rows + given pairs) * columns",
        source="formula",
        direction="low",
        meaning=(
            "The score compares the differences between rows that belong together with those "
            "between rows that do not, and is shown with a minus sign. The nearer to 0, the "
            "better the feature keeps rows of the same class together and others apart. It "
            "uses the labelled rows, or given pairs of rows, alone."
        ),
    ),
    Method(
        name="mrmr",
        summary="Mutual information with the classes, less that with the picks.",
        path="semisift.filters.mrmr:MRMR",
        family="filters",
        citation=(
            "Peng, Long, Ding (2005). Feature selection based on mutual information: criteria "
            "of max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27(8)."
        ),
        cost="picks * rows * columns",
        source="formula",
        meaning=(
            "Features are picked one by one: each time the one that tells most about the "
            "classes beyond what it shares with those picked before. The score is the place in "
            "this order, counted from the end, and not a measure; features that were not "
            "picked follow in the order of what they tell by themselves. With few labelled "
            "rows, what a feature tells about the classes is estimated poorly."
        ),
    ),
    Method(
        name="laplacian",
        summary="How little a column changes between neighbouring rows.",
        path="semisift.filters.laplacian:LaplacianScore",
        family="filters",
        citation="He, Cai, Niyogi (2005). Laplacian score for feature selection. NIPS 18.",
        cost="rows^2 * columns for the graph, rows * neighbours * columns for the scores",
        source="formula",
        direction="low",
        meaning=(
            "The score compares how much the feature differs between neighbouring rows with "
            "how much it varies in all, and is shown with a minus sign. Near 0 the feature "
            "changes slowly from row to row, as a feature does that tells groups of rows "
            "apart. These groups need not be the classes: labels play no part."
        ),
    ),
    Method(
        name="sls",
        summary="laplacian on a graph that joins rows of a class, parts others.",
        path="semisift.filters.sls:SLS",
        family="filters",
        citation=(
            "Ren, Qiu, Fan, Cheng, Yu (2008). Forward semi-supervised feature selection. "
            "PAKDD. A baseline that the paper names without a formula."
        ),
        cost="rows^2 * columns for the graph, rows * neighbours * columns for the scores",
        source="reading",
        direction="low",
        meaning=(
            "As the Laplacian score, but rows that are labelled alike count as the closest "
            "neighbours and rows that are labelled differently as none; the score is shown "
            "with a minus sign. Near 0 the feature differs little between neighbours and "
            "within classes. Differences between classes count only through the variance of "
            "the feature."
        ),
    ),
    Method(
        name="sselect",
        summary="laplacian, and whether a cut at the mean parts the classes.",
        path="semisift.filters.sselect:SSelect",
        family="filters",
        citation=(
            "Zhao, Liu (2007). Semi-supervised feature selection via spectral analysis. SDM."
        ),
        cost="rows^2 * columns for the graph, rows * neighbours * columns for the scores",
        source="reading",
        direction="low",
        meaning=(
            "The feature is cut at its mean into two halves. The score adds how badly the "
            "halves agree with the labels to how much the feature differs between neighbouring "
            "rows, and is shown with a minus sign; the labels weigh nine times as much by "
            "default. With few labels many features agree with them perfectly, and their "
            "order is that of the neighbours."
        ),
    ),
    Method(
        name="lsdf",
        summary="Differences between classes against those between neighbours.",
        path="semisift.filters.lsdf:LSDF",
        family="filters",
        citation=(
            "Zhao, Lu, He (2008). Locality sensitive semi-supervised feature selection. "
            "Neurocomputing 71(10-12)."
        ),
        cost="rows^2 * columns for the graph, rows * neighbours * columns for the scores",
        source="formula",
        meaning=(
            "The score divides the differences between rows of different classes by those "
            "between rows of the same class and between neighbouring rows. The higher, the "
            "further the classes lie apart in the feature. Its size depends on the number of "
            "labels and rows, so compare it inside one fit only."
        ),
    ),
    Method(
        name="gsfs",
        summary="laplacian with labels; columns that add no information go last.",
        path="semisift.filters.gsfs:GSFS",
        family="filters",
        citation=(
            "Cheng, Deng, Fu, Wang, Qin (2011). Graph-based semi-supervised feature selection "
            "with application to automatic spam image identification. CSISE. Written after "
            "its abstract; the original was not available."
        ),
        cost="as sls, and labelled rows for each pair of a kept and a visited column",
        source="reading",
        direction="low",
        meaning=(
            "Features are visited in the order in which they follow neighbours and labels, and "
            "kept unless one that was kept before makes them superfluous for telling the "
            "classes. The score is the place in this order, counted from the end, and not a "
            "measure. With fewer than about 20 labels it is mostly chance which features look "
            "superfluous."
        ),
    ),
    Method(
        name="semi-fisher",
        summary="fisher with the variance and the neighbours of all rows.",
        path="semisift.filters.semi_fisher:SemiFisherScore",
        family="filters",
        citation=(
            "Yang, Chen, Ji (2010). Semi_Fisher score: a semi-supervised method for feature "
            "selection. ICMLC. Written after a third-party implementation."
        ),
        cost="rows^2 * columns for the graph, rows * neighbours * columns for the scores",
        source="reading",
        meaning=(
            "The score divides the distance between the classes and the variance of the "
            "feature by how much rows of one class and neighbouring rows differ. High means "
            "classes apart and neighbours alike. With many unlabelled rows the neighbours "
            "outweigh the labels."
        ),
    ),
    Method(
        name="c4",
        summary="laplacian times constraint.",
        path="semisift.filters.c4:C4",
        family="filters",
        citation=(
            "Kalakech, Biela, Macaire, Hamad (2011). Constraint scores for semi-supervised "
            "feature selection: a comparative study. Pattern Recognition Letters 32(5)."
        ),
        cost="rows^2 * columns for the graph, rows * neighbours * columns for the scores",
        source="formula",
        direction="low",
        meaning=(
            "The score is the Laplacian score times the constraint score, with a minus sign: "
            "near 0 the feature differs little between neighbouring rows, or it keeps rows of "
            "the same class together and others apart. If one of the two is 0, the score is 0 "
            "whatever the other says. Features in which no two labelled rows differ have no "
            "score."
        ),
    ),
    Method(
        name="cls",
        summary="laplacian of unlabelled rows with must-link, cannot-link pairs.",
        path="semisift.filters.cls:CLS",
        family="filters",
        citation=(
            "Benabdeslem, Hindawi (2011). Constrained Laplacian score for semi-supervised "
            "feature selection. ECML-PKDD."
        ),
        cost="unlabelled rows^2 * p",
        source="formula",
        direction="low",
        meaning=(
            "The score compares how much the feature differs between unlabelled neighbours and "
            "between labelled rows of the same class with how much it differs between classes "
            "and varies in all. Close to 0 is best: the feature is smooth where rows are "
            "alike. With few labelled rows the unlabelled ones decide, and what is smooth need "
            "not have to do with the classes."
        ),
    ),
    Method(
        name="csfs",
        summary="cls with coherent pairs only.",
        path="semisift.filters.csfs:CSFS",
        family="filters",
        citation=(
            "Hindawi, Allab, Benabdeslem (2011). Constraint selection-based semi-supervised "
            "feature selection. ICDM. The original was not available."
        ),
        cost="n^2 * p + labelled rows^4",
        source="reading",
        direction="low",
        meaning=(
            "As CLS, the score compares differences between neighbours and within classes with "
            "differences between classes and the variance; close to 0 is best. Of all pairs of "
            "labelled rows it uses those that contradict each other least. Which pairs these "
            "are depends on all features together, so a feature may gain or lose by others."
        ),
    ),
    Method(
        name="semi-mim",
        summary="Mutual information with a class; unlabelled rows are the rest.",
        path="semisift.filters.semi_mim:SemiMIM",
        family="filters",
        citation=(
            "Sechidis, Brown (2018). Simple strategies for semi-supervised feature selection. "
            "Machine Learning 107(2)."
        ),
        cost="rows * columns * classes",
        source="formula",
        meaning=(
            "All unlabelled rows are given to one of two classes, and the score is what the "
            "feature tells about the two: 0 is nothing. It sounds crude, but where it is "
            "chance which rows are labelled, it ranks the features as the true classes would, "
            "given rows enough. If rows were labelled because they are special, the score "
            "tells what makes them special. With more than two classes it is a mean of ranks, "
            "not a measure."
        ),
    ),
    Method(
        name="semi-jmi",
        summary="semi-mim with joint information: columns are picked in turn.",
        path="semisift.filters.semi_jmi:SemiJMI",
        family="filters",
        citation=(
            "Sechidis, Brown (2018). Simple strategies for semi-supervised feature selection. "
            "Machine Learning 107(2)."
        ),
        cost="picks * rows * columns * classes",
        source="formula",
        meaning=(
            "As in Semi-MIM, all unlabelled rows are given to one of two classes. Features are "
            "picked one by one: each time the one that tells most about the two together with "
            "each of those picked before. The score is the place in this order, counted from "
            "the end, and not a measure; features that were not picked follow in the order of "
            "what they tell by themselves."
        ),
    ),
]
