"""The API reference: a page for every public name, found in the package itself."""

import inspect
import re
from pathlib import Path
from typing import Any

import semisift
from _site.files import remove_others, write
from semisift import CLASSIFIERS, METHODS

# Names that are not methods of the registry, by what a reader would look for.
GROUPS = {
    "Compare methods": ["compare", "Results", "Protocol", "PROTOCOLS"],
    "Files, rows and graphs": [
        "read_table",
        "OutOfCoreMatrix",
        "normalize_counts",
        "ApproximateNeighbors",
    ],
    "Cross-validation": [
        "SemiSupervisedKFold",
        "SemiSupervisedGroupKFold",
        "SemiSupervisedStratifiedShuffleSplit",
    ],
    "Supervised classifiers of the papers": ["MixedNB", "NNge"],
    "The registry": ["METHODS", "CLASSIFIERS"],
    "For a method of your own": ["FeatureRanker"],
}
DATA = {
    "METHODS": "The rankers by their short names, a mapping without importing any: "
    "`name`, `cls`, `summary`, "
    "`citation`, `cost`, `source`, `meaning`, `family` and `direction` of each.",
    "CLASSIFIERS": "The classifiers for partly labelled data by their short names, as `METHODS`.",
    "PROTOCOLS": "The protocols of the papers by their names, for `compare`.",
}
FUNCTIONS_OF = {
    "tl": "Single cells: rank, label, assess (`semisift.tl`)",
    "pl": "Single cells: pictures (`semisift.pl`)",
}

# Pages of this folder that others make.
TABLES = ("array-support.md", "what-stays-the-same.md")

NAMED = re.compile(r"(?<![`:\w])`([A-Z]\w+)`(?![`_])")


def make(docs: Path) -> None:
    """Write a page for every public name, and the list of them."""
    folder = docs / "api"
    pages = {f"semisift.{name}": page(name) for names in grouped().values() for name in names}
    for name, text in pages.items():
        write(folder / f"{name}.rst", text)
    write(folder / "index.rst", index())
    remove_others(folder, {f"{name}.rst" for name in pages} | {"index.rst", *TABLES})


def grouped() -> dict[str, list[str]]:
    """Return all public names, in groups; what belongs to none of them comes last."""
    groups = {
        "Rankers": [entry.cls.__name__ for entry in METHODS.values()],
        "Classifiers for partly labelled data": [
            entry.cls.__name__ for entry in CLASSIFIERS.values()
        ],
        **GROUPS,
        **{
            title: [f"{room}.{name}" for name in sorted(getattr(semisift, room).__all__)]
            for room, title in FUNCTIONS_OF.items()
        },
    }
    placed = {name for names in groups.values() for name in names} | {*FUNCTIONS_OF, "__version__"}
    left = [name for name in semisift.__all__ if name not in placed]
    raised = [name for name in left if _is_exception(getattr(semisift, name))]
    others = [name for name in left if name not in raised]
    return groups | {"Warnings and errors": raised} | ({"Others": others} if others else {})


def _is_exception(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


def index() -> str:
    """Return the page that lists all names."""
    sections = [
        _titled("API", "="),
        "Every public name of the package. What each method takes besides numbers "
        "and labels is in a table of "
        "its own: :doc:`array-support`; what does not change with the form of a table, in "
        ":doc:`what-stays-the-same`. What a method does, and when it fails, is on "
        "its page among "
        ":doc:`the methods <../methods/index>`.",
        ".. toctree::\n   :hidden:\n\n   array-support\n   what-stays-the-same",
    ]
    for title, names in grouped().items():
        entries = "\n".join(f"   ~semisift.{name}" for name in names if name not in DATA)
        sections.append(_titled(title.replace("`", "``"), "-"))
        if entries:
            sections.append(".. autosummary::\n   :nosignatures:\n\n" + entries)
        sections += [
            f":py:data:`~semisift.{name}`\n   {_literal(DATA[name])}"
            for name in names
            if name in DATA
        ]
        listed = "\n".join(f"   {name} <semisift.{name}>" for name in names)
        sections.append(".. toctree::\n   :hidden:\n\n" + listed)
    return "\n\n".join(sections)


def page(name: str) -> str:
    """Return the page of a public name."""
    value: Any = semisift
    for part in name.split("."):
        value = getattr(value, part)
    head = [_titled(name, "="), ".. currentmodule:: semisift"]
    if name in DATA:
        return "\n\n".join([*head, f".. py:data:: {name}\n\n   {_literal(DATA[name])}"])
    if _is_exception(value):
        return "\n\n".join([*head, f".. autoexception:: {name}"])
    if not inspect.isclass(value):
        return "\n\n".join([head[0], f".. autofunction:: semisift.{name}"])
    methods, others = methods_of(value)
    body = [*head, *_link_to_method(value), f".. autoclass:: {name}"]
    if methods:
        body.append(_titled("Methods", "-"))
        body += [f".. automethod:: {name}.{method}" for method in methods]
    if others:
        body.append("As everywhere in scikit-learn: " + ", ".join(f"``{m}``" for m in others) + ".")
    return "\n\n".join(body)


def methods_of(cls: type) -> tuple[list[str], list[str]]:
    """Return the public methods that semisift has written, and those of scikit-learn."""
    own, others = [], []
    for name in sorted(name for name in dir(cls) if not name.startswith("_")):
        value = inspect.getattr_static(cls, name)
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if not callable(value) and not isinstance(value, property):
            continue
        home = next(base for base in cls.__mro__ if name in vars(base))
        documented = bool(inspect.getdoc(value))
        if home.__module__.startswith("semisift") and documented and not name.startswith("set_"):
            own.append(name)
        elif home.__module__.startswith("sklearn") and not name.endswith("_request"):
            others.append(name)
    return [
        name for name in own if not isinstance(inspect.getattr_static(cls, name), property)
    ], others


def _link_to_method(cls: type) -> list[str]:
    for entry in (*METHODS.values(), *CLASSIFIERS.values()):
        if entry.cls is cls:
            return [
                f"On the command line ``{entry.name}``. What it does, its formula and "
                "when it fails: "
                f":doc:`its page among the methods <../methods/{entry.name}>`."
            ]
    return []


def _titled(text: str, underline: str) -> str:
    return f"{text}\n{underline * len(text)}"


def _literal(text: str) -> str:
    return text.replace("`", "``")


def link_names(app, what, name, obj, options, lines: list[str]) -> None:
    """Turn public names in backquotes into links, and say that indented text is no Python."""
    found = []
    for line in lines:
        linked = NAMED.sub(
            lambda name: (
                f":py:obj:`~semisift.{name[1]}`" if name[1] in semisift.__all__ else name[0]
            ),
            line,
        )
        if "** : " in linked:  # a type: what ends with an underscore is no link
            linked = re.sub(r"(?<=[a-z])_(?=[,)\s]|$)", r"\\_", linked)
        if linked.endswith("::") and not linked.lstrip().startswith(".."):
            indent = " " * (len(linked) - len(linked.lstrip()))
            found += [linked[:-1], "", f"{indent}.. code-block:: text"]
        else:
            found.append(linked)
    lines[:] = found
