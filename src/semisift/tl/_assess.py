"""assess: how sure a ranking of genes is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from semisift.selection import outcome_of
from semisift.tl._parameters import Asked
from semisift.tl._read import Fitted, fit
from semisift.tl._write import KEY, check_target, open_for_writing, records_of, write_genes
from semisift.utils._text import examples, quote
from semisift.utils._validation import check_flag, check_integer
from semisift.utils._warnings import quiet

if TYPE_CHECKING:
    from anndata import AnnData

    from semisift.selection import Outcome


def assess(
    adata: "AnnData",
    key: str = KEY,
    *,
    n_resamples: int = 20,
    n_permutations: int = 39,
    light: bool = True,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    copy: bool = False,
) -> "AnnData | None":
    """Tell how sure a ranking of `semisift.tl.rank_markers` is.

    The ranking is made again, on halves of the cells and with labels that tell nothing; how, stands
    in ``FeatureRanker.assess`` and docs/cutoffs.md.

    ==================================== ===========================================================
    where                                what
    ==================================== ===========================================================
    ``.var["semisift_decision"]``        "confirmed", "tentative" or "unconfirmed" (not told from
                                         chance, which does not show that the gene is useless)
    ``.var["semisift_rank_low"]``        the lowest and the highest rank on halves of the cells,
    ``.var["semisift_rank_high"]``       without 5 % at either end
    ``.uns["semisift"]["assessment"]``   p-value of the ranking, stability of the best genes, how
                                         many are confirmed, and "sentences" that say so
    ``.uns["semisift"]["pvals"]``        the chance that any gene tells the class from the rest so
                                         well, being higher or lower, if the labels tell nothing;
                                         where the method is tested with twins of the genes, as
                                         "consensus" and "transductive" are. As this accounts for
                                         all genes, "pvals_adj" is the same
    ==================================== ===========================================================

    Parameters
    ----------
    adata : AnnData
        With the cells, genes, values and labels that were ranked.
    key : str, default="semisift"
        Name of the results.
    n_resamples : int, default=20
        Rankings of half of the cells; 0 leaves them out.
    n_permutations : int, default=39
        Rankings from labels that tell nothing; 0 leaves them out. At least 39 are needed to confirm
        a gene.
    light : bool, default=True
        Repeat the ranking with smaller committees.
    n_jobs : int, default=None
        Threads; the result does not depend on it.
    max_memory : int or str, default=None
        As of `semisift.tl.rank_markers`.
    copy : bool, default=False
        Return a changed copy instead of changing `adata`.

    Returns
    -------
    None, or AnnData where `copy` is true

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import semisift
    >>> rng = np.random.default_rng(1)
    >>> kind = rng.integers(0, 2, 300)
    >>> means = np.full((300, 50), 0.3)
    >>> means[:, :3] += 3.0 * kind[:, None]
    >>> adata = anndata.AnnData(rng.poisson(means).astype(np.float32))
    >>> adata.var_names = [f"gene{j}" for j in range(50)]
    >>> adata.obs["cell_type"] = np.array(["T", "B"])[kind]
    >>> adata.obs.loc[adata.obs_names[20:], "cell_type"] = None
    >>> semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    >>> semisift.tl.assess(adata)
    >>> adata.var_names[adata.var["semisift_decision"] == "confirmed"].tolist()
    ['gene0', 'gene1', 'gene2']
    """
    check_target(adata, copy)
    check_flag(light, "light")
    check_integer(n_resamples, "n_resamples", 0)
    check_integer(n_permutations, "n_permutations", 0)
    kept = _results(adata, key)
    asked = Asked.again(kept["params"], n_jobs=n_jobs, max_memory=max_memory)
    with quiet():  # it was said when the ranking was made
        fitted = fit(adata, asked)
    _check_same(adata, key, fitted)
    given, ranker = fitted.given, fitted.ranker
    ranker.assess(
        given.X,
        given.y,
        n_resamples=n_resamples,
        n_permutations=n_permutations,
        light=light,
        **given.of_rows,
    )
    found = fitted.markers()
    adata = open_for_writing(adata, copy)
    _write(adata, key, fitted)
    changed = {"assessment": _said(outcome_of(ranker, given.names.tolist()))}
    if found is not None and found.p_values is not None:
        records = records_of(given, found)
        changed |= {name: records[name] for name in ("pvals", "pvals_adj")}
    adata.uns[key] = {**adata.uns[key], **changed}
    return adata if copy else None


def _results(adata: Any, key: str) -> Any:
    """Return what was kept of a ranking, or say what is missing or has changed."""
    ranked = [
        name
        for name, value in adata.uns.items()
        if isinstance(value, Mapping)
        and "settings" in value.get("params", {})
        and f"{name}_rank" in adata.var.columns
    ]
    if not isinstance(key, str) or key not in ranked:
        there = f"Those that are there: {examples(ranked)}." if ranked else "There is none."
        raise ValueError(
            f"key={quote(key)} names no ranking of semisift.tl.rank_markers in adata. {there}"
        )
    shape = tuple(np.asarray(adata.uns[key]["shape"]).tolist())
    if shape != adata.shape:
        raise ValueError(
            f"key={quote(key)}: {shape[0]:,} cells and {shape[1]:,} genes were ranked, and adata "
            f"has {adata.n_obs:,} and {adata.n_vars:,}. Rank these first."
        )
    return adata.uns[key]


def _check_same(adata: Any, key: str, fitted: Fitted) -> None:
    """Refuse values or labels that are not those of the ranking."""
    places = fitted.given.places
    there = places >= 0
    kept = np.asarray(adata.var[f"{key}_rank"], dtype=np.float64)[places[there]]
    if not np.array_equal(kept, fitted.ranker.ranking_[there]):
        raise ValueError(
            f"key={quote(key)}: the values or labels are no longer those that were ranked, as the "
            "same ranking comes out otherwise. Rank them again."
        )


def _write(adata: Any, key: str, fitted: Fitted) -> None:
    assessed = fitted.ranker.assessment_
    decisions = getattr(fitted.ranker, "decisions_", assessed.decisions)
    columns = {}
    if decisions is not None:
        columns["decision"] = decisions
    if assessed.rank_interval is not None:
        low, high = assessed.rank_interval.T.astype(np.float64)
        columns |= {"rank_low": low, "rank_high": high}
    write_genes(adata, key, fitted.given, **columns)


def _said(outcome: "Outcome") -> dict[str, Any]:
    """Return how sure the ranking is, in plain values and in the sentences of the report."""
    facts = outcome.facts["assessment"]
    if outcome.counts:
        facts["decisions"] = outcome.counts
    trust, said = outcome.trust, []
    if trust is not None:
        said = [trust.summary, trust.test, trust.error, trust.stability, *trust.notes]
    known = {name: value for name, value in facts.items() if value is not None}
    return {**known, "sentences": np.array([each for each in said if each], dtype=object)}
