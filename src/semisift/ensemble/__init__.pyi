from semisift.ensemble.bagging_constraint import BaggingConstraintScore as BaggingConstraintScore
from semisift.ensemble.consensus import Consensus as Consensus
from semisift.ensemble.enscls import EnsCLS as EnsCLS
from semisift.ensemble.forest import ForestImportance as ForestImportance
from semisift.ensemble.pct_forest import PCTForestImportance as PCTForestImportance
from semisift.ensemble.sefr import SEFR as SEFR
from semisift.ensemble.ssfi import SSFI as SSFI
