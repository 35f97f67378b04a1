from semisift.tl._assess import assess as assess
from semisift.tl._markers import markers as markers
from semisift.tl._predict_labels import predict_labels as predict_labels
from semisift.tl._rank_markers import rank_markers as rank_markers
