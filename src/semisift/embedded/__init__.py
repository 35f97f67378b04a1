"""Methods that select while they train a model."""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
    from semisift.embedded.fs_manifold import FSManifold
    from semisift.embedded.rlsr import RLSR
    from semisift.embedded.s3vm_fs import S3VMFS
    from semisift.embedded.s3vm_rfe import S3VMRFE

__all__ = ["RLSR", "S3VMFS", "S3VMRFE", "FSManifold"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"FSManifold": "fs_manifold", "RLSR": "rlsr", "S3VMFS": "s3vm_fs", "S3VMRFE": "s3vm_rfe"},
)
