"""What is kept in an AnnData: results by gene, by cell, and by class in the form of scanpy."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift.registry import METHODS
from semisift.tl._read import Fitted, Given, check_adata, empty_cells
from semisift.transduction._positive_unlabelled import CAUTION
from semisift.transduction._soft_labels import doubt_of, doubtful
from semisift.utils._metadata import PACKAGES, versions
from semisift.utils._text import is_writable, plural, quote
from semisift.utils._validation import check_flag
from semisift.utils._warnings import warn

if TYPE_CHECKING:
    from semisift.selection._markers import Markers

# What results are called, unless the user says otherwise.
KEY = "semisift"
KEY_OF_MARKERS = "semisift_markers"
KEY_OF_LABELS = "semisift_cells"

# What is written, under names that begin with the key.
OF_GENES = ("rank", "score", "selected", "family", "decision", "rank_low", "rank_high")
OF_CELLS = ("label", "confidence", "uncertain", "fits_none", "given")
PROBABILITIES = "probabilities"

DECISIONS = ("significant", "suggestive", "not significant")

# What the groups of h5ad and zarr take for something else, and the longest name that zarr takes.
NO_NAMES = ("", ".", "..", "_index", "zarr.json")
MAX_NAME = 200


def check_key(key: str, labels_key: str) -> None:
    """Refuse a key under which results cannot be written."""
    if not can_be_named(key):
        rule = f"a name that files take, without '/' and of at most {MAX_NAME} letters"
        raise ValueError(f"key_added must be {rule}: got {quote(key)}.")
    if isinstance(labels_key, str) and labels_key in [f"{key}_{name}" for name in OF_CELLS]:
        cure = "Name the column of the given labels, or another key_added"
        raise ValueError(f"labels_key={quote(labels_key)} is written by this key itself. {cure}.")


def check_target(adata: Any, copy: bool) -> None:
    """Refuse what is no AnnData, or cannot be copied."""
    check_adata(adata)
    check_flag(copy, "copy")
    if adata.isbacked and (copy or adata.is_view):
        what = "copy=True" if copy else "a view"
        rule = "of an AnnData that is backed by a file needs the rows in memory"
        raise ValueError(f"{what} {rule}: call adata.to_memory() first.")


def open_for_writing(adata: Any, copy: bool) -> Any:
    """Return the AnnData to write to: a copy, or itself, which is a view no longer."""
    if copy:
        return adata.copy()
    if adata.is_view:
        warn("adata is a view of another AnnData: it becomes a copy of its own.", UserWarning)
        adata._init_as_actual(adata.copy())
    return adata


def keep(
    adata: Any,
    key: str,
    fitted: Fitted,
    *,
    copy: bool,
    ranks: bool = False,
    probabilities: bool = False,
    **records: Any,
) -> Any:
    """Write results in place of all that stands under the same key.

    Parameters
    ----------
    adata : AnnData
    key : str
    fitted : Fitted
    copy : bool
        Write to a copy.
    ranks, probabilities : bool
        Whether to write the ranks of genes, and how likely each class is for each cell.
    **records
        Markers by class, for ``.uns``.

    Returns
    -------
    None, or AnnData where `copy` is true
    """
    given, ranker = fitted.given, fitted.ranker
    is_empty = _find_empty(given)
    adata = open_for_writing(adata, copy)
    _forget(adata, key)
    if ranks:
        family = getattr(ranker, "representative_", None)
        write_genes(
            adata,
            key,
            given,
            rank=ranker.ranking_.astype(np.float64),
            score=ranker.scores_,
            selected=ranker.get_support(),
            family=None if family is None else given.names[family],
            decision=getattr(ranker, "decisions_", None),
        )
    if hasattr(ranker, "transduction_"):
        _write_labels(adata, key, given, ranker, is_empty)
    else:
        classes, y = getattr(ranker, "classes_", given.labels.classes), given.y
        known = given.labels.classes.tolist()
        if beyond := [name for name in classes.tolist() if name not in known]:
            y = np.where(y == None, beyond[0], y)  # noqa: E711  (those not of the one class)
        adata.obs[f"{key}_given"] = _as_categories(given, classes, y)
    if probabilities:
        shares = ranker.label_distributions_[:, given.in_order(ranker.classes_)]
        names = names_of_classes(given, ranker.classes_)
        if can_be_columns(names):
            shares = _frame(shares, adata.obs_names, names)
        adata.obsm[f"{key}_{PROBABILITIES}"] = shares
    if doubt := doubt_of(ranker):
        warn(doubt, UserWarning)
    if hasattr(ranker, "positive_share_"):
        warn(f"One class is labelled. {CAUTION}", UserWarning)
    adata.uns[key] = _facts_of(adata, key, fitted) | records
    return adata if copy else None


def _frame(values: Any, index: Any, columns: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(values, index=index, columns=columns)


# --- genes ----------------------------------------------------------------------------------------


def write_genes(adata: Any, key: str, given: Given, **columns: NDArray[Any] | None) -> None:
    """Write columns of ``.var`` that there are; genes without a rank have no value, or False."""
    import pandas as pd

    there = given.places >= 0
    for name, values in columns.items():
        if values is None:
            continue
        missing: Any = {"b": False, "f": np.nan}.get(values.dtype.kind)
        own = np.full(adata.n_vars, missing, dtype=object if missing is None else values.dtype)
        own[given.places[there]] = values[there]
        categories = DECISIONS if name == "decision" else None
        column = pd.Categorical(own, categories) if missing is None else own
        adata.var[f"{key}_{name}"] = column


# --- cells ----------------------------------------------------------------------------------------


def _find_empty(given: Given) -> NDArray[np.bool_]:
    """Return the cells that have no value but 0, and warn of them."""
    is_empty = empty_cells(given.X)
    n_empty, n_labelled = int(is_empty.sum()), int(is_empty[given.labels.labelled].sum())
    if n_empty:
        named = f", {n_labelled:,} of them labelled" if n_labelled else ""
        warn(
            f"{plural(n_empty, 'cell')} of {len(is_empty):,} without any value but 0 in the genes "
            f"that are ranked{named}: nothing tells what they are, and labels that are found for "
            "them are marked as uncertain. Leave them out, as sc.pp.filter_cells does.",
            UserWarning,
        )
    return is_empty


def _write_labels(
    adata: Any, key: str, given: Given, ranker: Any, is_empty: NDArray[np.bool_]
) -> None:
    """Write the labels that were found for all cells to ``.obs``."""
    confidence = np.asarray(ranker.confidence_, dtype=np.float64)
    shares = getattr(ranker, "label_distributions_", None)
    if shares is None:  # another class has at most what is left
        shares = np.column_stack([confidence, np.minimum(confidence, 1 - confidence)])
    adata.obs[f"{key}_label"] = _as_categories(given, ranker.classes_, ranker.transduction_)
    adata.obs[f"{key}_confidence"] = confidence
    adata.obs[f"{key}_uncertain"] = doubtful(shares) | (is_empty & (given.labels.codes < 0))
    if len(novel := getattr(ranker, "novel_rows_", ())):
        adata.obs[f"{key}_fits_none"] = np.isin(np.arange(adata.n_obs), novel)


def _as_categories(given: Given, classes: NDArray[Any], labels: NDArray[Any]) -> Any:
    import pandas as pd

    shown = pd.Index(classes.astype(object)[given.in_order(classes)])
    codes = shown.get_indexer(labels.astype(object))  # -1 for cells without a label
    return pd.Categorical.from_codes(codes, categories=names_of_classes(given, classes))


def names_of_classes(given: Given, classes: NDArray[Any]) -> list[str]:
    """Return the names of classes in the order in which they are shown."""
    found = classes.tolist()
    return [str(found[number]) for number in given.in_order(classes)]


def can_be_columns(names: list[str]) -> bool:
    """Return whether h5ad and zarr can hold a table with these columns."""
    return all(map(can_be_named, names))


def can_be_named(name: Any) -> bool:
    """Return whether a group of h5ad and zarr can hold something of this name.

    Examples
    --------
    >>> can_be_named("T cell"), can_be_named("NK/ILC"), can_be_named("_index")
    (True, False, False)
    """
    is_name = is_writable(name) and "/" not in name and name not in NO_NAMES
    return is_name and len(name.encode()) <= MAX_NAME


# --- what was done, and markers -------------------------------------------------------------------


def _facts_of(adata: Any, key: str, fitted: Fitted) -> dict[str, Any]:
    """Return what ``.uns`` holds of how results were made."""
    parameters, given, ranker = fitted.parameters, fitted.given, fitted.ranker
    classes = given.labels.classes
    counts = given.labels.counts[given.in_order(classes)]
    facts: dict[str, Any] = {
        "params": {
            "groupby": f"{key}_label" if hasattr(ranker, "transduction_") else f"{key}_given",
            "reference": "rest",
            "corr_method": "max-T",
            **parameters.kept(),
        },
        "shape": np.array(adata.shape),
        "values": given.values,
        "labelled": _frame({"cells": counts}, names_of_classes(given, classes), ["cells"]),
        "versions": versions((*PACKAGES, "anndata")),
        "citation": METHODS[parameters.method].citation,
    }
    parts = [ranker, *(part for _, part in getattr(ranker, "rankers_", ()))]
    labeller: Any = next((part for part in parts if hasattr(part, "stability_")), None)
    if labeller is not None:
        facts["stability"] = float(labeller.stability_)
        facts["recovered"] = np.array(labeller.recovered_)
        facts["label_trust"] = float(labeller.label_trust_)
    if hasattr(ranker, "positive_share_"):
        facts["positive_share"] = float(ranker.positive_share_)
    if hasattr(ranker, "weights_"):
        names = [name for name, _ in ranker.rankers_]
        facts["weights"] = dict(zip(names, ranker.weights_.tolist(), strict=True))
    return facts


def records_of(
    given: Given, markers: "Markers | None", n_genes: int | None = None
) -> dict[str, Any]:
    """Return markers by class in the form of scanpy's `rank_genes_groups`; nothing without any.

    Parameters
    ----------
    given : Given
    markers : Markers or None
    n_genes : int, optional
        Genes of each class; all where it is not given.

    Returns
    -------
    dict
        Record arrays with a field for each class, best gene first, and tables of all genes. What is
        not known (p-values without an assessment, fold changes of values that are neither counts
        nor logarithms) is NaN: scanpy looks for it.
    """
    import pandas as pd

    if markers is None:
        return {}
    numbers = given.in_order(markers.classes)
    names = names_of_classes(given, markers.classes)
    best = {number: markers.order(number)[:n_genes] for number in numbers}

    def records(values: Any, dtype: str) -> Any:
        pairs = zip(names, numbers, strict=True)
        columns = {name: values[number][best[number]] for name, number in pairs}
        return pd.DataFrame(columns).to_records(index=False, column_dtypes=dtype)

    unknown = np.full(markers.scores.shape, np.nan)
    folds = unknown if markers.fold_changes is None else markers.fold_changes
    p_values = unknown if markers.p_values is None else markers.p_values
    found = {
        "names": records([given.names] * len(names), "O"),
        "scores": records(markers.scores, "float32"),
        "logfoldchanges": records(folds, "float32"),
        "pvals": records(p_values, "float64"),
        "pvals_adj": records(p_values, "float64"),
    }
    if can_be_columns(names):
        for name, shares in (("pts", markers.shares), ("pts_rest", markers.rest_shares)):
            found[name] = _frame(shares[numbers].T, given.names, names)
    return found


def _forget(adata: Any, key: str) -> None:
    """Remove what an earlier call wrote under the same key."""
    for part, names in (("var", OF_GENES), ("obs", OF_CELLS)):
        frame, old = getattr(adata, part), [f"{key}_{name}" for name in names]
        kept = [name for name in frame.columns if name not in old]
        if len(kept) < len(frame.columns):
            with warnings.catch_warnings():  # of lazy tables, whose columns have no order
                warnings.filterwarnings("ignore", "Renaming or reordering columns on `Dataset2D`")
                setattr(adata, part, frame[kept])
    adata.obsm.pop(f"{key}_{PROBABILITIES}", None)
