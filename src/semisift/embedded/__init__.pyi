from semisift.embedded.fs_manifold import FSManifold as FSManifold
from semisift.embedded.rlsr import RLSR as RLSR
from semisift.embedded.s3vm import S3VMFS as S3VMFS
from semisift.embedded.s3vm import S3VMRFE as S3VMRFE
