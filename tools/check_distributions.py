"""Check the wheel and the source distribution of a release: what is in them, and that they work.

    python -m build && twine check --strict dist/*
    python tools/check_distributions.py dist              what is in them, and their version
    python tools/check_distributions.py dist --install    also install each and run the demo

Each is installed into a fresh environment: the wheel, if one fits this interpreter, must bring
compiled kernels; the source distribution is installed where no compiler works, must do without, and
must say so once. Only the standard library is needed.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
BUILT = {".c", ".so", ".pyd", ".pyc"}
BESIDE = [  # files of the root that a source distribution must have
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "pyproject.toml",
    "setup.py",
]
NO_COMPILER = {"CC": "/bin/false", "CXX": "/bin/false"}


def sources() -> set[str]:
    """Return the files of the package that people wrote, by their path below ``src``."""
    paths = (path for path in (ROOT / "src" / "semisift").rglob("*") if path.is_file())
    return {path.relative_to(ROOT / "src").as_posix() for path in paths if path.suffix not in BUILT}


def kernels(written: Iterable[str]) -> set[str]:
    """Return the names of the modules that a compiler makes."""
    return {PurePosixPath(name).stem for name in written if name.endswith(".pyx")}


def wrong_in_sdist(names: Iterable[str], written: set[str]) -> list[str]:
    """Say what is missing in a source distribution, or does not belong there."""
    held = {name.partition("/")[2] for name in names}
    wanted = {f"src/{name}" for name in written} | {*BESIDE, "tests/conftest.py"}
    built = (name for name in held if PurePosixPath(name).suffix in BUILT)
    return [
        *(f"missing: {name}" for name in sorted(wanted - held)),
        *(f"does not belong there: {name}" for name in sorted(built)),
    ]


def wrong_in_wheel(names: Iterable[str], written: set[str]) -> list[str]:
    """Say what is missing in a wheel, or does not belong there."""
    held = {name for name in names if not name.endswith("/")}
    compiled = {
        PurePosixPath(name).name.partition(".")[0]
        for name in held
        if PurePosixPath(name).suffix in {".so", ".pyd"}
    }
    foreign = (
        name
        for name in held
        if not re.match(r"semisift(-[^/]+\.dist-info)?/", name) or name.endswith((".c", ".pyc"))
    )
    licences = [name for name in held if name.endswith(".dist-info/licenses/LICENSE")]
    return [
        *(f"missing: {name}" for name in sorted(written - held)),
        *(f"not compiled: {name}" for name in sorted(kernels(written) - compiled)),
        *(f"does not belong there: {name}" for name in sorted(foreign)),
        *([] if licences else ["missing: the licence"]),
    ]


def check(path: Path, version: str) -> list[str]:
    """Say what is wrong with one distribution."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            wrong = wrong_in_wheel(archive.namelist(), sources())
    else:
        with tarfile.open(path) as archive:
            files = [member.name for member in archive.getmembers() if member.isfile()]
        wrong = wrong_in_sdist(files, sources())
    if path.name.removesuffix(".tar.gz").split("-")[1] != version:
        wrong.append(f"the version is not {version}, which pyproject.toml says")
    return wrong


def try_out(path: Path, compiled: bool) -> list[str]:
    """Install a distribution into a fresh environment, run the demo, say what is wrong."""
    unset = ("PYTHONPATH", "PYTHONHOME")
    clean = {name: value for name, value in os.environ.items() if name not in unset}
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        scripts = Path(scratch, "Scripts" if os.name == "nt" else "bin")
        install = [scripts / "python", "-m", "pip", "install", "--quiet", path.resolve()]
        subprocess.run(
            install, check=True, cwd=scratch, env=clean | ({} if compiled else NO_COMPILER)
        )
        demo = subprocess.run(
            [scripts / "semisift", "demo"],
            cwd=scratch,
            env=clean | {"PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
    if demo.returncode:
        return [f"the demo ended with {demo.returncode}: {demo.stderr}"]
    warned = [line for line in demo.stderr.splitlines() if line.startswith("Warning:")]
    if compiled and warned:
        return [f"the demo warned: {warned}"]
    if not compiled and (len(warned) != 1 or "kernel" not in demo.stderr.lower()):
        return [f"expected one warning, about the missing kernels: {demo.stderr!r}"]
    return []


def fits(wheel: Path) -> bool:
    """Tell whether a wheel is for this interpreter and (roughly) for this machine."""
    own = {"linux": "linux", "darwin": "macosx", "win32": "win"}.get(sys.platform, sys.platform)
    python, _, system = wheel.stem.split("-")[-3:]
    here = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return python == here and own in system and platform.machine().lower() in system


def main() -> int:
    """Check all distributions of a folder; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--install", action="store_true", help="also install each, run the demo")
    chosen = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = sorted([*chosen.folder.glob("*.whl"), *chosen.folder.glob("*.tar.gz")])
    wrong = [] if found else [f"no distribution in {chosen.folder}"]
    for path in found:
        troubles = check(path, project["version"])
        tried = ""
        if chosen.install and not troubles and (path.suffix != ".whl" or fits(path)):
            troubles += try_out(path, compiled=path.suffix == ".whl")
            tried = ", installs, runs the demo"
        print(f"{path.name}: {'wrong' if troubles else 'as it should be'}{tried}")
        wrong += [f"{path.name}: {trouble}" for trouble in troubles]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
