"""Methods that search for the columns with which a classifier does best."""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
    from semisift.wrappers.en_semifs import ENSemiFS
    from semisift.wrappers.fw_semifs import FWSemiFS
    from semisift.wrappers.sequential_forward import SequentialForward

__all__ = ["ENSemiFS", "FWSemiFS", "SequentialForward"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"ENSemiFS": "en_semifs", "FWSemiFS": "fw_semifs", "SequentialForward": "sequential_forward"},
)
