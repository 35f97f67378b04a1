"""Run the tests of the kernels on builds that find accesses outside memory.

    python tools/check_memory.py checked      every index of an array is checked
    python tools/check_memory.py sanitized    the address and undefined-behaviour sanitizers of gcc

The sources are copied to a scratch folder and built there, which takes a few minutes; then come the
tests that call kernels most, or those named with --tests. The interpreter needs what
`pip install --editable ".[test]"` brings, and Cython and setuptools as the head of pyproject.toml
asks for them. Further arguments go to pytest.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

# The tests that call kernels most, directly or by the methods that stand on them.
TESTS = [
    "kernels/test_memory_safety.py",
    "kernels/test_kernels.py",
    "kernels/test_gaps.py",
    "ensemble/test_committees.py",
    "ensemble/test_gaps.py",
    "ensemble/test_weights.py",
    "semi_supervised/test_co_forest.py",
    "filters/test_cls.py",
    "ensemble/test_enscls.py",
    "filters/test_graph_filters.py",
    "utils/test_information.py",
    "semi_supervised/test_nnge.py",
    "ensemble/test_pct_forest.py",
    "semi_supervised/test_rasco.py",
    "embedded/test_s3vm.py",
    "methods/test_sparse_and_dense.py",
    *(["properties"] if Path(ROOT, "tests", "properties").exists() else []),
]


def main() -> int:
    """Build, test and return the exit status of the tests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", choices=["checked", "sanitized"])
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files or folders in tests/")
    chosen, pytest_arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(
            ["xargs", "-0", "cp", "--parents", "-t", scratch], cwd=ROOT, input=names, check=True
        )
        environment = os.environ | {
            "SEMISIFT_BUILD": chosen.build,
            "PYTHONPATH": str(Path(scratch, "src")),
        }
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(build, cwd=scratch, env=environment, check=True)
        if chosen.build == "sanitized":
            environment |= sanitizer_settings()
        # what does not compile is left out of an install, and numpy would pass for it
        kernels = Path(scratch, "src", "semisift", "_kernels")
        for source in sorted(kernels.glob("*.pyx")):
            if not any(kernels.glob(f"{source.stem}.*.so")):
                sys.exit(f"{source.name} did not build")
        tests = [f"tests/{name}" for name in chosen.tests]
        # output is not captured: a sanitizer writes its finding and ends the process
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-m", ""]
        return subprocess.run(
            [*command, *tests, *pytest_arguments], cwd=scratch, env=environment
        ).returncode


def sanitizer_settings() -> dict[str, str]:
    """Load the sanitizers before Python, which is not built with them."""
    found = [
        subprocess.run(
            ["gcc", f"-print-file-name={library}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for library in ("libasan.so", "libubsan.so")
    ]
    return {
        "LD_PRELOAD": " ".join(found),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself keeps memory until the end
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # or small arrays would lie in one large block
        "OPENBLAS_NUM_THREADS": "1",
    }


if __name__ == "__main__":
    sys.exit(main())
