"""Build the Cython kernels; where no C compiler is found the install goes on without them.

For tests of memory safety, SEMISIFT_BUILD=checked builds kernels that check every index, and
SEMISIFT_BUILD=sanitized kernels with the compiler's address and undefined-behaviour sanitizers.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

COMPILE_ARGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]
LINK_ARGS = []
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "initializedcheck": False,
    "wraparound": False,
    "cdivision": True,
}
match os.environ.get("SEMISIFT_BUILD", "fast"):
    case "fast":
        pass
    case "checked":
        DIRECTIVES |= {"boundscheck": True, "initializedcheck": True}
    case "sanitized":
        # casts of NaN and of what is too large to whole numbers are not among "undefined"
        LINK_ARGS = [
            "-fsanitize=address,undefined,float-cast-overflow",
            "-fno-sanitize-recover=all",
        ]
        # Python is built with -fwrapv, by which sums that are too large would be no finding
        COMPILE_ARGS = ["-O1", "-g", "-ffp-contract=off", "-fno-omit-frame-pointer", "-fno-wrapv"]
        COMPILE_ARGS += LINK_ARGS
    case other:
        sys.exit(f"SEMISIFT_BUILD must be fast, checked or sanitized: got {other!r}")

KERNELS = Path("src", "semisift", "_kernels")
# What Cython writes into every module, once for all: less to compile.
SHARED = "semisift._kernels._cyutility"
PARTS = [str(part) for pattern in ("*.h", "*.pxi") for part in sorted(KERNELS.glob(pattern))]

extensions = cythonize(
    [
        Extension(
            f"semisift._kernels.{source.stem}",
            [str(source)],
            depends=PARTS,
            include_dirs=[str(KERNELS)],
            extra_compile_args=COMPILE_ARGS,
            extra_link_args=LINK_ARGS,
        )
        for source in sorted(KERNELS.glob("*.pyx"))
    ]
    + [Extension(SHARED, [str(KERNELS / "_cyutility.c")])],
    include_path=["src"],
    compiler_directives=DIRECTIVES,
    shared_utility_qualified_name=SHARED,
)
for extension in extensions:
    extension.optional = True  # cythonize drops it when it is given to Extension

setup(ext_modules=extensions, options={"build_ext": {"parallel": os.cpu_count()}})
