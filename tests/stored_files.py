"""Files whose rows may stay there, in small chunks: h5ad, zarr and Parquet with the same cells."""

import shutil
import warnings

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

N_ROWS, N_GENES, N_LABELLED = 600, 30, 40
GENES = [f"g{j}" for j in range(N_GENES)]
CELLS = [f"c{i}" for i in range(N_ROWS)]

FORMS = ("csr.h5ad", "dense.h5ad", "csr.zarr", "dense.zarr", "table.parquet")
IN_CHUNKS = pytest.mark.parametrize("form", FORMS)

# Enough for blocks of 64 rows, and too little for all rows with the copies that a ranking needs.
LITTLE = "150kB"


def make_cells(seed=0):
    """Return counts whose first four columns follow the class, and few labels."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, N_ROWS)
    X = rng.poisson(2.0, size=(N_ROWS, N_GENES)).astype(np.float32)
    X[:, :4] += 3.0 * kind[:, None]
    labels = np.array(["ab"[code] for code in kind], dtype=object)
    labels[N_LABELLED:] = None
    return X, labels


def write(folder, form, X=None, *, height=100, labels=None):
    """Write the cells in a form, in chunks of so many rows; return the path."""
    cells, own = make_cells()
    X = cells if X is None else X
    labels = own if labels is None else labels
    path = folder / form
    if form.endswith(".parquet"):
        frame = pl.DataFrame(X, schema=GENES).with_columns(
            pl.Series("kind", labels.tolist()), pl.Series("cell", CELLS)
        )
        frame.write_parquet(path, row_group_size=height)
        return path
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pd.DataFrame({"kind": pd.Categorical(labels)}, index=CELLS)[: len(X)]
    sparse = form.startswith("csr")
    data = anndata.AnnData(csr_matrix(X) if sparse else X, obs, pd.DataFrame(index=GENES))
    data.layers["twice"] = data.X * 2
    data.obsm["place"], data.varm["weight"] = X[:, :2], X[:N_GENES, :3]
    data.uns["about"] = {"made": 1}
    chunks = (height * N_GENES // 2,) if sparse else (height, N_GENES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on what AnnData plans for zarr
        if form.endswith(".h5ad"):
            data.write_h5ad(path)
            h5py = pytest.importorskip("h5py")
            packing = {"chunks": chunks, "compression": "gzip"}
            with h5py.File(path, "r+") as file:
                anndata.io.write_elem(file, "X", data.X, dataset_kwargs=packing)
        else:
            zarr = pytest.importorskip("zarr")
            data.write_zarr(path)
            root = zarr.open_group(path, mode="r+", use_consolidated=False)
            shutil.rmtree(path / "X")
            anndata.io.write_elem(root, "X", data.X, dataset_kwargs={"chunks": chunks})
            zarr.consolidate_metadata(root.store)
    return path


def reading(form, **options):
    """Return what to say of a table in that form."""
    names = {"label": "kind", "id": "cell"} if form.endswith(".parquet") else {"label": "kind"}
    return {**names, **options}


def flags(form, *more):
    """Return the same for the command line, with little memory."""
    of_form = [f"--{name}={value}" for name, value in reading(form).items()]
    return [*of_form, "--max-memory", LITTLE, *more]
