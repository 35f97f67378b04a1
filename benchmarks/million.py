"""Tables larger than memory: a million cells by twenty thousand genes, on disk, with known markers.

    python benchmarks/million.py make cells.h5ad                       # 1,000,000 x 20,000
    python benchmarks/million.py make cells.zarr --rows 30000 --columns 2000
    python benchmarks/million.py run cells.h5ad                        # a process for each work
    python benchmarks/million.py run cells.h5ad --work ssfi --max-memory 4GB
    python benchmarks/million.py maps folder                           # two files of 1 GB

Counts are negative binomial with dispersion 1 (a zero or 1 + a geometric number), cells fall into
classes of unequal size and differ in depth, and each class has markers of its own, whose mean is
raised. Rows are made and written chunk by chunk, so that any size takes the same memory.

`maps` ranks a dense table from memory maps of its rows (C) and of its columns (F), and prints the
peak of the memory that no file backs, above that of the process before, and a digest of the result.

`run` measures in a process of its own for each kind of work: CPU seconds, the peak of resident
memory, the seconds that it takes to read the chunks once, and how many of the markers are among as
many of the best genes.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

CHUNK_ROWS = 10_000
STORED_CHUNK = 1 << 18  # values in a chunk of the file
DEPTHS = np.array([0.6, 0.85, 1.15, 1.4])
LABELS_PER_CLASS = 20
WORK = ("read", "variance+fisher", "transductive", "ssfi", "consensus")


# --- the table ------------------------------------------------------------------------------------


class Cells:
    """Cells of several classes, made chunk by chunk from a seed."""

    def __init__(self, n_rows, n_columns, density, n_classes, n_markers, fold, seed):
        rng = np.random.default_rng([seed, 0])
        self.shape, self.seed, self.n_classes = (n_rows, n_columns), seed, n_classes
        share = np.exp(rng.normal(0.0, 1.5, n_columns))
        low, high = 1e-6, 1e6  # the mean that gives the density
        for _ in range(60):
            middle = np.sqrt(low * high)
            filled = (middle * share / (1 + middle * share)).mean()
            low, high = (middle, high) if filled < density else (low, middle)
        means = middle * share
        # markers are neither the rarest genes nor the most frequent ones
        usual = np.argsort(means)[int(0.8 * n_columns) : int(0.98 * n_columns)]
        self.markers = rng.permutation(usual)[:n_markers]
        self.means = np.tile(means, (n_classes, 1))
        for number, gene in enumerate(self.markers):
            self.means[number % n_classes, gene] *= fold
        self.classes = np.sort(rng.dirichlet(np.full(n_classes, 5.0)))[::-1]

    def chunk(self, number):
        """Return the rows of a chunk, sparse, and their classes."""
        n_rows, n_columns = self.shape
        height = min(CHUNK_ROWS, n_rows - number * CHUNK_ROWS)
        rng = np.random.default_rng([self.seed, 1, number])
        classes = rng.choice(self.n_classes, height, p=self.classes)
        depth = rng.integers(0, len(DEPTHS), height)
        keys, values = [], []
        for group in range(self.n_classes * len(DEPTHS)):
            own = np.flatnonzero(classes * len(DEPTHS) + depth == group)
            if not len(own):
                continue
            means = self.means[group // len(DEPTHS)] * DEPTHS[group % len(DEPTHS)]
            filled = means / (1 + means)
            times = rng.binomial(len(own), filled)
            genes = np.repeat(np.arange(n_columns), times)
            keys.append(own[rng.integers(0, len(own), len(genes))] * n_columns + genes)
            values.append(rng.geometric(1 / (1 + means)[genes]))
        key, first = np.unique(np.concatenate(keys), return_index=True)
        rows, genes = np.divmod(key, n_columns)
        counts = np.concatenate(values)[first].astype(np.float32)
        indptr = np.searchsorted(rows, np.arange(height + 1))
        return csr_matrix((counts, genes.astype(np.int32), indptr), (height, n_columns)), classes


def make(options):
    """Write the table chunk by chunk, as AnnData would."""
    cells = Cells(
        options.rows,
        options.columns,
        options.density,
        options.classes,
        options.markers,
        options.fold,
        options.seed,
    )
    path, n_rows, n_columns = Path(options.file), options.rows, options.columns
    import anndata
    import pandas as pd

    if path.suffix == ".zarr":
        import zarr

        root = zarr.open_group(path, mode="w", zarr_format=2)
        anndata.settings.zarr_write_format = 2

        def new(group, name, dtype):
            return group.create_array(name, shape=(0,), chunks=(STORED_CHUNK,), dtype=dtype)
    else:
        import h5py

        root = h5py.File(path, "w")

        def new(group, name, dtype):
            options = {"chunks": (STORED_CHUNK,), "compression": "lzf", "maxshape": (None,)}
            return group.create_dataset(name, shape=(0,), dtype=dtype, **options)

    root.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
    X = root.create_group("X")
    X.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
    X.attrs["shape"] = [n_rows, n_columns]
    data, indices = new(X, "data", np.float32), new(X, "indices", np.int32)
    indptr, classes, stored = [np.zeros(1, dtype=np.int64)], [], 0
    n_chunks = -(-n_rows // CHUNK_ROWS)
    for number in range(n_chunks):
        rows, own = cells.chunk(number)
        for array, part in ((data, rows.data), (indices, rows.indices)):
            array.resize((stored + len(part),))
            array[stored : stored + len(part)] = part
        indptr.append(rows.indptr[1:].astype(np.int64) + stored)
        classes.append(own)
        stored += rows.nnz
        print(f"\r{number + 1} of {n_chunks} chunks", end="", file=sys.stderr)
    joined = np.concatenate(indptr)
    if path.suffix == ".zarr":
        X.create_array("indptr", data=joined)
    else:
        X.create_dataset("indptr", data=joined)
    truth = np.concatenate(classes)
    label = np.full(n_rows, "", dtype=object)
    rng = np.random.default_rng([options.seed, 2])
    for code in range(options.classes):
        chosen = rng.permutation(np.flatnonzero(truth == code))[:LABELS_PER_CLASS]
        label[chosen] = f"type {code}"
    obs = pd.DataFrame(
        {"label": pd.Categorical(np.where(label == "", None, label)), "truth": truth},
        index=[f"cell{i}" for i in range(n_rows)],
    )
    var = pd.DataFrame(
        {"marker": np.isin(np.arange(n_columns), cells.markers)},
        index=[f"gene{j}" for j in range(n_columns)],
    )
    for name, frame in (("obs", obs), ("var", var)):
        anndata.io.write_elem(root, name, frame)
    for name in ("layers", "obsm", "varm", "obsp", "varp", "uns"):
        anndata.io.write_elem(root, name, {})
    if path.suffix != ".zarr":
        root.close()
    print(f"\n{path}: {n_rows:,} x {n_columns:,}, {stored:,} values", file=sys.stderr)


# --- the work -------------------------------------------------------------------------------------


def open_table(options):
    """Return the rows, the labels, the true classes and which genes are markers."""
    import anndata

    from semisift import OutOfCoreMatrix
    from semisift.out_of_core._sources import from_group, of_file

    path = Path(options.file)
    if path.suffix == ".zarr":
        import zarr

        root = zarr.open_group(path, mode="r")
    else:
        import h5py

        root = h5py.File(path, "r")
    obs, var = anndata.io.read_elem(root["obs"]), anndata.io.read_elem(root["var"])
    X = root["X"]
    source = from_group(X, X.attrs["shape"], "csr", path.name, of_file(path))
    y = obs["label"].astype(object).where(obs["label"].notna(), None).to_numpy()
    rows = OutOfCoreMatrix(source, max_memory=options.max_memory, cache_dir=options.cache_dir)
    return rows, y, obs["truth"].to_numpy(), var["marker"].to_numpy()


def work(options):
    """Do one kind of work and print what it took."""
    import semisift

    rows, y, truth, marker = open_table(options)
    began, cpu = time.perf_counter(), time.process_time()
    found = {"work": options.work, "shape": rows.shape, "in_memory": bool(rows.fits())}
    sample = {"max_unlabelled": None} if options.all_rows else {}
    rankers = {
        "read": [],
        "variance+fisher": [semisift.VarianceScore(), semisift.FisherScore()],
        "transductive": [semisift.TransductiveScore(**sample)],
        "ssfi": [semisift.SSFI(n_jobs=options.n_jobs, **sample)],
        "consensus": [semisift.Consensus(n_jobs=options.n_jobs)],
    }[options.work]
    if not rankers:
        for start in range(0, len(rows), 1 << 14):  # as they are stored, nothing else
            rows.source.read(start, min(start + (1 << 14), len(rows)))
    for ranker in rankers:
        ranker.fit(rows, y)
    found["cpu_seconds"] = round(time.process_time() - cpu, 1)
    found["seconds"] = round(time.perf_counter() - began, 1)
    found["peak_gb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)
    if rankers:
        n = int(marker.sum())
        found["markers_among_best"] = f"{int(marker[ranker.ranking_ <= n].sum())} of {n}"
    if hasattr(rankers[-1] if rankers else None, "transduction_"):
        code = np.array([int(str(label).split()[1]) for label in ranker.transduction_])
        hidden = np.array([label is None for label in y])
        found["labels_right"] = round(float((code == truth)[hidden].mean()), 4)
    print(json.dumps(found), flush=True)


# --- maps of a dense table ------------------------------------------------------------------------

MAPPED = ("variance", "fisher", "transductive", "load")


def maps(options):
    """Rank a dense table from maps of its rows and of its columns, each in a process of its own."""
    if options.here:
        return rank_map(options)
    folder = Path(options.file)
    folder.mkdir(exist_ok=True)
    shape = options.rows, options.columns
    for order in "CF":
        if (file := folder / f"{order}.npy").exists():
            continue
        X = np.lib.format.open_memmap(file, "w+", np.float64, shape, fortran_order=order == "F")
        for start in range(0, options.rows, CHUNK_ROWS):
            rng = np.random.default_rng([options.seed, start])
            X[start : start + CHUNK_ROWS] = rng.normal(size=X[start : start + CHUNK_ROWS].shape)
    for name in MAPPED if options.work == "all" else [options.work]:
        for order in "CF":
            command = [sys.executable, __file__, "maps", str(folder), "--work", name, "--here"]
            subprocess.run([*command, "--order", order], check=True)


def rank_map(options):
    """Rank a map and print what it took; pages of the file itself are not counted as memory."""
    import hashlib
    import threading

    import semisift

    ranker = {
        "variance": semisift.VarianceScore,
        "fisher": semisift.FisherScore,
        "transductive": semisift.TransductiveScore,
        "load": None,  # what the methods do that need all rows
    }[options.work]
    X = np.load(Path(options.file) / f"{options.order}.npy", mmap_mode="r")
    y = np.where(np.arange(len(X)) < 2 * LABELS_PER_CLASS, np.arange(len(X)) % 2, -1)
    before, done = own_memory(), threading.Event()
    peak = [before]

    def watch():
        while not done.wait(0.005):
            peak[0] = max(peak[0], own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    cpu = time.process_time()
    result = (
        semisift.OutOfCoreMatrix(X).load(keeps_missing=True)
        if ranker is None
        else ranker().fit(X, y).scores_
    )
    cpu = time.process_time() - cpu
    done.set()
    watcher.join()
    found = {"work": options.work, "order": options.order, "file_gb": round(X.nbytes / 1e9, 2)}
    found |= {"peak_gb": round((peak[0] - before) / 1e9, 3), "cpu_seconds": round(cpu, 1)}
    found["result"] = hashlib.sha256(result[:1000].tobytes()).hexdigest()[:12]
    print(json.dumps(found), flush=True)


def own_memory():
    """Return the bytes that this process holds and that no file backs."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


# --- the command line -----------------------------------------------------------------------------


def run(options):
    """Do each kind of work in a process of its own."""
    if options.here:
        return work(options)
    for name in WORK if options.work == "all" else [options.work]:
        command = [sys.executable, __file__, "run", options.file, "--work", name, "--here"]
        command += ["--n-jobs", str(options.n_jobs)]
        command += ["--all-rows"] if options.all_rows else []
        for flag in ("max_memory", "passes"):
            if getattr(options, flag) is not None:
                command += [f"--{flag.replace('_', '-')}", getattr(options, flag)]
        subprocess.run(command, check=True)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    maker = commands.add_parser("make")
    maker.add_argument("file")
    maker.add_argument("--rows", type=int, default=1_000_000)
    maker.add_argument("--columns", type=int, default=20_000)
    maker.add_argument("--density", type=float, default=0.03)
    maker.add_argument("--classes", type=int, default=10)
    maker.add_argument("--markers", type=int, default=200)
    maker.add_argument("--fold", type=float, default=20.0)
    maker.add_argument("--seed", type=int, default=0)
    runner = commands.add_parser("run")
    runner.add_argument("file")
    runner.add_argument("--work", choices=["all", *WORK], default="all")
    runner.add_argument("--max-memory", default=None)
    runner.add_argument("--cache-dir", default=None)
    runner.add_argument("--n-jobs", type=int, default=1)
    runner.add_argument("--all-rows", action="store_true", help="no sample; in memory only")
    runner.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    mapper = commands.add_parser("maps")
    mapper.add_argument("file", metavar="folder")
    mapper.add_argument("--work", choices=["all", *MAPPED], default="all")
    mapper.add_argument("--rows", type=int, default=100_000)
    mapper.add_argument("--columns", type=int, default=1_250)
    mapper.add_argument("--seed", type=int, default=0)
    mapper.add_argument("--order", choices="CF", help=argparse.SUPPRESS)
    mapper.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    {"make": make, "run": run, "maps": maps}[options.command](options)


if __name__ == "__main__":
    main()
