"""What the pages share: templates, sentences, style, script and content policy."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from semisift.base._decisions import CELLS, HEADING, WORDS
from semisift.utils._files import drafts
from semisift.utils._text import format_number, format_value, join, plural, printable_name, shorten


def fill(template: str, templates: Environment | None = None, **values: Any) -> str:
    """Fill in the template of a page, beside which its style and its script lie.

    Parameters
    ----------
    template : str
    templates : Environment, optional
        Where it is looked up; else among those of the report.
    **values
        What the template shows.

    Returns
    -------
    str
        With a content policy that knows the style and the script by their hashes, and allows
        nothing else.
    """
    page, css, js = (
        (templates or environment()).get_template(str(PurePosixPath(template).with_name(name)))
        for name in (PurePosixPath(template).name, "style.css", "script.js")
    )
    lines = (line.strip() for line in css.render(**values).splitlines())
    style, script = "\n".join(filter(None, lines)), js.render()
    return page.render(**values, css=Markup(style), js=Markup(script))


def sentences(name: str, *values: Any) -> list[str]:
    """Return the lines of a macro of ``sentences.txt``: plain text, which templates escape."""
    macro = getattr(plain().get_template("sentences.txt").module, name)
    return [line.strip() for line in macro(*values).splitlines() if line.strip()]


def paragraph(name: str, *values: Any) -> str:
    """Return the sentences of a macro in one line."""
    return " ".join(sentences(name, *values))


def write_page(path: Path, text: str) -> Path:
    """Write a page, whole or not at all."""
    with drafts([path]) as (draft,):
        draft.write_text(text, encoding="utf-8", newline="\n")
    return path


@cache
def environment() -> Environment:
    """Return the templates, which escape all that they show."""
    environment = Environment(
        loader=PackageLoader("semisift.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shorten": shorten,
        "printable": printable_name,
        "setting": format_value,
        "plural": plural,
        "figure": format_number,
        "joined": join,
        "number": "{:,}".format,
        "fingerprint": _fingerprint,
        "markdown": escape_markdown,
        "latex": escape_latex,
    }
    environment.globals |= {"words": WORDS, "cells": CELLS, "heading": HEADING}
    return environment


@cache
def plain() -> Environment:
    """Return the templates of text that is no part of a page yet, and not escaped."""
    return environment().overlay(autoescape=False, keep_trailing_newline=True)


def _fingerprint(text: str) -> str:
    """Return the hash by which the content policy of the page knows its own style and script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


# --- in Markdown and in LaTeX ---------------------------------------------------------------------

_WORDS = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "<": "less", ">": "greater"}
_LATEX = {letter: rf"\text{word}{{}}" for letter, word in {**_WORDS, "|": "bar"}.items()}
_LATEX |= {letter: f"\\{letter}" for letter in "&%$#_{}"}


def escape_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it is.

    Examples
    --------
    >>> print(escape_markdown("a_b | <i>"))
    a\_b \| &lt;i&gt;
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|~$])", r"\\\1", text)


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX shows as it is.

    Examples
    --------
    >>> print(escape_latex("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)
