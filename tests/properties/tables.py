"""Tables and labels that are made of a few numbers, so that a failure shrinks to a short recipe."""

import zlib
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

MAX = float(np.finfo(np.float64).max)
MIN = 5e-324
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 1 + 2**-52, 3.0, -7.0, MIN, -MIN, 2.3e-308, 1e-154, 1e154]
SPECIAL += [MAX, -MAX, MAX / 2, 1e40]

# Values whose sums, distances and ranks are all different, whatever the order.
GENERAL = ("normal", "uniform")
TIED = ("counts", "whole", "bits", "copies", "constant", "rare")
EXTREME = ("huge", "tiny", "denormal", "mixed", "outlier", "special")
VALUES = (*GENERAL, *TIED, *EXTREME)


@dataclass(frozen=True)
class Recipe:
    """What a table and its labels are made of.

    Attributes
    ----------
    values : str
        One of `VALUES`.
    n_rows, n_columns, n_classes : int
    per_class : int
        Labelled rows of each class, as far as there are rows.
    seed : int
    """

    values: str = "normal"
    n_rows: int = 20
    n_columns: int = 5
    n_classes: int = 2
    per_class: int = 4
    seed: int = 0

    def make(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the table and the codes of its labels, -1 where there is none."""
        rng = np.random.default_rng(self.seed)
        shape = (self.n_rows, self.n_columns)
        classes = np.arange(self.n_rows) % self.n_classes
        X = _values(self.values, rng, shape, classes)
        y = np.full(self.n_rows, -1)
        n_labelled = min(self.n_rows, self.per_class * self.n_classes)
        y[:n_labelled] = classes[:n_labelled]
        order = rng.permutation(self.n_rows)
        return X[order], y[order]


def _values(kind, rng, shape, classes):
    normal = rng.normal(size=shape) + classes[:, None] * (np.arange(shape[1]) < 2)
    normal = normal.astype(np.float32).astype(np.float64)  # exact in both precisions
    counts = rng.poisson(0.7, shape).astype(float)
    column = np.arange(shape[1])
    if kind == "normal":
        return normal
    if kind == "uniform":
        return rng.random(shape, dtype=np.float32).astype(np.float64) * [-1, 1, 4, 64][shape[1] % 4]
    if kind == "counts":
        return counts
    if kind == "whole":
        return rng.integers(-1, 3, shape).astype(float)
    if kind == "bits":
        return rng.integers(0, 2, shape).astype(float)
    if kind == "copies":  # of rows and of columns
        few = normal[: max(1, shape[0] // 3), : max(1, shape[1] // 2)]
        return few[np.arange(shape[0]) % len(few)][:, column % few.shape[1]]
    if kind == "constant":
        return np.where(column % 2, normal, [0.0, 2.5, MAX][shape[0] % 3])
    if kind == "rare":  # one value or two that are not 0
        return np.where(rng.random(shape) < 0.06, normal, 0.0)
    if kind == "huge":
        return np.clip(normal, -8, 8) * 1e307
    if kind == "tiny":
        return normal * 1e-300
    if kind == "denormal":
        return np.round(normal * 3) * MIN
    if kind == "mixed":
        return np.clip(normal, -8, 8) * np.array([1.0, 1e307, 1e-300, 1e20, 1e-320])[column % 5]
    if kind == "outlier":
        return np.where(rng.random(shape) < 0.05, 1e40, normal)
    return rng.choice(SPECIAL, shape)


def recipes():
    """Return a strategy for recipes."""
    return st.builds(
        Recipe,
        values=st.sampled_from(VALUES),
        # the first of each is what a failure shrinks to, and what a short run begins with
        n_rows=st.sampled_from([20, 32, 13, 8, 5, 3, 2, 1]),
        n_columns=st.sampled_from([5, 7, 3, 2, 1]),
        n_classes=st.sampled_from([2, 3, 5, 1]),
        per_class=st.sampled_from([4, 2, 6, 1]),
        seed=st.integers(0, 999),
    )


def turned(recipe: Recipe, by: str) -> Recipe:
    """Return another recipe of the same sizes, so that not all tests see the same tables."""
    shift = zlib.crc32(by.encode())
    values = VALUES[(VALUES.index(recipe.values) + shift) % len(VALUES)]
    return replace(recipe, values=values, seed=recipe.seed + shift % 9973)


# --- the same table in other forms ----------------------------------------------------------------


def dense_forms(X, folder):
    """Return forms of a table that hold the same numbers, by their names."""
    double = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    double[::2, 1::3] = X
    fixed = X.copy()
    fixed.flags.writeable = False
    np.save(folder / "C.npy", X)
    np.save(folder / "F.npy", np.asfortranarray(X))
    forms = {
        "Fortran order": np.asfortranarray(X),
        "strides": double[::2, 1::3],
        "backwards": X[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": fixed,
        "memory map": np.load(folder / "C.npy", mmap_mode="r"),
        "memory map by columns": np.load(folder / "F.npy", mmap_mode="r"),
        "other byte order": X.astype(">f8"),
        "objects": X.astype(object),
        "lists": X.tolist(),
        "nothing masked": np.ma.masked_array(X, mask=False),
        "pandas": pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
        "polars": pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])]),
    }
    with np.errstate(over="ignore", invalid="ignore"):
        for kind in ("f4", "f2", "i8", "i2", "u1", "?"):
            if np.array_equal(X.astype(kind).astype(float), X):
                forms[f"numbers of type {kind}"] = X.astype(kind)
    return forms


def sparse_forms(X):
    """Return sparse forms of a table that hold the same numbers, by their names."""
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    order = np.lexsort((rows, -columns))
    zero = np.zeros(len(rows))
    twice = [np.r_[each, each] for each in (rows, columns)]
    csr, csc = sparse.csr_array(X), sparse.csc_array(X)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    unsorted = csr.copy()
    for i in range(len(X)):
        part = slice(*unsorted.indptr[i : i + 2])
        unsorted.indices[part] = unsorted.indices[part][::-1].copy()
        unsorted.data[part] = unsorted.data[part][::-1].copy()
    unsorted.has_sorted_indices = False
    full = sparse.csr_array(np.ones(X.shape))
    full.data[:] = X.ravel()  # the zeros, too
    fixed = csr.copy()
    for part in (fixed.data, fixed.indices, fixed.indptr):
        part.flags.writeable = False
    forms = {
        "csr": csr,
        "csc": csc,
        "csr_matrix": sparse.csr_matrix(X),
        "csc_matrix": sparse.csc_matrix(X),
        "coo": sparse.coo_array((values[order], (rows[order], columns[order])), X.shape),
        "coo with duplicates": sparse.coo_array((np.r_[values, zero], tuple(twice)), X.shape),
        "csr with duplicates": _doubled(csr),
        "64-bit indices": wide,
        "unsorted": unsorted,
        "explicit zeros": full,
        "read-only": fixed,
        "lil": sparse.lil_array(X),
        "dok": sparse.dok_array(X),
        "bsr": sparse.bsr_array(X),
        "dia": sparse.dia_array(X),
    }
    with np.errstate(over="ignore"):
        if np.array_equal(X.astype("f4").astype(float), X):
            forms["csr of float32"] = csr.astype(np.float32)
    return forms


def _doubled(csr):
    """Return a matrix in which each value stands beside a 0 at the same place."""
    data = np.column_stack([csr.data, np.zeros(csr.nnz)]).ravel()
    return sparse.csr_array((data, np.repeat(csr.indices, 2), csr.indptr * 2), csr.shape)


def label_forms(codes):
    """Return forms of labels that mean the same, by their names; classes keep their order."""
    words = [None if code < 0 else f"class {code:04d}" for code in codes]
    known = [None if code < 0 else int(code) for code in codes]
    categories = [f"class {code:04d}" for code in range(max(codes) + 3)]
    hidden = np.ma.masked_array(np.where(codes < 0, 9999, codes), mask=codes < 0)
    return {
        "list": codes.tolist(),
        "int8 or int16": codes.astype(np.int8 if codes.max() < 127 else np.int16),
        "float32": codes.astype(np.float32),
        "NaN": np.where(codes < 0, np.nan, codes),
        "None": np.array(known, dtype=object),
        "words": np.array(words, dtype=object),
        "words beside -1": [-1 if word is None else word for word in words],
        "masked": hidden,
        "Int64": pd.array(known, dtype="Int64"),
        "nullable string": pd.Series(words, dtype="string"),
        "categories that are not all there": pd.Categorical(words, categories=categories),
        "categories of numbers": pd.Series(known, dtype="category"),
        "polars": pl.Series(known, dtype=pl.Int64),
        "polars words": pl.Series(words, dtype=pl.String),
        "polars categories": pl.Series(words, dtype=pl.String).cast(pl.Categorical),
        "strings of numpy": np.array(words, dtype=np.dtypes.StringDType(na_object=None)),
        "backwards": codes[::-1].copy()[::-1],
    }
