"""compare and Results: methods on data sets, and what came out, which can show itself."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semisift.comparison._datasets import find_datasets
from semisift.comparison._evaluators import find_judges
from semisift.comparison._methods import find_entrants
from semisift.comparison._protocol import Protocol, find_protocol
from semisift.comparison._results import ComparisonResults
from semisift.comparison._run import Record
from semisift.comparison._runner import ComparisonPlan, run_plan
from semisift.comparison._sweeps import Sweep, find_sweep
from semisift.report import comparison
from semisift.utils._text import quote
from semisift.utils._validation import (
    check_above_zero,
    check_callable,
    check_flag,
    check_jobs,
    check_path,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compare(
    methods: Any,
    datasets: Any,
    protocol: str | Protocol = "ssfi",
    *,
    sweep: str | Sweep | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    on_record: Callable[[Record, int], None] | None = None,
    notes: dict[str, Any] | None = None,
) -> "Results":
    """Compare methods on data sets.

    Parameters
    ----------
    methods : list or mapping
        Names with parameters (``"ssfi"``, ``"enscls:variant=paper"``, ``"random"``,
        ``"all-labels"``, ``"package.module.Class"``), objects with ``fit(X, y)`` that have
        ``scores_`` or ``feature_importances_`` afterwards, or pairs of a label and one of these.
        Unlabelled rows have -1; estimators of scikit-learn are given the labelled rows alone.
    datasets : mapping of str to (X, y) or (X, y, groups)
        Those labels that the protocol hides are hidden from the methods. Rows of unknown class
        (-1, None, NaN) train and judge nothing: at least 10 labelled rows must be left to test on
        in each run, and fewer than 30 are warned of (`SmallTestSetWarning`).
    protocol : str or Protocol, default="ssfi"
        A preset, ``"ssfi"``, ``"enscls"``, ``"fw-semifs"`` or ``"rel-rasco"``, or settings of your
        own.
    sweep : str or Sweep, default=None
        Vary one property: ``"labels=1,2,5"``, ``"flipped=0,0.1,0.2"``, ``"left-out=0,0.1"``.
    out : str or path, default=None
        Folder of the store. Each record is written when it is made, so that whatever happens, the
        same call with ``resume=True`` does what is missing. None keeps the records in memory.
    resume : bool, default=False
        Go on with the comparison in `out`, which may get more methods, data sets, levels and runs.
    retry_failed : bool, default=False
        Do again what failed.
    max_seconds : float, default=None
        A method that takes longer to rank in one run on a data set is left out there. The run is
        not cut short.
    n_jobs : int, default=None
        Runs at a time. The joblib backend in force serves, so that a cluster does with
        ``joblib.parallel_config(backend="dask")``; numbers do not depend on it.
    on_record : callable, default=None
        Called with each new record and the number of records still to come.
    notes : dict, default=None
        Kept in the store, for whoever reads it.

    Returns
    -------
    Results

    Raises
    ------
    WorkerLostError
        Where a process that made runs died. What was finished by then is in the store.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import compare
    >>> results = compare(["fisher", "random"], {"wine": load_wine(return_X_y=True)})
    >>> results.table().columns
    ['dataset', 'fisher', 'random']
    """
    check_path(out, "out", or_none=True)
    check_flag(resume, "resume")
    check_flag(retry_failed, "retry_failed")
    check_above_zero(max_seconds, "max_seconds")
    check_jobs(n_jobs)
    check_callable(on_record, "on_record")
    if notes is not None and not isinstance(notes, Mapping):
        raise ValueError(f"notes must be None or a mapping: got {quote(notes)}.")
    protocol = find_protocol(protocol)
    plan = ComparisonPlan(
        {data.name: data for data in find_datasets(datasets)},
        {entrant.label: entrant for entrant in find_entrants(methods)},
        protocol,
        find_sweep(sweep),
        find_judges(protocol.judges),
    )
    given = (out, resume, retry_failed, max_seconds, n_jobs, on_record, notes)
    return Results(*run_plan(plan, *given))


class Results(ComparisonResults):
    """The records of a comparison, what they say, and how they are shown.

    Pictures are drawn on `ax`, or on a new figure of pyplot; ``**choice`` is the judge, the metric,
    the level and the size, as for `Results.scores`.

    Parameters
    ----------
    about : dict
        What was compared and how, as a store keeps it.
    records : list of dict
    folder : Path, optional
        Of the store.

    Attributes
    ----------
    datasets, methods : list of str
    levels : list of float or None
        Of the sweep, ``[None]`` without one.
    protocol : Protocol
    """

    def plot_critical_difference(
        self, ax: "Axes | None" = None, *, alpha: float = 0.05, **choice: Any
    ) -> "Axes":
        """Draw the mean ranks with the critical difference (Demsar 2006)."""
        return comparison.plot_critical_difference(self, ax, alpha=alpha, **choice)

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
        return comparison.plot_curves(self, dataset, ax, methods=methods, bands=bands, **choice)

    def plot_boxes(
        self,
        dataset: str,
        ax: "Axes | None" = None,
        *,
        methods: Sequence[str] | None = None,
        **choice: Any,
    ) -> "Axes":
        """Draw the spread of the figures of a data set over runs."""
        return comparison.plot_boxes(self, dataset, ax, methods=methods, **choice)

    def plot_stability(self, ax: "Axes | None" = None, **choice: Any) -> "Axes":
        """Draw mean figures against the stability of the selection."""
        return comparison.plot_stability(self, ax, **choice)

    def plot_time(self, ax: "Axes | None" = None, **choice: Any) -> "Axes":
        """Draw mean figures against the seconds of a ranking."""
        return comparison.plot_time(self, ax, **choice)

    def plot_similarity(self, ax: "Axes | None" = None, *, size: int | None = None) -> "Axes":
        """Draw how alike the rankings of two methods are."""
        return comparison.plot_similarity(self, ax, size=size)

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
        return comparison.plot_sweep(
            self, ax, measure=measure, dataset=dataset, methods=methods, **choice
        )

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write a report: one HTML file with tables, tests and pictures."""
        return comparison.write_comparison(self, path, title=title)

    def write_figures(self, folder: str | os.PathLike[str], form: str = "svg") -> list[Path]:
        """Save every picture in a folder, as ``"svg"`` or ``"pdf"``."""
        return comparison.write_figures(self, folder, form)

    def write_summary(self, folder: str | os.PathLike[str]) -> Path:
        """Write a short page in Markdown with its pictures into a folder."""
        return comparison.write_summary(self, folder)

    def to_markdown(self, **choice: Any) -> str:
        """Return the main table in Markdown."""
        return comparison.to_markdown(self, **choice)

    def to_latex(self, **choice: Any) -> str:
        """Return the main table in LaTeX."""
        return comparison.to_latex(self, **choice)
