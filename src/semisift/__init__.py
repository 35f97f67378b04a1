"""Semi-supervised feature selection in the manner of scikit-learn.

Names are imported when they are first used, so that ``import semisift`` loads neither numpy nor
scikit-learn.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
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
    from semisift.evaluation.compare import compare
    from semisift.evaluation.protocol import PROTOCOLS, Protocol
    from semisift.evaluation.results import Results
    from semisift.exceptions import (
        FallbackWarning,
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
    from semisift.tables import read_table
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

_HOMES = {
    "Consensus": "semisift.consensus.consensus",
    "CoBC": "semisift.learners.cotraining.co_bc",
    "CoForest": "semisift.learners.cotraining.co_forest",
    "SemiSupervisedForest": "semisift.learners.cotraining.ss_forest",
    "TriTraining": "semisift.learners.cotraining.tri_training",
    "PROTOCOLS": "semisift.evaluation.protocol",
    "Protocol": "semisift.evaluation.protocol",
    "Results": "semisift.evaluation.results",
    "compare": "semisift.evaluation.compare",
    "CLS": "semisift.filters.cls",
    "CSFS": "semisift.filters.csfs",
    "EnsCLS": "semisift.ensembles.enscls",
    "SLS": "semisift.filters.sls",
    "LaplacianScore": "semisift.filters.laplacian",
    "SSelect": "semisift.filters.sselect",
    "LSDF": "semisift.filters.lsdf",
    "GSFS": "semisift.filters.gsfs",
    "SemiFisherScore": "semisift.filters.semi_fisher",
    "SemiJMI": "semisift.filters.semi_jmi",
    "SemiMIM": "semisift.filters.semi_mim",
    "C4": "semisift.filters.c4",
    "ApproximateNeighbors": "semisift.graphs.approximate",
    "GraphWarning": "semisift.exceptions",
    "METHODS": "semisift.registry",
    "FallbackWarning": "semisift.exceptions",
    "MRMR": "semisift.filters.mrmr",
    "BaggingConstraintScore": "semisift.ensembles.bagging_constraint",
    "ConstraintScore": "semisift.filters.constraint",
    "FisherScore": "semisift.filters.fisher",
    "VarianceScore": "semisift.filters.variance",
    "SEFR": "semisift.ensembles.sefr",
    "SSFI": "semisift.ensembles.ssfi",
    "FeatureRanker": "semisift._base",
    "ForestImportance": "semisift.ensembles.forest",
    "KernelsMissingWarning": "semisift.exceptions",
    "LEARNERS": "semisift.registry",
    "CoTraining": "semisift.learners.cotraining.co_training",
    "ProbMRMR": "semisift.learners.cotraining.rasco",
    "RASCO": "semisift.learners.cotraining.rasco",
    "RelRASCO": "semisift.learners.cotraining.rasco",
    "SelfTraining": "semisift.learners.cotraining.self_training",
    "LabelledOnly": "semisift.learners.labelled_only",
    "NNge": "semisift.learners.nnge",
    "MixedNB": "semisift.learners.mixed_nb",
    "SemiSupervisedKFold": "semisift.model_selection",
    "SemiSupervisedStratifiedShuffleSplit": "semisift.model_selection",
    "SequentialForward": "semisift.wrappers.sequential_forward",
    "FWSemiFS": "semisift.wrappers.fw_semifs",
    "ENSemiFS": "semisift.wrappers.en_semifs",
    "NothingSelectedWarning": "semisift.exceptions",
    "NothingUnlabelledWarning": "semisift.exceptions",
    "TableError": "semisift.exceptions",
    "WorkerLostError": "semisift.exceptions",
    "read_table": "semisift.tables",
    "FSManifold": "semisift.embedded.fs_manifold",
    "PCTForestImportance": "semisift.ensembles.pct_forest",
    "RLSR": "semisift.embedded.rlsr",
    "S3VMFS": "semisift.embedded.s3vm_fs",
    "S3VMRFE": "semisift.embedded.s3vm_rfe",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("semisift")
    except PackageNotFoundError:  # a source tree that is not installed
        return "0+unknown"
