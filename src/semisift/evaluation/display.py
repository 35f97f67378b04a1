"""Display: the pictures and pages of results, which `semisift.report.comparison` makes."""

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Display:
    """What results can be shown as.

    Pictures are drawn on `ax`, or on a new figure of pyplot; ``**choice`` is the judge, the metric,
    the level and the size, as for `Results.scores`.
    """

    def plot_cd(self, ax: "Axes | None" = None, *, alpha: float = 0.05, **choice: Any) -> "Axes":
        """Draw the mean ranks with the critical difference (Demsar 2006)."""
        axes: Axes = _report().plot_cd(self, ax, alpha=alpha, **choice)
        return axes

    def plot_curves(
        self,
        dataset: str,
        ax: "Axes | None" = None,
        *,
        methods: Sequence[str] | None = None,
        bands: bool | None = None,
        **choice: Any,
    ) -> "Axes":
        """Draw the figures of a data set against the number of features.

        `bands` shades 95 % t intervals over runs; None does so for up to five methods.
        """
        axes: Axes = _report().plot_curves(
            self, dataset, ax, methods=methods, bands=bands, **choice
        )
        return axes

    def plot_boxes(
        self,
        dataset: str,
        ax: "Axes | None" = None,
        *,
        methods: Sequence[str] | None = None,
        **choice: Any,
    ) -> "Axes":
        """Draw the spread of the figures of a data set over runs."""
        axes: Axes = _report().plot_boxes(self, dataset, ax, methods=methods, **choice)
        return axes

    def plot_stability(self, ax: "Axes | None" = None, **choice: Any) -> "Axes":
        """Draw mean figures against the stability of the selection."""
        axes: Axes = _report().plot_stability(self, ax, **choice)
        return axes

    def plot_time(self, ax: "Axes | None" = None, **choice: Any) -> "Axes":
        """Draw mean figures against the seconds of a ranking."""
        axes: Axes = _report().plot_time(self, ax, **choice)
        return axes

    def plot_similarity(self, ax: "Axes | None" = None, *, size: int | None = None) -> "Axes":
        """Draw how alike the rankings of two methods are."""
        axes: Axes = _report().plot_similarity(self, ax, size=size)
        return axes

    def plot_sweep(
        self,
        ax: "Axes | None" = None,
        *,
        measure: str = "figure",
        dataset: str | None = None,
        methods: Sequence[str] | None = None,
        **choice: Any,
    ) -> "Axes":
        """Draw figures, stability or agreement from level to level of a sweep."""
        axes: Axes = _report().plot_sweep(
            self, ax, measure=measure, dataset=dataset, methods=methods, **choice
        )
        return axes

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write a report: one HTML file with tables, tests and pictures."""
        written: Path = _report().write_comparison(self, path, title=title)
        return written

    def write_figures(self, folder: str | os.PathLike[str], form: str = "svg") -> list[Path]:
        """Save every picture in a folder, as ``"svg"`` or ``"pdf"``."""
        written: list[Path] = _report().write_figures(self, folder, form)
        return written

    def write_summary(self, folder: str | os.PathLike[str]) -> Path:
        """Write a short page in Markdown with its pictures into a folder."""
        written: Path = _report().write_summary(self, folder)
        return written

    def to_markdown(self, **choice: Any) -> str:
        """Return the main table in Markdown."""
        text: str = _report().to_markdown(self, **choice)
        return text

    def to_latex(self, **choice: Any) -> str:
        """Return the main table in LaTeX."""
        text: str = _report().to_latex(self, **choice)
        return text


def _report() -> Any:
    # By name: the report stands above, and its libraries load when it is asked for.
    return importlib.import_module("semisift.report.comparison")
