from semisift.consensus.consensus import Consensus as Consensus
