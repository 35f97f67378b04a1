"""Rankers that select while they train a model."""

from semisift.registry.entries import Method

EMBEDDED = [
    Method(
        name="fs-manifold",
        summary="Weights of columns in machines that are smooth over neighbours.",
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
        summary="Eliminates the weakest column in machines on all rows, in turn.",
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
        summary="s3vm-rfe, stopped at the number of columns asked for.",
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
        name="rlsr",
        summary="Weights of columns in a regression that finds the classes.",
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
]
