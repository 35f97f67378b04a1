"""What the page is told, as plain values for JSON."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.explore._label_store import Known
from semisift.explore._rankings import MAX_MEMBERS, Ranking
from semisift.explore._session import Found, Session
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.utils._typing import Floats, Ints

MAX_ON_MAP = 5000
MAX_VALUES = 300
MAX_CELLS = 10

# Of the draws that a picture shows.
DRAWS = 0


class Page:
    """Answers to the questions of the page.

    Parameters
    ----------
    session : Session
    file, label_column, labels_file : str
        Names, for the page to show.
    image : tuple of two ints, or None
        Height and width, where a row is a picture.
    """

    def __init__(
        self,
        session: Session,
        *,
        file: str,
        label_column: str,
        labels_file: str,
        image: tuple[int, int] | None = None,
    ) -> None:
        self.session, self._image = session, image
        n_rows, n_columns = session.dataset.X.shape
        self.n_rows, self.n_columns = int(n_rows), int(n_columns)
        self._about = {
            "file": file,
            "rows": self.n_rows,
            "features": self.n_columns,
            "label_column": label_column,
            "labels_file": labels_file,
            "image": None if image is None else [*image],
        }
        self._names = session.dataset.feature_names
        self._range: tuple[float, float] | None = None

    def state(self) -> dict[str, Any]:
        """Return what the page shows, but for the map and single rows and features."""
        session = self.session
        # the version first: what comes later is newer, and asked for again
        version, known, found = session.version, session.known, session.found
        what, share = session.progress
        is_new = found.guess is not None and found.guess.version == known.version
        return {
            "version": version,
            "labels_version": known.version,
            "table": self._about,
            "classes": self._classes(known, found),
            "progress": {"what": what, "share": share},
            "ranking": self._ranking(found.ranking, found.before),
            "queue": self._queue(known, found),
            "stability": number(found.guess.soft.stability) if found.guess and is_new else None,
            "can_undo": session.answers.can_undo,
            "can_finish": session.can_write,
            "finished": session.finished,
            "notes": session.notes,
        }

    def _classes(self, known: Known, found: Found) -> list[dict[str, Any]]:
        here = np.zeros(len(known.codes), dtype=bool)
        here[[*known.given]] = True
        codes = np.full(0, -1)
        if found.drawn is not None:
            codes = guessed(known, found)[0][known.codes[found.drawn.rows] < 0]
        parts = {"given": known.codes[here], "in_table": known.codes[~here], "guessed": codes}
        counts = {
            name: np.bincount(part[part >= 0], minlength=len(known.classes)).tolist()
            for name, part in parts.items()
        }
        return [
            {"name": name, **{part: counts[part][place] for part in parts}}
            for place, name in enumerate(known.classes)
        ]

    def _ranking(self, ranking: Ranking | None, before: Ranking | None) -> dict[str, Any] | None:
        if ranking is None:
            return None
        features = [
            {
                **self._column(column),
                "rank": int(ranking.ranks[column]),
                "score": number(ranking.scores[column]),
                "was": None if before is None else int(before.ranks[column]),
                "decision": None,
                "family": self._correlated_group(ranking, column),
            }
            for column in ranking.best.tolist()
        ]
        return {"by": ranking.by, "labels_version": ranking.version, "features": features}

    def _column(self, column: int) -> dict[str, Any]:
        return {"column": column, "name": self._names[column]}

    def _correlated_group(self, ranking: Ranking, column: int) -> list[dict[str, Any]]:
        correlation = ranking.correlation
        if correlation is None:
            return []
        members = ranking.correlated_group(column)[:MAX_MEMBERS].tolist()
        return [
            {**self._column(each), "correlation": number(correlation[each])} for each in members
        ]

    def _queue(self, known: Known, found: Found) -> dict[str, Any]:
        rows = []
        if found.drawn is not None:
            codes, sure, _ = guessed(known, found)
            for place, reason in found.queue:
                row = int(found.drawn.rows[place])
                if known.codes[row] < 0:
                    about = {"row": row, "name": self.name(row), "reason": reason}
                    guess = {"guess": int(codes[place]), "sure": number(sure[place])}
                    rows.append(about | guess)
        return {"labels_version": found.queue_version, "rows": rows}

    def name(self, row: int) -> str:
        """Return the name of a row, or else its number in the table, from 1."""
        names, rows = self.session.dataset.row_names, self.session.dataset.rows
        return names[row] if names is not None else str(int(rows[row]) + 1)

    def map(self) -> dict[str, Any]:
        """Return where the rows lie."""
        version, known, found = self.session.version, self.session.known, self.session.found
        if (drawn := found.drawn) is None:
            nothing = ("rows", "x", "y", "label", "guess", "sure")
            return {"version": version, **{name: [] for name in nothing}}
        labels = known.codes[drawn.rows]
        # those that were labelled here first, then the other labelled ones
        here = np.isin(drawn.rows, [*known.given])
        order = np.lexsort([labels < 0, ~here])
        places = np.sort(order[:MAX_ON_MAP])
        codes, sure, _ = guessed(known, found)
        x, y = drawn.positions[places].T
        return {
            "version": version,
            "rows": drawn.rows[places].tolist(),
            "x": numbers(x),
            "y": numbers(y),
            "label": labels[places].tolist(),
            "guess": codes[places].tolist(),
            "sure": numbers(sure[places]),
        }

    def feature(self, column: int) -> dict[str, Any]:
        """Return the values of a column by class."""
        known, found = self.session.known, self.session.found
        about = self._column(column)
        if (drawn := found.drawn) is None:
            return about | {"groups": [], "by_guess": []}
        values, labels = drawn.column(column), known.codes[drawn.rows]
        codes = guessed(known, found)[0]
        every = range(-1, len(known.classes))
        of_guess = every if found.guess is not None else ()
        return about | {
            "groups": [_group(code, values[labels == code]) for code in every],
            "by_guess": [_group(code, values[(labels < 0) & (codes == code)]) for code in of_guess],
        }

    def row(self, row: int) -> dict[str, Any]:
        """Return what is known of a row."""
        known, found = self.session.known, self.session.found
        values, image, code, shares = [], None, -1, np.empty(0)
        if (drawn := found.drawn) is not None:
            own = drawn.row(row, self.session.dataset)
            image = None if self._image is None else self._pixels(own)
            best = [] if found.ranking is None else found.ranking.best[:MAX_CELLS].tolist()
            values = [self._cell(column, own[column], drawn.column(column)) for column in best]
            place = drawn.place_of.get(row)
            if place is not None:
                codes, _, every = guessed(known, found)
                code, shares = int(codes[place]), every[place]
        return {
            "row": row,
            "name": self.name(row),
            "label": int(known.codes[row]),
            "given_here": row in known.given,
            "guess": code,
            "shares": numbers(shares),
            "values": values,
            "image": image,
        }

    def _cell(self, column: int, value: float, every: NDArray[np.floating]) -> dict[str, Any]:
        every = every[~np.isnan(every)]
        is_known = len(every) and not np.isnan(value)
        place = number(np.mean(every < value)) if is_known else None
        return {**self._column(column), "value": number(value), "place": place}

    def _pixels(self, values: NDArray[np.floating]) -> list[int]:
        if self._range is None:
            self._range = _extremes(self.session)
        low, high = self._range
        scale = 255 / (high - low) if high > low else 0.0
        pixels = np.nan_to_num((values - low) * scale)
        return np.clip(np.round(pixels), 0, 255).astype(int).tolist()


def guessed(known: Known, found: Found) -> tuple[Ints, Floats, Floats]:
    """Return the likely class of each drawn row, its share, and those of all present classes.

    The guess may be of labels that had other classes.
    """
    assert found.drawn is not None
    n_rows, guess = len(found.drawn.rows), found.guess
    shares = np.zeros((n_rows, len(known.classes)))
    if guess is None:
        return np.full(n_rows, -1), np.zeros(n_rows), shares
    place = {name: number for number, name in enumerate(known.classes)}
    places = np.array([*(place.get(name, -1) for name in guess.classes), -1])
    still = places[:-1] >= 0
    shares[:, places[:-1][still]] = guess.shares[:, still]
    return places[guess.codes], guess.sure, shares


def number(value: Any) -> float | None:
    """Return a number with four significant digits, or None where JSON has none for it.

    Examples
    --------
    >>> number(0.123456), number(123456.0), number(float("nan"))
    (0.1235, 123500.0, None)
    """
    value = float(value)
    return float(f"{value:.4g}") if math.isfinite(value) else None


def numbers(values: NDArray[np.floating]) -> list[float | None]:
    """Return several of them."""
    return [number(value) for value in values.tolist()]


def _group(code: int, values: NDArray[np.floating]) -> dict[str, Any]:
    values = some = values[np.isfinite(values)]
    if len(values) > MAX_VALUES:
        some = np.random.default_rng(DRAWS).choice(values, MAX_VALUES, replace=False)
    quartiles = numbers(np.quantile(values, [0, 0.25, 0.5, 0.75, 1])) if len(values) else []
    return {"class": code, "n": len(values), "values": numbers(some), "quartiles": quartiles}


def _extremes(session: Session) -> tuple[float, float]:
    """Return the smallest and the largest value of the table; of a stored one, of drawn rows."""
    X = session.dataset.X
    if isinstance(X, OutOfCoreMatrix):
        assert session.found.drawn is not None
        X = session.found.drawn.values
    is_sparse = hasattr(X, "indptr")
    values = X.data if is_sparse else np.asarray(X)
    # zeros that are not stored
    initial: dict[str, Any] = {"initial": 0.0} if is_sparse or not X.size else {}
    return float(np.nanmin(values, **initial)), float(np.nanmax(values, **initial))
