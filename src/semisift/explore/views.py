"""What the page is told, as plain values for JSON."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.explore.rankings import MOST_MEMBERS, Ranking
from semisift.explore.session import Session
from semisift.stored.rows import StoredRows

MOST_ON_MAP = 5000
MOST_VALUES = 300
MOST_CELLS = 10

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
        version, known, found = session.version, session.known, session.found
        what, share = session.progress
        guess = found.guess
        fits = guess is not None and found.guess_version == known.version
        return {
            "version": version,
            "labels_version": known.version,
            "table": self._about,
            "classes": self._classes(),
            "progress": {"what": what, "share": share},
            "ranking": self._ranking(found.ranking, found.before),
            "queue": self._queue(),
            "stability": number(guess.stability) if guess is not None and fits else None,
            "can_undo": session.can_undo,
            "can_finish": session.can_write,
            "finished": session.finished,
            "notes": session.notes,
        }

    def _classes(self) -> list[dict[str, Any]]:
        known, found, drawn = self.session.known, self.session.found, self.session.drawn
        n_classes = len(known.classes)
        here = np.zeros(len(known.codes), dtype=bool)
        here[[*known.given]] = True
        labelled = known.codes >= 0
        given = np.bincount(known.codes[labelled & here], minlength=n_classes)
        in_table = np.bincount(known.codes[labelled & ~here], minlength=n_classes)
        guessed = np.zeros(n_classes, dtype=int)
        if (
            found.guess is not None
            and drawn is not None
            and len(found.guess.codes) == len(drawn.rows)
        ):
            codes = found.guess.codes[known.codes[drawn.rows] < 0]
            guessed = np.bincount(codes[(codes >= 0) & (codes < n_classes)], minlength=n_classes)
        return [
            {"name": name, "given": int(a), "in_table": int(b), "guessed": int(c)}
            for name, a, b, c in zip(known.classes, given, in_table, guessed, strict=True)
        ]

    def _ranking(self, ranking: Ranking | None, before: Ranking | None) -> dict[str, Any] | None:
        if ranking is None:
            return None
        return {
            "by": ranking.by,
            "labels_version": ranking.version,
            "features": [
                {
                    "column": column,
                    "name": self._names[column],
                    "rank": int(ranking.ranks[column]),
                    "score": number(ranking.scores[column]),
                    "was": None if before is None else int(before.ranks[column]),
                    "decision": None,
                    "family": self._family(ranking, column),
                }
                for column in ranking.best.tolist()
            ],
        }

    def _family(self, ranking: Ranking, column: int) -> list[dict[str, Any]]:
        if ranking.correlation is None:
            return []
        members = ranking.family(column)[:MOST_MEMBERS].tolist()
        return [
            {
                "column": each,
                "name": self._names[each],
                "correlation": number(ranking.correlation[each]),
            }
            for each in members
        ]

    def _queue(self) -> dict[str, Any]:
        session = self.session
        found, drawn = session.found, session.drawn
        rows = []
        for asked in found.queue:
            assert drawn is not None
            row = int(drawn.rows[asked.place])
            code, sure, _ = self._guess(row)
            rows.append(
                {
                    "row": row,
                    "name": self.name(row),
                    "reason": asked.reason,
                    "guess": code,
                    "sure": sure,
                }
            )
        return {"labels_version": found.queue_version, "rows": rows}

    def _guess(self, row: int) -> tuple[int, float | None, list[float | None]]:
        """Return the most likely class of a row, its share and those of all classes."""
        guess, drawn = self.session.found.guess, self.session.drawn
        place = None if drawn is None else drawn.place_of.get(row)
        if guess is None or place is None or place >= len(guess.codes):
            return -1, None, []
        shares = [number(share) for share in guess.shares[place]]
        return int(guess.codes[place]), number(guess.sure[place]), shares

    def name(self, row: int) -> str:
        """Return the name of a row, or else its number in the table, from 1."""
        names, rows = self.session.dataset.row_names, self.session.dataset.rows
        return names[row] if names is not None else str(int(rows[row]) + 1)

    def map(self) -> dict[str, Any]:
        """Return where the rows lie."""
        session = self.session
        version, known, drawn, guess = (
            session.version,
            session.known,
            session.drawn,
            session.found.guess,
        )
        if drawn is None:
            return {"version": version} | {
                name: [] for name in ("rows", "x", "y", "label", "guess", "sure")
            }
        labels = known.codes[drawn.rows]
        order = np.argsort(labels < 0, kind="stable")  # labelled rows first
        here = np.array([row in known.given for row in drawn.rows[order].tolist()], dtype=bool)
        places = np.sort(order[np.argsort(~here, kind="stable")][:MOST_ON_MAP])
        x, y = drawn.positions[places].T
        is_known = guess is not None and len(guess.codes) == len(drawn.rows)
        codes = guess.codes[places] if guess is not None and is_known else np.full(len(places), -1)
        sure = guess.sure[places] if guess is not None and is_known else np.zeros(len(places))
        return {
            "version": version,
            "rows": drawn.rows[places].tolist(),
            "x": numbers(x),
            "y": numbers(y),
            "label": labels[places].tolist(),
            "guess": codes.tolist(),
            "sure": numbers(sure),
        }

    def feature(self, column: int) -> dict[str, Any]:
        """Return the values of a column by class."""
        session = self.session
        drawn, known, guess = session.drawn, session.known, session.found.guess
        about: dict[str, Any] = {"column": column, "name": self._names[column]}
        if drawn is None:
            return about | {"groups": [], "by_guess": []}
        values, codes = drawn.column(column), known.codes[drawn.rows]
        every = range(-1, len(known.classes))
        is_known = guess is not None and len(guess.codes) == len(drawn.rows)
        likely = guess.codes if guess is not None and is_known else np.full(len(codes), -1)
        likely = np.where(codes < 0, likely, -2)
        return about | {
            "groups": [_group(code, values[codes == code]) for code in every],
            "by_guess": [_group(code, values[likely == code]) for code in every if is_known],
        }

    def row(self, row: int) -> dict[str, Any]:
        """Return what is known of a row."""
        session = self.session
        drawn, known, found = session.drawn, session.known, session.found
        code, _, shares = self._guess(row)
        values: list[dict[str, Any]] = []
        own = None
        if drawn is not None:
            own = drawn.row(row, session.dataset)
            best = found.ranking.best[:MOST_CELLS].tolist() if found.ranking is not None else []
            for column in best:
                every = drawn.column(column)
                every = every[~np.isnan(every)]
                values.append(
                    {
                        "column": column,
                        "name": self._names[column],
                        "value": number(own[column]),
                        "place": number(np.mean(every < own[column])) if len(every) else None,
                    }
                )
        return {
            "row": row,
            "name": self.name(row),
            "label": int(known.codes[row]),
            "given_here": row in known.given,
            "guess": code,
            "shares": shares,
            "values": values,
            "image": None if self._image is None or own is None else self._pixels(own),
        }

    def _pixels(self, values: NDArray[np.floating]) -> list[int]:
        if self._range is None:
            self._range = _extremes(self.session)
        low, high = self._range
        scale = 255 / (high - low) if high > low else 0.0
        pixels = np.nan_to_num((values - low) * scale)
        return np.clip(np.round(pixels), 0, 255).astype(int).tolist()


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
    values = values[np.isfinite(values)]
    some = values
    if len(values) > MOST_VALUES:
        some = np.random.default_rng(DRAWS).choice(values, MOST_VALUES, replace=False)
    quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]) if len(values) else np.empty(0)
    return {
        "class": code,
        "n": len(values),
        "values": numbers(some),
        "quartiles": numbers(quartiles),
    }


def _extremes(session: Session) -> tuple[float, float]:
    """Return the smallest and the largest value of the table; of a stored one, of drawn rows."""
    X = session.dataset.X
    if isinstance(X, StoredRows):
        assert session.drawn is not None
        X = session.drawn.values
    values = X.data if hasattr(X, "indptr") else np.asarray(X)
    low, high = float(np.nanmin(values, initial=0.0)), float(np.nanmax(values, initial=0.0))
    if not hasattr(X, "indptr") and X.size:
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return low, high
