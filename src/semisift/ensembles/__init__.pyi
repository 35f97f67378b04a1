from semisift.ensembles.bagging_constraint import BaggingConstraintScore as BaggingConstraintScore
from semisift.ensembles.enscls import EnsCLS as EnsCLS
from semisift.ensembles.forest import ForestImportance as ForestImportance
from semisift.ensembles.pct_forest import PCTForestImportance as PCTForestImportance
from semisift.ensembles.sefr import SEFR as SEFR
from semisift.ensembles.ssfi import SSFI as SSFI
