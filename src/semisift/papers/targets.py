"""Targets: the tables and figures of results that ``semisift reproduce`` makes again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Literal

from semisift.evaluation.protocol import PROTOCOLS, Protocol
from semisift.papers import paper_sets, published
from semisift.papers.paper_sets import PaperSet
from semisift.papers.published import Published

# What any method must beat, what the labelled rows alone give, and what all labels would.
YARDSTICKS = ("random", "fisher", "all-labels")


Form = Literal["printed", "default"]

# form -> what tables call it
FORMS: dict[Form, str] = {"printed": "as printed", "default": "our default"}


@dataclass(frozen=True)
class Column:
    """A method of a paper and what stands for it here.

    Attributes
    ----------
    name : str
        Its name in the paper.
    printed : str or None
        The method as the paper prints it, with parameters. ``{judge}`` stands for the judge, for
        methods that wrap the learner that judges them.
    default : str or None
        The method as we recommend it, or as we read it where the paper leaves it open.
    """

    name: str
    printed: str | None = None
    default: str | None = None

    def spec(self, form: Form, judge: str) -> str | None:
        """Return one form under a judge, or None where there is none."""
        spec: str | None = getattr(self, form)
        return None if spec is None else spec.format(judge=judge)

    def specs(self, judge: str) -> list[str]:
        """Return all forms under a judge."""
        found = (self.spec(form, judge) for form in FORMS)
        return [spec for spec in found if spec is not None]

    def nearest(self, form: Form, judge: str) -> str | None:
        """Return the wanted form, or the other one where it is the only one."""
        return self.spec(form, judge) or next(iter(self.specs(judge)), None)


@dataclass(frozen=True)
class Target:
    """A table or figure of results that can be made again.

    Attributes
    ----------
    name : str
    published : Published
        What the paper prints.
    protocol : Protocol
        That of the paper, with all its judges.
    columns : tuple of Column
        The paper's methods.
    sets : dict of str to PaperSet
        The paper's data sets.
    view : {"table", "curves", "wins", "ranks", "committees"}
        What is printed at the end; "committees" are classifiers, which are run and not ranked by.
    test : {None, "signed-ranks", "mean-ranks"}
        The test that the paper makes of the table.
    others : tuple of str
        Further methods to compare with.
    claim : (str, tuple of str), optional
        A method that the paper finds ahead, and those that it is ahead of.
    has_spreads : bool
        Whether the paper prints standard deviations over the numbers of features.
    """

    name: str
    published: Published
    protocol: Protocol
    columns: tuple[Column, ...]
    sets: dict[str, PaperSet]
    view: Literal["table", "curves", "wins", "ranks", "committees"] = "table"
    test: Literal["signed-ranks", "mean-ranks"] | None = None
    others: tuple[str, ...] = YARDSTICKS
    claim: tuple[str, tuple[str, ...]] | None = None
    has_spreads: bool = False

    @property
    def title(self) -> str:
        """What it is, in one line."""
        return f"{self.published.place} of {self.published.source}"

    @property
    def specs(self) -> list[str]:
        """All methods with parameters, in the order of the paper's columns."""
        found = (
            spec
            for column in self.columns
            for judge in self.protocol.judges
            for spec in column.specs(judge)
        )
        return list(dict.fromkeys([*found, *self.others]))

    def values(self, judge: str) -> dict[str, dict[str, float]]:
        """Return the published values of a judge: data set -> our method -> value."""
        return self._table(judge, self.published.value)

    def spreads(self, judge: str) -> dict[str, dict[str, float]]:
        """Return the published deviations over the numbers of features, in the same form."""
        return self._table(judge, self.published.deviation) if self.has_spreads else {}

    def _table(
        self, judge: str, entry: Callable[[str, str, str], float | None]
    ) -> dict[str, dict[str, float]]:
        table: dict[str, dict[str, float]] = {}
        for dataset, column in product(self.sets, self.columns):
            value = entry(judge, dataset, column.name)
            if value is not None:
                for spec in column.specs(judge):
                    table.setdefault(dataset, {})[spec] = value
        return table


_SSFI_COLUMNS = (
    Column("SSFI", "ssfi:variant=paper", "ssfi"),
    Column("FwFS", "fw-semifs:estimator={judge}"),
    Column("RF", "forest"),
    Column("sSelect", "sselect:variant=paper", "sselect"),
)

# The papers of CSFS and BS were not to be had, so that there is no printed form.
_ENSCLS_COLUMNS = (
    Column("EnsCLS", "enscls:variant=paper", "enscls"),
    Column("CLS", "cls:variant=paper", "cls"),
    Column("CSFS", default="csfs"),
    Column("BS", default="bs"),
    Column("SSFI", "ssfi:variant=paper", "ssfi"),
)

_FW_SEMIFS_COLUMNS = (
    Column("Full", "all-features"),
    Column("SFFS", "sffs:estimator={judge}:feature_scaling=minmax"),
    Column("SLS", "sls:variant=paper", "sls"),
    Column("SemiFS", "fw-semifs:estimator={judge}:feature_scaling=minmax"),
)

# CoTrain-B is what co-training starts from.
_REL_RASCO_COLUMNS = (
    Column("CoTrain-B"),
    Column("CoTrain-E", "co-training"),
    Column("RASCO", "rasco"),
    Column("Rel-RASCO", "rel-rasco"),
    Column("Prob-MRMR", "prob-mrmr"),
)

_ssfi = partial(
    Target, protocol=PROTOCOLS["ssfi"], columns=_SSFI_COLUMNS, sets=paper_sets.SSFI_SETS
)
_enscls = partial(
    Target, protocol=PROTOCOLS["enscls"], columns=_ENSCLS_COLUMNS, sets=paper_sets.ENSCLS_SETS
)
_fw_semifs = partial(Target, sets=paper_sets.FW_SEMIFS_SETS, claim=("SemiFS", ("SFFS", "SLS")))

TARGETS: dict[str, Target] = {
    target.name: target
    for target in [
        _ssfi("ssfi-table2", published.SSFI_TABLE_2, test="signed-ranks"),
        _ssfi("ssfi-fig1", published.SSFI_FIGURE_1, view="curves"),
        _enscls("enscls-table2", published.ENSCLS_TABLE_2, test="mean-ranks"),
        _enscls("enscls-table3", published.ENSCLS_TABLE_3, view="wins"),
        _enscls("enscls-fig1", published.ENSCLS_FIGURE_1, view="curves"),
        _enscls("enscls-fig2", published.ENSCLS_FIGURE_2, view="ranks"),
        _fw_semifs(
            "fw-semifs-table2",
            published.FW_SEMIFS_TABLE_2,
            replace(PROTOCOLS["fw-semifs"], sizes=(10,)),
            _FW_SEMIFS_COLUMNS,
        ),
        _fw_semifs(
            "fw-semifs-table3",
            published.FW_SEMIFS_TABLE_3,
            PROTOCOLS["fw-semifs"],
            _FW_SEMIFS_COLUMNS[1:],
            has_spreads=True,
        ),
        Target(
            "rel-rasco-fig1",
            published.REL_RASCO_FIGURE_1,
            PROTOCOLS["rel-rasco"],
            _REL_RASCO_COLUMNS,
            paper_sets.REL_RASCO_SETS,
            view="committees",
            others=(),
        ),
    ]
}
