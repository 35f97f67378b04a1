from semisift import pl as pl
from semisift import tl as tl
from semisift.base._graph_ranker import ApproximateNeighbors as ApproximateNeighbors
from semisift.base._ranker import FeatureRanker as FeatureRanker
from semisift.comparison._compare import compare as compare
from semisift.comparison._protocol import PROTOCOLS as PROTOCOLS
from semisift.comparison._protocol import Protocol as Protocol
from semisift.comparison._results import Results as Results
from semisift.embedded import *
from semisift.ensemble import *
from semisift.exceptions import CompiledKernelsMissingWarning as CompiledKernelsMissingWarning
from semisift.exceptions import DuplicateRowsWarning as DuplicateRowsWarning
from semisift.exceptions import FallbackWarning as FallbackWarning
from semisift.exceptions import GraphWarning as GraphWarning
from semisift.exceptions import LongRuntimeWarning as LongRuntimeWarning
from semisift.exceptions import NoFeatureSelectedWarning as NoFeatureSelectedWarning
from semisift.exceptions import NoUnlabelledDataWarning as NoUnlabelledDataWarning
from semisift.exceptions import NovelClassWarning as NovelClassWarning
from semisift.exceptions import OutOfCoreError as OutOfCoreError
from semisift.exceptions import SmallTestSetWarning as SmallTestSetWarning
from semisift.exceptions import SubsamplingWarning as SubsamplingWarning
from semisift.exceptions import TableError as TableError
from semisift.exceptions import UnlabelledTextWarning as UnlabelledTextWarning
from semisift.exceptions import WorkerLostError as WorkerLostError
from semisift.filters import *
from semisift.io import read_table as read_table
from semisift.model_selection import SemiSupervisedGroupKFold as SemiSupervisedGroupKFold
from semisift.model_selection import SemiSupervisedKFold as SemiSupervisedKFold
from semisift.model_selection import (
    SemiSupervisedStratifiedShuffleSplit as SemiSupervisedStratifiedShuffleSplit,
)
from semisift.out_of_core._matrix import OutOfCoreMatrix as OutOfCoreMatrix
from semisift.preprocessing._normalize import normalize_counts as normalize_counts
from semisift.registry import CLASSIFIERS as CLASSIFIERS
from semisift.registry import METHODS as METHODS
from semisift.semi_supervised import *
from semisift.wrapper import *

__version__: str
