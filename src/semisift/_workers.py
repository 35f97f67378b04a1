"""Whoever does tasks: this thread, threads, the processes of joblib, or a Dask cluster."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import joblib
from joblib.parallel import get_active_backend

from semisift._cluster import Call, Cluster
from semisift._files import process_lives, process_name
from semisift._threads import one_blas_thread
from semisift.exceptions import WorkerLostError

if TYPE_CHECKING:
    from distributed import Client

# Seconds between two looks whether who sends tasks is still there.
A_WHILE = 1.0

# Processes that have sent tasks to this one.
_senders: set[str] = set()

# Tasks that are handed out for each worker where they come one by one.
TASKS_PER_JOB = 2

PROCESS_DIED = "a process at work died, as happens where memory runs out or compiled code crashes"


def active_client() -> "Client | None":
    """Return the client of the Dask cluster that was chosen as joblib's backend, if one was."""
    # joblib 1.6 on Dask sends data again with every call, waits for ever where workers die of a
    # task, and fails where they take data with them
    backend, _ = get_active_backend(prefer="threads")
    is_dask = type(backend).__name__ == "DaskDistributedBackend"
    client: Client | None = backend.client if is_dask else None
    return client


class Workers:
    """Does tasks here, or wherever joblib's backend is.

    Tasks run on a thread pool of our own (the kernels release the interpreter's lock, and a pool
    that waits passively costs microseconds a round) unless the caller has chosen a joblib backend
    with processes or machines of its own: ``joblib.parallel_config(backend="dask")``. What the
    tasks of a pool do is not spread any further.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn: None is 1 unless a joblib context says otherwise, -1 all processors. A
        cluster is used as a whole.
    most_threads : int or None
        Threads at most, where memory sets a limit.
    """

    def __init__(self, n_jobs: int | None, most_threads: int | None = None) -> None:
        self.n_jobs = joblib.effective_n_jobs(n_jobs)
        backend, _ = get_active_backend(prefer="threads")
        self._client: Any = active_client()
        is_elsewhere = not getattr(backend, "uses_threads", False) and self.n_jobs > 1
        self.is_remote = self._client is not None or is_elsewhere
        if not self.is_remote and most_threads is not None:
            self.n_jobs = max(1, min(self.n_jobs, most_threads))
        self._pool: Any = None
        self._stack = ExitStack()

    @property
    def is_cluster(self) -> bool:
        """Whether tasks travel over a network."""
        return self.is_remote and self._client is not None

    def __enter__(self) -> Self:
        if self.is_cluster:
            self._pool = Cluster(self._client)
        elif self.is_remote:
            self._pool = self._stack.enter_context(joblib.Parallel(n_jobs=self.n_jobs))
        elif self.n_jobs > 1:
            self._pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="semisift")
            self._stack.callback(self._pool.shutdown, wait=True, cancel_futures=True)
        return self

    def limit_threads(self) -> None:
        """Let BLAS work on one thread until the workers are left."""
        self._stack.enter_context(one_blas_thread())

    def __exit__(self, *error: Any) -> None:
        self._pool = None
        self._stack.__exit__(*error)

    def map(self, task: Callable[..., Any], items: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Yield ``task(item, *shared)`` of every item, in their order.

        Parameters
        ----------
        task : callable
            A function of a module, so that it can travel.
        items : iterable
            A list is handed out at once, and its items go to the same workers in every call; an
            iterator is asked for the next item when there is room for it.
        *shared : objects
            What every call is given besides its item. It reaches each process once, and must not
            change until the workers are left.

        Yields
        ------
        object
        """
        if self._pool is None:
            yield from (task(item, *shared) for item in items)
        elif self.is_cluster:
            yield from self._on_cluster(task, items, shared)
        elif self.is_remote:
            yield from self._in_processes(task, items, shared)
        else:
            yield from self._in_threads(task, items, shared)

    def _on_cluster(self, task: Any, items: Any, shared: tuple[Any, ...]) -> Any:
        given = [self._pool.put(thing) for thing in shared]
        if not hasattr(items, "__len__"):
            return self._pool.run(Call(task, (item, *given)) for item in items)
        workers = self._pool.deal(len(items))
        dealt = zip(items, workers, strict=True)
        return self._pool.run(
            [Call(task, (item, *given), worker) for item, worker in dealt], len(items)
        )

    def _in_processes(self, task: Any, items: Any, shared: tuple[Any, ...]) -> Iterator[Any]:
        at_once = len(items) if hasattr(items, "__len__") else TASKS_PER_JOB * self.n_jobs
        left = iter(items)
        try:
            while some := [*islice(left, at_once)]:
                yield from self._pool(sent(task, item, *shared) for item in some)
        except BrokenProcessPool as error:
            raise WorkerLostError(PROCESS_DIED) from error

    def _in_threads(self, task: Any, items: Any, shared: tuple[Any, ...]) -> Iterator[Any]:
        at_once = len(items) if hasattr(items, "__len__") else TASKS_PER_JOB * self.n_jobs
        waiting: deque[Any] = deque()
        try:
            for item in items:
                waiting.append(self._pool.submit(_do_alone, task, item, *shared))
                if len(waiting) >= at_once:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _do_alone(task: Callable[..., Any], *args: Any) -> Any:
    """Do a task that spreads nothing any further."""
    with joblib.parallel_config(backend="sequential"):
        return task(*args)


def sent(task: Callable[..., Any], *args: Any) -> Any:
    """Return a task for joblib, which may do it in a process: that one ends with this one.

    A process of joblib that nobody sends anything waits for minutes, holds the output open, and
    never hears that its parent was killed. An initializer would be there before the first task, but
    joblib 1.4 takes none, and processes are shared with what else the caller does with joblib.
    """
    return joblib.delayed(_do_sent)(process_name(), task, *args)


def _do_sent(sender: str, task: Callable[..., Any], *args: Any) -> Any:
    if sender not in _senders and sender != process_name():
        _senders.add(sender)
        threading.Thread(target=_end_with, args=(sender,), daemon=True).start()
    return task(*args)


def _end_with(sender: str) -> None:
    """End this process once the one that sent a task has ended; not where that is not known."""
    parent = os.getppid()
    # who was killed keeps its number until its own parent has looked, and leaves its children
    while (lives := process_lives(sender)) and os.getppid() == parent:
        time.sleep(A_WHILE)
    if lives is not None:
        os._exit(1)
