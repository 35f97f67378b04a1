"""Check that the files which name the version of the project agree.

    python tools/check_version.py [TAG]

``pyproject.toml`` is the home of the version; ``CITATION.cff``, the changelog's newest release, the
entry for scverse's list, the conda recipe and, where one is given, the tag (``v0.1.0``) must say
the same. Only the standard library is needed.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# file -> what stands before the version there; the first match counts
NAMED = {
    "CITATION.cff": r"^version: (\S+)$",
    "CHANGELOG.md": r"^## \[(\d[^\]]*)\] - (\d{4}-\d\d-\d\d)$",
    "packaging/scverse/meta.yaml": r"^version: (\S+)$",
    "packaging/conda/meta.yaml": r'^{% set version = "(\S+)" %}$',
}


def versions(root: Path = ROOT) -> dict[str, str | None]:
    """Return the version that each file names, or None where it names none."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    found = {"pyproject.toml": project["version"]}
    for name, pattern in NAMED.items():
        match = re.search(pattern, (root / name).read_text("utf-8"), re.M)
        found[name] = match and match[1]
    return found


def release_dates(root: Path = ROOT) -> tuple[str | None, str | None]:
    """Return the date of the newest release in the changelog, and in ``CITATION.cff``."""
    changed = (root / "CHANGELOG.md").read_text("utf-8")
    cited = (root / "CITATION.cff").read_text("utf-8")
    first = re.search(NAMED["CHANGELOG.md"], changed, re.M)
    second = re.search(r"^date-released: (\S+)$", cited, re.M)
    return first and first[2], second and second[1]


def main() -> int:
    """Compare; return the exit status."""
    found = versions()
    if sys.argv[1:]:
        found["the tag"] = sys.argv[1].removeprefix("v") if sys.argv[1][0] == "v" else None
    found_dates = release_dates()
    for name, version in found.items():
        print(f"{name}: {version}")
    print("released:", *found_dates)
    agree = len({*found.values()}) == len({*found_dates}) == 1
    print("they agree" if agree else "they do not agree")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
