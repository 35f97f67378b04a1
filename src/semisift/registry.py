"""METHODS and LEARNERS: rankers and classifiers by their short names, without importing any."""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from semisift._base import FeatureRanker

__all__ = ["LEARNERS", "METHODS", "Learner", "Method"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is known of a method.

    Attributes
    ----------
    name : str
        Short lower-case name, as on the command line.
    path : str
        ``"module:class"``.
    citation : str
        The paper that describes the method.
    cost : str
        Order of the running time.
    source : {"formula", "reading"}
        Whether the paper's text was followed, or what is known of it had to be completed.
    meaning : str
        Two to four sentences for a reader who does not know the method. The report shows them.
    """

    name: str
    path: str
    citation: str
    cost: str
    source: Literal["formula", "reading"]
    meaning: str

    def _load(self) -> Any:
        module, _, attribute = self.path.partition(":")
        return getattr(importlib.import_module(module), attribute)


@dataclass(frozen=True, kw_only=True)
class Method(Entry):
    """What is known of a ranker.

    Its meaning says what the score means, and what it does not mean.

    Attributes
    ----------
    family : str
        The folder it lives in.
    direction : {"high", "low"}
        Which values of the paper's score rank first. In ``scores_`` it is always the high ones.
    """

    family: str
    direction: Literal["high", "low"] = "high"

    @property
    def cls(self) -> type["FeatureRanker"]:
        """The class, imported on first use."""
        return cast("type[FeatureRanker]", self._load())


@dataclass(frozen=True, kw_only=True)
class Learner(Entry):
    """What is known of a classifier for partly labelled data.

    Its meaning says how it comes to its labels, and where it goes wrong.
    """

    @property
    def cls(self) -> type["ClassifierMixin"]:
        """The class, imported on first use."""
        return cast("type[ClassifierMixin]", self._load())


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
        Method(
            name="variance",
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
            name="bs",
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
            name="mrmr",
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
            name="enscls",
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
            name="sffs",
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
        Method(
            name="fs-manifold",
            path="semisift.embedded.fs_manifold:FSManifold",
            family="embedded",
            citation=(
                "Xu, King, Lyu, Jin (2010). Discriminative semi-supervised feature selection via "
                "manifold regularization. IEEE Transactions on Neural Networks 21(7). Written "
                "after its abstract; the original was not available."
            ),
            cost="steps * (rows^2 * columns with a weight + rows^3)",
            source="reading",
            meaning=(
                "Linear machines part the labelled classes with a wide margin and give "
                "neighbouring rows similar values, and the features share a fixed sum of weights "
                "that the machines may use. The score is the weight of the feature: 1 at most, 0 "
                "for features that the machines do without. A feature with weight 0 may still be "
                "related to the classes, if others say the same; and the weights depend on how "
                "many features were asked for."
            ),
        ),
        Method(
            name="s3vm-rfe",
            path="semisift.embedded.s3vm_rfe:S3VMRFE",
            family="embedded",
            citation=(
                "Ang, Haron, Hamed (2015). Semi-supervised SVM-based feature selection for cancer "
                "classification using microarray gene expression data. IEA/AIE. Written after a "
                "survey's listing; the original was not available."
            ),
            cost="columns * (labelled rows^2 + unlabelled rows^2)",
            source="reading",
            meaning=(
                "Features are eliminated one by one: each time the one that matters least to a "
                "machine that parts the labelled classes and to one that parts the unlabelled rows "
                "from zero. The score is the place in this order, so that the last feature left "
                "has the highest, and not a measure. Features with high values in most unlabelled "
                "rows stay long, whether or not they tell the classes apart."
            ),
        ),
        Method(
            name="s3vm-fs",
            path="semisift.embedded.s3vm_fs:S3VMFS",
            family="embedded",
            citation=(
                "Ang, Haron, Hamed (2015). Semi-supervised SVM-based feature selection for cancer "
                "classification using microarray gene expression data. IEA/AIE. Written after a "
                "survey's account; the original was not available."
            ),
            cost="as s3vm-rfe for the columns that are eliminated",
            source="reading",
            meaning=(
                "As S3VM-RFE, features are eliminated that matter least to a machine that parts "
                "the labelled classes and to one that parts the unlabelled rows from zero, but "
                "only until as many are left as were asked for. The score is the place in this "
                "order, and of the features that are left the place by their weights in the two "
                "machines; it is not a measure."
            ),
        ),
        Method(
            name="semi-mim",
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
        Method(
            name="rlsr",
            path="semisift.embedded.rlsr:RLSR",
            family="embedded",
            citation=(
                "Chen, Yuan, Nie, Huang (2017). Semi-supervised feature selection via rescaled "
                "linear regression. IJCAI."
            ),
            cost="steps * min(rows^2 * columns + rows^3, columns^3)",
            source="formula",
            meaning=(
                "A linear regression predicts the classes, those of the unlabelled rows being "
                "found with it, and features share a fixed sum of weights that it may use. The "
                "score is the weight of the feature; all add up to 1. A feature with a weight near "
                "0 may still be related to the classes, if others say the same. Where the "
                "regression is mistaken about the unlabelled rows, so are the weights."
            ),
        ),
        Method(
            name="pct-forest",
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
}

LEARNERS: dict[str, Learner] = {
    learner.name: learner
    for learner in [
        Learner(
            name="labelled-only",
            path="semisift.learners.labelled_only:LabelledOnly",
            citation="Breiman (2001). Random forests. Machine Learning 45(1).",
            cost="one fit on the labelled rows",
            source="formula",
            meaning=(
                "An ordinary classifier, a random forest unless another is named, learns from the "
                "labelled rows, and unlabelled rows play no part. A method that learns from "
                "unlabelled rows is worth its time where it does better than this."
            ),
        ),
        Learner(
            name="self-training",
            path="semisift.learners.cotraining.self_training:SelfTraining",
            citation=(
                "Yarowsky (1995). Unsupervised word sense disambiguation rivaling supervised "
                "methods. ACL."
            ),
            cost="iterations * (one fit and the predictions of all unlabelled rows)",
            source="formula",
            meaning=(
                "A classifier labels the rows that it is surest about, learns from them as if the "
                "labels were true, and goes on. Nobody contradicts it: a mistake that it is sure "
                "of is learnt and never taken back."
            ),
        ),
        Learner(
            name="co-training",
            path="semisift.learners.cotraining.co_training:CoTraining",
            citation="Blum, Mitchell (1998). Combining labeled and unlabeled data. COLT.",
            cost="iterations * (two fits and the predictions of a pool of rows)",
            source="formula",
            meaning=(
                "Two classifiers, each of which sees its own half of the features, label rows for "
                "each other. It helps where either half would suffice to tell the classes and the "
                "halves err in different rows; halves drawn at random rarely do."
            ),
        ),
        Learner(
            name="rasco",
            path="semisift.learners.cotraining.rasco:RASCO",
            citation="Wang, Luo, Zeng (2008). A random subspace method for co-training. IJCNN.",
            cost="subspaces * iterations * (one fit and the predictions of all unlabelled rows)",
            source="formula",
            meaning=(
                "Classifiers in random subspaces vote, and in each iteration the surest row of "
                "each class joins the labelled ones. Where most features tell nothing about the "
                "classes, so do most subspaces. One row of each class joins whatever the shares of "
                "the classes are."
            ),
        ),
        Learner(
            name="rel-rasco",
            path="semisift.learners.cotraining.rasco:RelRASCO",
            citation=(
                "Yaslan, Cataltepe (2010). Co-training with relevant random subspaces. "
                "Neurocomputing 73(10-12)."
            ),
            cost="as rasco",
            source="formula",
            meaning=(
                "As RASCO, but features are drawn in proportion to what they tell about the "
                "classes by themselves. With few labelled rows that is estimated poorly: features "
                "that tell nothing may be drawn as often as those that do."
            ),
        ),
        Learner(
            name="prob-mrmr",
            path="semisift.learners.cotraining.rasco:ProbMRMR",
            citation=(
                "Yaslan, Cataltepe (2009). Random relevant and non-redundant feature subspaces for "
                "co-training. IDEAL."
            ),
            cost="as rasco, and rows * columns for each feature that is drawn",
            source="formula",
            meaning=(
                "As Rel-RASCO, but a feature is drawn in proportion to what it tells about the "
                "classes beyond what it shares with those drawn before, so that a subspace holds "
                "no two copies. With hundreds of features copies seldom meet in one subspace, and "
                "it does as Rel-RASCO does."
            ),
        ),
        Learner(
            name="co-forest",
            path="semisift.learners.cotraining.co_forest:CoForest",
            citation=(
                "Li, Zhou (2007). Improve computer-aided diagnosis with machine learning techniques"
                " using undiagnosed samples. IEEE Transactions on Systems, Man, and Cybernetics A "
                "37(6)."
            ),
            cost="rounds * trees * (growth on the labelled and the kept rows, and rows * classes)",
            source="formula",
            meaning=(
                "A random forest in which each tree is handed the rows that all other trees are "
                "sure about. How many rows a tree may take depends on how well the others do on "
                "the labelled rows that they have not seen. With very few labels nothing is sure "
                "enough, and it remains a random forest."
            ),
        ),
        Learner(
            name="co-bc",
            path="semisift.learners.cotraining.co_bc:CoBC",
            citation=(
                "Hady, Schwenker (2008). Co-training by committee: a new semi-supervised learning "
                "framework. ICDM Workshops."
            ),
            cost="rounds * members * (one fit and the predictions of all rows)",
            source="reading",
            meaning=(
                "In each round each member of a committee is handed, from a pool of unlabelled "
                "rows, the ones that the other members are surest about, some of each class. "
                "Nothing checks whether that helps: a committee that agrees on a mistake learns it."
            ),
        ),
        Learner(
            name="tri-training",
            path="semisift.learners.cotraining.tri_training:TriTraining",
            citation=(
                "Zhou, Li (2005). Tri-training: exploiting unlabeled data using three classifiers. "
                "IEEE Transactions on Knowledge and Data Engineering 17(11)."
            ),
            cost="rounds * three fits on all rows",
            source="formula",
            meaning=(
                "Three learners start on bootstraps of the labelled rows; where two of them agree, "
                "they label rows for the third. How many it takes depends on how often the two are "
                "wrong where they agree, measured on labelled rows that they have learnt from."
            ),
        ),
        Learner(
            name="ss-forest",
            path="semisift.learners.cotraining.ss_forest:SemiSupervisedForest",
            citation=(
                "Leistner, Saffari, Santner, Bischof (2009). Semi-supervised random forests. ICCV."
            ),
            cost="rounds * trees * growth on all rows",
            source="reading",
            meaning=(
                "A random forest whose trees learn from labels drawn for all unlabelled rows, by "
                "the votes of the forest and a temperature that falls from round to round. If the "
                "error on labelled rows out of the bootstraps has risen in the end, the first "
                "forest is brought back; with few labels that error is a coarse measure."
            ),
        ),
    ]
}
