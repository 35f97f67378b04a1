from semisift.tl._rank_markers import assess as assess
from semisift.tl._rank_markers import markers as markers
from semisift.tl._rank_markers import predict_labels as predict_labels
from semisift.tl._rank_markers import rank_markers as rank_markers
