"""What docstrings of several classes or functions say about a parameter: once, in _docstrings.toml.

A docstring says ``{n_features_to_select}`` where the entry is to stand. Words in parentheses tell
entries apart that are about the same parameter: ``{random_state (ties)}``. What is not there is
taken from the docstring of a base class: ``{classes_}``.
"""

import re
import tomllib
from pathlib import Path
from textwrap import indent
from typing import Any, TypeVar

Documented = TypeVar("Documented")

_FILE = Path(__file__).with_name("_docstrings.toml")
ENTRIES: dict[str, str] = tomllib.loads(_FILE.read_text(encoding="utf-8"))

SLOT = re.compile(r"^( *)\{([^{}]+)\}$", re.MULTILINE)


def fill_slots(documented: Documented) -> Documented:
    """Put the shared entries where the docstring of a class or function names them.

    ``<default>`` in an entry is the default of the class.
    """
    if documented.__doc__:  # not under python -OO
        documented.__doc__ = _filled(documented, documented.__doc__)
    return documented


def _filled(cls: Any, text: str) -> str:
    return SLOT.sub(lambda slot: _find_entry(cls, slot), text)


def _find_entry(cls: Any, slot: re.Match[str]) -> str:
    margin, name = slot.groups()
    if name in ENTRIES:
        entry = ENTRIES[name]
        if "<default>" in entry:
            default = cls.__init__.__kwdefaults__[entry.partition(" :")[0]]
            entry = entry.replace("<default>", f'"{default}"')
        return _filled(cls, indent(entry, margin))
    pattern = re.compile(rf"^{margin}{re.escape(name)} : .*(\n{margin}    .*)*", re.MULTILINE)
    found = (pattern.search(base.__doc__ or "") for base in cls.__mro__[1:])
    return next((entry[0] for entry in found if entry), slot[0])
