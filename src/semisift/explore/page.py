"""The page of the explorer: one text with the report's style, and the policy for it."""

from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader

from semisift._words import visible
from semisift.report.page import environment, fill


def render_page(title: str) -> str:
    """Return the page, which asks the server for all that it shows.

    Parameters
    ----------
    title : str
        Name of the table.

    Returns
    -------
    str
        With a content policy that knows the style and the script by their hashes, lets the page
        ask the server it came from, and allows nothing else.
    """
    return fill("explore/page.html", templates=_templates(), title=visible(title))


@cache
def _templates() -> Environment:
    """Return the templates of the explorer beside those of the report, which they extend."""
    own = PrefixLoader({"explore": PackageLoader("semisift.explore")})
    return environment().overlay(loader=ChoiceLoader([own, PackageLoader("semisift.report")]))
