"""What a Dask cluster on this machine gains, and what moves.

    python benchmarks/cluster.py
    python benchmarks/cluster.py --n-labelled 60

One process with one thread is compared with a scheduler and two workers of one thread each, on the
same data in turn; BLAS has one thread everywhere. SSFI is fitted to 20,000 x 2,000 values, and a
consensus of 4,000 x 1,000 is assessed. Each worker counts the bytes that it receives. Results have
to be the same bits. Take ratios from a machine that does nothing else.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import joblib
import numpy as np
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_limits

from semisift import SSFI, Consensus, parallel

Case = tuple[np.ndarray, np.ndarray]


def make_case(n: int, p: int, n_labelled: int, dtype: str) -> Case:
    """Two classes that differ in 20 columns, with a few labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(size=(n, p)).astype(dtype)
    classes = np.arange(n) % 2
    X[:, :20] += 0.5 * classes[:, None]
    return X, np.where(np.arange(n) < n_labelled, classes, -1)


def begin_to_count() -> None:
    """Count what this worker receives, from 0 on."""
    from distributed.comm import tcp

    if not hasattr(tcp, "read_uncounted"):
        tcp.read_uncounted = tcp.read_bytes_rw

        async def read(stream: Any, n: int) -> Any:
            tcp.n_received += n
            return await tcp.read_uncounted(stream, n)

        tcp.read_bytes_rw = read
    tcp.n_received = 0


def count() -> int:
    """Return how many bytes this worker has received."""
    from distributed.comm import tcp

    return int(tcp.n_received)


def forget(client: Client) -> None:
    """Let go of what is on the cluster, so that it has to be sent again."""
    parallel.Cluster(client)._store.contents.clear()
    time.sleep(1)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def measure(name: str, work: Callable[[], Any], size: int, client: Client, repeats: int) -> None:
    """Print the seconds here, on the cluster, and on the cluster where the data is already."""
    alone, fresh, again, received = [], [], [], []
    for _ in range(repeats):
        seconds, expected = timed(work)
        alone.append(seconds)
        forget(client)
        client.run(begin_to_count)
        with joblib.parallel_config(backend="dask", client=client):
            seconds, found = timed(work)
            received.append(max(client.run(count).values()) / size)
            fresh.append(seconds)
            again.append(timed(work)[0])
        assert np.array_equal(found, expected, equal_nan=True), "other bits"
    one, two, kept = median(alone), median(fresh), median(again)
    print(
        f"{name}: one process {one:.2f} s; two workers {two:.2f} s, {one / two:.2f} times the speed"
        f" ({kept:.2f} s and {one / kept:.2f} times where the data is there already); each worker"
        f" received at most {max(received):.3f} times X",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=2_000)
    parser.add_argument("--n-labelled", type=int, default=500)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    parser.add_argument("--assessed", type=int, nargs=2, default=[4_000, 2_000])
    parser.add_argument("--only", choices=["ssfi", "assess"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with (
        threadpool_limits(1),  # Dask itself sets one for the workers
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        small = make_case(300, 30, 30, "float64")
        with joblib.parallel_config(backend="dask", client=client):  # what is imported stays so
            Consensus(n_members=20).fit(*small).assess(*small, n_resamples=2, n_permutations=39)
        if options.only != "assess":
            X, y = make_case(options.rows, options.columns, options.n_labelled, options.dtype)
            what = f"SSFI {X.shape[0]:,} x {X.shape[1]:,}"
            measure(
                what,
                lambda: SSFI(random_state=0).fit(X, y).scores_,
                X.nbytes,
                client,
                options.repeats,
            )
        if options.only != "ssfi":
            X, y = make_case(*options.assessed, 60, options.dtype)
            ranker = Consensus(random_state=0).fit(X, y)

            def assess() -> Any:
                found = ranker.assess(X, y)
                return np.column_stack([found.p_values, found.selection_probability])

            what = f"assessment of a consensus of {X.shape[0]:,} x {X.shape[1]:,}"
            measure(what, assess, X.nbytes, client, 1)


if __name__ == "__main__":
    main()
