"""A page for each method: from the registry, its docstrings, docs/methods.toml and the results."""

import inspect
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from _site.files import remove_others, table, write
from _site.links import title_of
from semisift import CLASSIFIERS, METHODS

FAMILIES = {
    "consensus": "The answer to start with",
    "ensembles": "Committees",
    "filters": "Filters: a formula for each column",
    "wrappers": "Wrappers: a search around a classifier",
    "embedded": "Embedded: selected while a model is trained",
}
READING = re.compile(
    r"(What is a reading|What differs from the paper|All of it is a reading|Most of it is a reading"
    r"|All but the idea is a reading|The original was not available"
    r"|Written after|The soft labels and the score"
    r"|Which rankers to ask|Nothing here is a reading|``variant=\"paper\"`` is the printed)"
)
TIMES = "\N{MULTIPLICATION SIGN}"
PAPER = re.compile(r"^(The baseline of |A baseline named in )?[A-Z]\. ([A-Z]\. )*[A-Z-]")


def make(docs: Path) -> None:
    """Write the pages of all methods, and the tables of them."""
    folder = docs / "methods"
    words = tomllib.loads((docs / "methods.toml").read_text("utf-8"))
    entries = {**METHODS, **CLASSIFIERS}
    if missing := sorted({*entries} ^ {*words}):
        sys.exit(f"docs/methods.toml and the registry do not agree about: {', '.join(missing)}")
    places = Places(docs / "results")
    for name, entry in entries.items():
        write(folder / f"{name}.md", page(entry, words[name], places))
    write(folder / "index.md", index())
    remove_others(folder, {f"{name}.md" for name in entries} | {"index.md"})


# --- the list -------------------------------------------------------------------------------------


def index() -> str:
    """Return the page that lists all methods."""
    head = ["name", "class", "what it does", "source"]
    parts = [
        "# Methods",
        f"{len(METHODS)} rankers and {len(CLASSIFIERS)} classifiers, each with a page of "
        "its own: the idea, the "
        "formula, our choices where the paper leaves details open, the cost, when it fails, an "
        "example, and its rank in the comparisons. [The guide](../guide/which-method.md) helps to "
        "choose.",
        "**Formula** means that the source was followed; **reading** that the paper leaves details "
        "open, and the page of the method lists our choices. `semisift methods` lists the same; "
        "`semisift.METHODS` and `semisift.CLASSIFIERS` hold it for programs.",
    ]
    for family, title in FAMILIES.items():
        rows = [_row(entry) for entry in METHODS.values() if entry.family == family]
        parts += [f"## {title}", table(head, rows)]
    parts += [
        "## Classifiers for partly labelled data",
        "For `semisift predict` and for scikit-learn. `transduction` is the default of `semisift "
        "predict` ([measured](../results/labels.md)); those that label in a loop have "
        "`labeled_iter_` and "
        "`evaluate_committee(X, y)`, which measures the accuracy of the vote and of its members "
        "and their diversity, "
        "before and after unlabelled rows were learnt from. All but the baseline "
        "have `transduction_`. "
        '`SSFI` and `EnsCLS` take the same subspaces: `SSFI(subspace="relevant")`.',
        table(head, [_row(entry) for entry in CLASSIFIERS.values()]),
        "```{toctree}\n:hidden:\n\n" + "\n".join([*METHODS, *CLASSIFIERS]) + "\n```",
    ]
    return "\n\n".join(parts)


def _row(entry: Any) -> list[str]:
    cls = entry.cls.__name__
    return [
        f"[`{entry.name}`]({entry.name}.md)",
        f"[`{cls}`](../api/semisift.{cls}.rst)",
        entry.summary,
        entry.source,
    ]


# --- a page ---------------------------------------------------------------------------------------


def page(entry: Any, words: dict[str, str], places: "Places") -> str:
    """Return the page of a method."""
    about = Docstrings(entry.cls)
    cls = entry.cls.__name__
    names = {entry.name.casefold(), cls.casefold()}
    title = cls if len(names) == 1 else f"{cls} (`{entry.name}`)"
    facts = f"[API](../api/semisift.{cls}.rst) · [what it takes](../api/array-support.md)"
    parts = [
        f"# {title}",
        _sentence(entry.summary),
        facts,
        "## The idea",
        _one_line(words["idea"]),
        "## What the score means" if entry.name in METHODS else "## How it comes to its labels",
        entry.meaning,
    ]
    if about.formula:
        parts += ["## The formula", *about.formula]
    parts += ["## What is a reading", *(about.reading or [_no_reading(entry)])]
    parts += ["## Cost", f"Grows with {entry.cost.replace('*', TIMES)}.", *about.cost]
    if entry.name in METHODS:
        parts.append("How the time was measured to grow: [growth](../growth.md).")
    parts += ["## When it fails", _one_line(words["fails"]), *about.fails]
    if about.example:
        parts += ["## Example", f"```pycon\n{about.example}\n```"]
    parts += ["## Its place in the comparisons", *places.of(entry.name)]
    parts += ["## The paper", "\n\n".join(about.papers or [entry.citation]), look_up(entry)]
    return "\n\n".join(parts)


def _no_reading(entry: Any) -> str:
    if entry.source == "formula":
        return "Nothing: the source was followed."
    return "The members, their weights and the settings are our own."


def look_up(entry: Any) -> str:
    """Return a link by which the paper is found: we keep no list of identifiers."""
    if not re.search(r"\(\d{4}\)", entry.citation):
        return ""
    query = quote_plus(" ".join(entry.citation.split()))
    return f"[Look it up](https://search.crossref.org/?q={query})."


def _sentence(text: str) -> str:
    """Return a text that begins with a capital letter, or with a name as it is written."""
    first = text.split()[0].rstrip(",;:")
    if first in METHODS:
        return f"`{first}`{text[len(first) :]}"
    return text if "_" in first else text[:1].upper() + text[1:]


def _one_line(text: str) -> str:
    return " ".join(text.split())


class Docstrings:
    """What the docstrings of a method's module and class say, by the question that it answers."""

    def __init__(self, cls: type) -> None:
        of_module = paragraphs(inspect.getdoc(sys.modules[cls.__module__]) or "")[1:]
        of_class, self.example = _parts_of_class(inspect.getdoc(cls) or "")
        self.papers: list[str] = []
        self.formula: list[str] = []
        self.reading: list[str] = []
        self.cost: list[str] = []
        self.fails: list[str] = []
        has_formula = any(text.startswith("```") for text in of_module)
        listed = of_module if has_formula else of_module + of_class[1:]
        for text in listed:
            self._place(text)

    def _place(self, text: str) -> None:
        if PAPER.match(text):
            self.papers.append(text)
        elif text.startswith("When not to use it: "):
            self.fails.append(_sentence(text.removeprefix("When not to use it: ")))
        elif READING.match(text):
            completed = text.removeprefix("What is a reading: ")
            self.reading.append(_sentence(completed))
        elif text.startswith("```"):
            self.formula.append(text)
        else:
            before, cost, after = text.partition("Cost: ")
            if before.strip():
                self.formula.append(before.strip())
            if cost:
                self.cost.append(_sentence(after))


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a docstring as Markdown; what is indented is code."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.splitlines()
        if all(line.startswith("    ") for line in lines):
            code = textwrap.dedent(block)
            if found and found[-1].startswith("```"):
                found[-1] = found[-1].removesuffix("\n```") + f"\n\n{code}\n```"
            else:
                found.append(f"```text\n{code}\n```")
        elif lines[0].startswith("- "):
            found.append(block)
        else:
            found.append(re.sub(r"::$", ":", " ".join(line.strip() for line in lines)))
    return found


def _parts_of_class(text: str) -> tuple[list[str], str]:
    """Return what stands before the parameters, and the example."""
    sections = re.split(r"^(\w[\w ]+)\n-{3,}\n", text, flags=re.M)
    named = dict(zip(sections[1::2], sections[2::2], strict=True))
    return paragraphs(sections[0].strip()), named.get("Examples", "").strip()


# --- the comparisons ------------------------------------------------------------------------------


class Places:
    """Where each method stands in the tables under docs/results."""

    def __init__(self, results: Path) -> None:
        self.overview = (results / "README.md").read_text("utf-8")
        self.pages = {
            path.relative_to(results).as_posix(): path.read_text("utf-8")
            for path in sorted([*results.glob("*.md"), *results.glob("*/README.md")])
            if path != results / "README.md"
        }

    def of(self, name: str) -> list[str]:
        """Return what the comparisons say of a method, as Markdown."""
        rows, mentions = [], []
        for path, text in self.pages.items():
            link = f"[{self._title(path, text)}](../results/{path})"
            found = [*_glances(name, text)]
            rows += [[link, f"`{spec}`", *figures] for spec, *figures in found]
            if not found and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
                mentions.append(link)
        parts = []
        if rows:
            head = ["comparison", "as", "mean rank", "mean accuracy", "stability", "seconds"]
            parts.append(table(head, rows))
            parts.append(
                "1 is the best mean rank; each comparison states its data sets, labels and "
                "evaluation classifier."
            )
        if mentions:
            parts.append(("Also in: " if rows else "In: ") + ", ".join(mentions) + ".")
        return parts or ["It takes part in none of the comparisons that are kept here."]

    def _title(self, path: str, text: str) -> str:
        named = re.search(rf"\[([^\]]+)\]\({re.escape(path)}\)", self.overview)
        title = named[1] if named else text.splitlines()[0].lstrip("# ")
        return title_of(path, title)


def _glances(name: str, text: str):
    """Yield the rows of a method in the table "Methods at a glance"."""
    _, _, after = text.partition("## Methods at a glance")
    lines = [line for line in after.partition("\n## ")[0].splitlines() if line.startswith("|")]
    if not lines:
        return
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    head, *body = [row for row in cells if not set("".join(row)) <= set("-: ")]
    n_methods = len(body)
    for row in body:
        values = dict(zip(head, row, strict=False))
        spec = values["method"].replace("\\", "")
        if spec.split(":")[0] == name:
            rank = f"{values.get('mean rank', '')} of {n_methods}"
            yield (
                spec,
                rank,
                values.get("mean accuracy", ""),
                values.get("stability", ""),
                values.get("seconds", ""),
            )
