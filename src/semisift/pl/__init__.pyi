from semisift.pl._confidence import confidence as confidence
from semisift.pl._markers import markers as markers
from semisift.pl._ranking import ranking as ranking
