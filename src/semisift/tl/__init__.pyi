from semisift.tl._assess import assess as assess
from semisift.tl._label_cells import label_cells as label_cells
from semisift.tl._markers import markers as markers
from semisift.tl._rank_features import rank_features as rank_features
