"""Build the Cython kernels; where no C compiler is found the install goes on without them."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

COMPILE_ARGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]

KERNELS = Path("src", "semisift", "kernels")
PARTS = [str(part) for pattern in ("*.h", "*.pxi") for part in sorted(KERNELS.glob(pattern))]

extensions = cythonize(
    [
        Extension(
            f"semisift.kernels.{source.stem}",
            [str(source)],
            depends=PARTS,
            include_dirs=[str(KERNELS)],
            extra_compile_args=COMPILE_ARGS,
        )
        for source in sorted(KERNELS.glob("*.pyx"))
    ],
    include_path=["src"],
    language_level=3,
)
for extension in extensions:
    extension.optional = True  # cythonize drops it when it is given to Extension

setup(ext_modules=extensions, options={"build_ext": {"parallel": os.cpu_count()}})
