"""What the pages share: templates, style and script, and the policy that allows just these."""

import base64
import hashlib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from semisift.utils._files import drafts
from semisift.utils._text import format_value, plural, printable_name, shorten


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
    style, script = _minimal(css.render(**values)), js.render()
    return page.render(**values, css=Markup(style), js=Markup(script))


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
    filters = {
        "shorten": shorten,
        "visible": printable_name,
        "setting": format_value,
        "counted": plural,
    }
    environment.filters.update(filters, number="{:,}".format, fingerprint=_fingerprint)
    return environment


def _minimal(css: str) -> str:
    """Take the indentation out."""
    return "\n".join(line.strip() for line in css.splitlines() if line.strip())


def _fingerprint(text: str) -> str:
    """Return the hash by which the content policy of the page knows its own style and script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
