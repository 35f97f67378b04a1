"""Pages of files that stand at the root of the project, where others look for them."""

from pathlib import Path

from _site.files import write
from _site.links import PAGES, ROOT, mend


def make(docs: Path) -> None:
    """Copy each file of the root to its page, with links that lead from there."""
    for name, page in PAGES.items():
        source = ROOT / name
        if page.startswith("docs/project/") and source.is_file():
            write(ROOT / page, mend(source.read_text("utf-8"), name, page))
