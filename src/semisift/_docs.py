"""What the docstrings of several classes say about a parameter they share: once, in _docs.toml.

A docstring says ``{n_features_to_select}`` where the entry is to stand. Words in parentheses tell
entries apart that are about the same parameter: ``{random_state (ties)}``.
"""

import tomllib
from pathlib import Path
from textwrap import indent
from typing import Any

_FILE = Path(__file__).with_name("_docs.toml")
ENTRIES: dict[str, str] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


def fill_slots(cls: type[Any]) -> None:
    """Put the shared entries where the docstring of a class names them.

    ``<default>`` in an entry is the default of the class.
    """
    if not cls.__doc__:  # python -OO
        return
    text = cls.__doc__
    for slot, entry in ENTRIES.items():
        if f"{{{slot}}}" in text:
            if "<default>" in entry:
                default = cls.__init__.__kwdefaults__[entry.partition(" :")[0]]
                entry = entry.replace("<default>", f'"{default}"')
            text = text.replace(f"    {{{slot}}}", indent(entry, "    "))
    cls.__doc__ = text
