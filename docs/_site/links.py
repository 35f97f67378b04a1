"""Links between Markdown pages hold on the site as they do where the files are browsed."""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

ROOT = Path(__file__).parents[2]

# Files outside docs/ that have a page of their own on the site.
PAGES = {
    "README.md": "docs/index.md",
    "CONTRIBUTING.md": "docs/project/contributing.md",
    "CODE_OF_CONDUCT.md": "docs/project/conduct.md",
    "SECURITY.md": "docs/project/security.md",
    "CHANGELOG.md": "docs/project/changelog.md",
    "docs/results": "docs/results/README.md",
    "examples": "docs/auto_examples/index.rst",
}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)((?:#[^)\s]*)?)(?=\))")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


def page_of(path: str) -> str:
    """Return the page, from the root of the project, that shows a file."""
    path = path.rstrip("/")
    example = re.fullmatch(r"examples/((?:\w+/)*\w+)\.py", path)
    if example:
        return f"docs/auto_examples/{example[1]}.rst"
    return PAGES.get(path, path)


def mend(text: str, source: str, shown: str) -> str:
    """Return Markdown whose relative links lead from the page that shows it.

    Parameters
    ----------
    text : str
    source, shown : str
        Where it is written and where it is shown, from the root of the project.
    """
    here, there = PurePosixPath(source).parent, PurePosixPath(shown).parent

    def mended(found: re.Match[str]) -> str:
        target = normpath(str(here / found[1]))
        return relpath(page_of(target), str(there)) + found[2]

    parts, last = [], 0
    for fence in FENCE.finditer(text):  # code is left as it is
        parts += [LINK.sub(mended, text[last : fence.start()]), fence[0]]
        last = fence.end()
    return "".join([*parts, LINK.sub(mended, text[last:])])


def contents(text: str, folder: Path) -> str:
    """Return the list of the pages of the results: what the overview links to, then the others."""
    named = re.findall(r"\[([^\]]+)\]\(((?!\.\.)[^)#:]+)\.md\)", text)
    entries = {path: title_of(path, title) for title, path in reversed(named)}
    order = [path for _, path in named]
    others = [*folder.glob("*.md"), *folder.glob("*/README.md")]
    order += sorted(path.relative_to(folder).with_suffix("").as_posix() for path in others)
    lines = []
    for path in dict.fromkeys(order):
        if path != "README" and (folder / f"{path}.md").exists():
            title = entries.get(path, "")
            lines.append(f"{title} <{path}>" if title else path)
    return "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(lines) + "\n```\n"


def title_of(path: str, title: str) -> str:
    """Return a title that can be understood out of the sentence in which the overview has it."""
    if re.fullmatch(r"Table \d+", title):
        title = f"{title} of the {path.split('-table')[0].replace('fw-semifs', 'FW-SemiFS')} paper"
    return title[:1].upper() + title[1:]


def read_source(app, name: str, source: list[str]) -> None:
    """Mend the links of a page as it is read."""
    path = Path(app.env.doc2path(name))
    if path.suffix != ".md":
        return
    shown = path.relative_to(ROOT).as_posix()
    source[0] = mend(source[0], shown, shown)
    if name == "results/README":
        source[0] += contents(source[0], path.parent)
