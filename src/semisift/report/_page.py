"""What the pages share: templates, sentences, style, script and content policy."""

import base64
import hashlib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

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
    macro = getattr(_plain().get_template("sentences.txt").module, name)
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
        "visible": printable_name,
        "setting": format_value,
        "counted": plural,
        "figure": format_number,
        "listed": join,
        "number": "{:,}".format,
        "fingerprint": _fingerprint,
    }
    environment.globals["sentences"] = sentences
    return environment


@cache
def _plain() -> Environment:
    """Return the templates of sentences, which are text and no part of a page yet."""
    return environment().overlay(autoescape=False, trim_blocks=False)


def _fingerprint(text: str) -> str:
    """Return the hash by which the content policy of the page knows its own style and script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
