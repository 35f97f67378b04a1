from semisift.wrappers.en_semifs import ENSemiFS as ENSemiFS
from semisift.wrappers.fw_semifs import FWSemiFS as FWSemiFS
from semisift.wrappers.sequential_forward import SequentialForward as SequentialForward
