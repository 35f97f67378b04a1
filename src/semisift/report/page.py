"""What the pages share: templates, style and script, and the policy that allows just these."""

import base64
import hashlib
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from semisift._words import setting, shorten, visible

# Marks of the legend in a square of 12 units, in the order of `palette.MARKERS`.
SHAPES = (
    "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z",
    "M2 2h8v8h-8z",
    "M6 1.2 11 10.5H1z",
    "M6 .8 11.2 6 6 11.2.8 6z",
    "M6 10.8 1 1.5h10z",
    "M4.2 1h3.6v3.2H11v3.6H7.8V11H4.2V7.8H1V4.2h3.2z",
    "M3.4 1 6 3.6 8.6 1 11 3.4 8.4 6 11 8.6 8.6 11 6 8.4 3.4 11 1 8.6 3.6 6 1 3.4z",
    "M6 .6 7.4 4.4 11.4 4.5 8.3 7 9.4 10.9 6 8.7 2.6 10.9 3.7 7 .6 4.5 4.6 4.4z",
)


def fill(template: str, css: str, js: str, **values: Any) -> str:
    """Fill in the template of a page.

    Parameters
    ----------
    template, css, js : str
        Names of the templates of the page, of its style and of its script.
    **values
        What they show.

    Returns
    -------
    str
        With a content policy that knows the style and the script by their hashes, and allows
        nothing else.
    """
    style = _minimal(environment().get_template(css).render(**values))
    script = environment().get_template(js).render()
    return (
        environment()
        .get_template(template)
        .render(
            **values,
            shapes=SHAPES,
            css=Markup(style),
            js=Markup(script),
            css_hash=_hash(style),
            js_hash=_hash(script),
        )
    )


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
    environment.filters.update(
        shorten=shorten, visible=visible, setting=setting, number="{:,}".format
    )
    return environment


def _minimal(css: str) -> str:
    """Take the indentation out."""
    return "\n".join(line.strip() for line in css.splitlines() if line.strip())


def _hash(text: str) -> str:
    """Return the hash by which the content policy of the page knows its own style and script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
