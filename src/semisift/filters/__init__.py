"""Rankers that score each column by a formula."""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
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

__all__ = [
    "C4",
    "CLS",
    "CSFS",
    "GSFS",
    "LSDF",
    "MRMR",
    "SLS",
    "ConstraintScore",
    "FisherScore",
    "LaplacianScore",
    "SSelect",
    "SemiFisherScore",
    "SemiJMI",
    "SemiMIM",
    "VarianceScore",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "C4": "c4",
        "CLS": "cls",
        "CSFS": "csfs",
        "ConstraintScore": "constraint",
        "FisherScore": "fisher",
        "GSFS": "gsfs",
        "LSDF": "lsdf",
        "LaplacianScore": "laplacian",
        "MRMR": "mrmr",
        "SLS": "sls",
        "SSelect": "sselect",
        "SemiFisherScore": "semi_fisher",
        "SemiJMI": "semi_jmi",
        "SemiMIM": "semi_mim",
        "VarianceScore": "variance",
    },
)
