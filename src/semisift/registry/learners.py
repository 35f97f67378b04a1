"""Classifiers for partly labelled data."""

from semisift.registry.entries import Learner

CLASSIFIERS = [
    Learner(
        name="labelled-only",
        summary="A classifier on the labelled rows alone: the yardstick.",
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
        summary="One classifier labels the rows that it is surest about.",
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
        summary="Two classifiers with columns of their own label for each other.",
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
        summary="Classifiers in random subspaces; the surest rows get labels.",
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
        summary="rasco in subspaces of relevant columns.",
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
        summary="rasco in subspaces of relevant columns that are no copies.",
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
        summary="A forest; each tree is handed what the others are sure about.",
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
        summary="A committee; each member is handed what the others are sure of.",
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
        summary="Three classifiers; where two agree, they label for the third.",
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
        summary="A forest that learns from labels drawn for all, ever surer.",
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
