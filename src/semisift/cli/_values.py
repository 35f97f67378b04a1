"""Values of options that click has no type for."""

from typing import Any

import click

# What --redundancy says to rank by score alone.
OFF = "off"


class Top(click.ParamType):
    """A number of features, or the name of a rule that finds it."""

    name = "top"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Return the number or the rule."""
        # Loads scikit-learn, which --help need not wait for.
        from semisift.outcome.mixin import RULES

        text = str(value).strip().lower()
        if text in RULES:
            return text
        if not text.isdecimal() or int(text) < 1:
            self.fail(
                f"must be a number of at least 1, or a rule ({', '.join(RULES)}): got {value!r}.",
                param,
                ctx,
            )
        return int(text)


class Redundancy(click.ParamType):
    """A correlation between 0 and 1, or `OFF`."""

    name = "redundancy"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """Return the correlation, or `OFF`."""
        text = str(value).strip().lower()
        if text in (OFF, "none"):
            return OFF
        try:
            threshold = float(text)
        except ValueError:
            threshold = float("nan")
        if not 0 < threshold < 1:
            self.fail(f"must be between 0 and 1, or {OFF}: got {value!r}.", param, ctx)
        return threshold
