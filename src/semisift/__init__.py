"""Semi-supervised feature selection in the manner of scikit-learn.

Names are imported when they are first used, so that ``import semisift`` loads neither numpy nor
scikit-learn.
"""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names
from semisift.outcome.shown import register_renderer

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
    from semisift._compare import Results, compare
    from semisift.consensus.consensus import Consensus
    from semisift.embedded.fs_manifold import FSManifold
    from semisift.embedded.rlsr import RLSR
    from semisift.embedded.s3vm_fs import S3VMFS
    from semisift.embedded.s3vm_rfe import S3VMRFE
    from semisift.ensembles.bagging_constraint import BaggingConstraintScore
    from semisift.ensembles.enscls import EnsCLS
    from semisift.ensembles.forest import ForestImportance
    from semisift.ensembles.pct_forest import PCTForestImportance
    from semisift.ensembles.sefr import SEFR
    from semisift.ensembles.ssfi import SSFI
    from semisift.evaluation.protocol import PROTOCOLS, Protocol
    from semisift.exceptions import (
        FallbackWarning,
        FewTestRowsWarning,
        GraphWarning,
        KernelsMissingWarning,
        NothingSelectedWarning,
        NothingUnlabelledWarning,
        TableError,
        WorkerLostError,
    )
    from semisift.filters.c4 import C4
    from semisift.filters.cls import CLS
    from semisift.filters.constraint import ConstraintScore
    from semisift.filters.csfs import CSFS
    from semisift.filters.fisher import FisherScore
    from semisift.filters.gsfs import GSFS
    from semisift.filters.laplacian import LaplacianScore
    from semisift.filters.lsdf import LSDF
    from semisift.filters.mrmr import MRMR
    from semisift.filters.semi_fisher import SemiFisherScore
    from semisift.filters.semi_jmi import SemiJMI
    from semisift.filters.semi_mim import SemiMIM
    from semisift.filters.sls import SLS
    from semisift.filters.sselect import SSelect
    from semisift.filters.variance import VarianceScore
    from semisift.graphs.approximate import ApproximateNeighbors
    from semisift.io import read_table
    from semisift.learners.cotraining.co_bc import CoBC
    from semisift.learners.cotraining.co_forest import CoForest
    from semisift.learners.cotraining.co_training import CoTraining
    from semisift.learners.cotraining.rasco import RASCO, ProbMRMR, RelRASCO
    from semisift.learners.cotraining.self_training import SelfTraining
    from semisift.learners.cotraining.ss_forest import SemiSupervisedForest
    from semisift.learners.cotraining.tri_training import TriTraining
    from semisift.learners.labelled_only import LabelledOnly
    from semisift.learners.mixed_nb import MixedNB
    from semisift.learners.nnge import NNge
    from semisift.model_selection import (
        SemiSupervisedKFold,
        SemiSupervisedStratifiedShuffleSplit,
    )
    from semisift.registry import LEARNERS, METHODS
    from semisift.wrappers.en_semifs import ENSemiFS
    from semisift.wrappers.fw_semifs import FWSemiFS
    from semisift.wrappers.sequential_forward import SequentialForward

    __version__: str

__all__ = [
    "C4",
    "CLS",
    "CSFS",
    "GSFS",
    "LEARNERS",
    "LSDF",
    "METHODS",
    "MRMR",
    "PROTOCOLS",
    "RASCO",
    "RLSR",
    "S3VMFS",
    "S3VMRFE",
    "SEFR",
    "SLS",
    "SSFI",
    "ApproximateNeighbors",
    "BaggingConstraintScore",
    "CoBC",
    "CoForest",
    "CoTraining",
    "Consensus",
    "ConstraintScore",
    "ENSemiFS",
    "EnsCLS",
    "FSManifold",
    "FWSemiFS",
    "FallbackWarning",
    "FeatureRanker",
    "FewTestRowsWarning",
    "FisherScore",
    "ForestImportance",
    "GraphWarning",
    "KernelsMissingWarning",
    "LabelledOnly",
    "LaplacianScore",
    "MixedNB",
    "NNge",
    "NothingSelectedWarning",
    "NothingUnlabelledWarning",
    "PCTForestImportance",
    "ProbMRMR",
    "Protocol",
    "RelRASCO",
    "Results",
    "SSelect",
    "SelfTraining",
    "SemiFisherScore",
    "SemiJMI",
    "SemiMIM",
    "SemiSupervisedForest",
    "SemiSupervisedKFold",
    "SemiSupervisedStratifiedShuffleSplit",
    "SequentialForward",
    "TableError",
    "TriTraining",
    "VarianceScore",
    "WorkerLostError",
    "__version__",
    "compare",
    "read_table",
]

_find, _ = lazy_names(
    __name__,
    {
        "ApproximateNeighbors": "graphs.approximate",
        "BaggingConstraintScore": "ensembles",
        "C4": "filters",
        "CLS": "filters",
        "CSFS": "filters",
        "CoBC": "learners",
        "CoForest": "learners",
        "CoTraining": "learners",
        "Consensus": "consensus",
        "ConstraintScore": "filters",
        "ENSemiFS": "wrappers",
        "EnsCLS": "ensembles",
        "FSManifold": "embedded",
        "FWSemiFS": "wrappers",
        "FallbackWarning": "exceptions",
        "FeatureRanker": "_base",
        "FewTestRowsWarning": "exceptions",
        "FisherScore": "filters",
        "ForestImportance": "ensembles",
        "GSFS": "filters",
        "GraphWarning": "exceptions",
        "KernelsMissingWarning": "exceptions",
        "LEARNERS": "registry",
        "LSDF": "filters",
        "LabelledOnly": "learners",
        "LaplacianScore": "filters",
        "METHODS": "registry",
        "MRMR": "filters",
        "MixedNB": "learners",
        "NNge": "learners",
        "NothingSelectedWarning": "exceptions",
        "NothingUnlabelledWarning": "exceptions",
        "PCTForestImportance": "ensembles",
        "PROTOCOLS": "evaluation.protocol",
        "ProbMRMR": "learners",
        "Protocol": "evaluation.protocol",
        "RASCO": "learners",
        "RLSR": "embedded",
        "RelRASCO": "learners",
        "Results": "_compare",
        "S3VMFS": "embedded",
        "S3VMRFE": "embedded",
        "SEFR": "ensembles",
        "SLS": "filters",
        "SSFI": "ensembles",
        "SSelect": "filters",
        "SelfTraining": "learners",
        "SemiFisherScore": "filters",
        "SemiJMI": "filters",
        "SemiMIM": "filters",
        "SemiSupervisedForest": "learners",
        "SemiSupervisedKFold": "model_selection",
        "SemiSupervisedStratifiedShuffleSplit": "model_selection",
        "SequentialForward": "wrappers",
        "TableError": "exceptions",
        "TriTraining": "learners",
        "VarianceScore": "filters",
        "WorkerLostError": "exceptions",
        "compare": "_compare",
        "read_table": "io",
    },
)

# Rankers stand below the report that shows what came out of them.
register_renderer("semisift.report")


def __getattr__(name: str) -> object:
    if name == "__version__":
        from semisift._provenance import version_of

        return version_of()
    return _find(name)


def __dir__() -> list[str]:
    return sorted(__all__)
