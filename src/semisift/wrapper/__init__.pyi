from semisift.wrapper.en_semifs import ENSemiFS as ENSemiFS
from semisift.wrapper.fw_semifs import FWSemiFS as FWSemiFS
from semisift.wrapper.sequential_forward import SequentialForward as SequentialForward
