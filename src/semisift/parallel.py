"""Whoever does tasks: this thread, threads, the processes of joblib, or a Dask cluster.

Member i of a committee owns the random streams (seed, i), and results are put together in member
order, so the answer is the same for any number of threads, processes or machines.

One thread for each member at work: the committee spreads members, not their inner loops. A pool of
inner threads that has to wait for its turn costs far more than a tiny fit. Measured on two
processors, one of them busy: a logistic regression of 14 rows took 32 ms, and 1.6 ms with one
thread of BLAS; a gradient boosting of 40 rows 22 ms, and 9.5 ms with one thread of OpenMP. And what
BLAS adds up depends on its number of threads.
"""

import ctypes
import math
import os
import pickle
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from semisift.exceptions import WorkerLostError
from semisift.utils._files import process_lives, process_name

if TYPE_CHECKING:
    from distributed import Client, Future


_blas_lock = threading.Lock()
_n_blas_users = 0
_shared_before: list[int] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS work on one thread until the context is left.

    Most builds of BLAS have one number for the whole process. Where several threads overlap, the
    first to come sets it, and the last to leave puts it back. The others have a number for each
    thread, which sets and restores its own.
    """
    global _n_blas_users, _shared_before
    shared, own = _blas_libraries()
    own_before = _set_threads(own, [1] * len(own))
    with _blas_lock:
        if not _n_blas_users:
            _shared_before = _set_threads(shared, [1] * len(shared))
        _n_blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _n_blas_users -= 1
            if not _n_blas_users:
                _set_threads(shared, _shared_before)
        _set_threads(own, own_before)


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Let OpenMP work on one thread until the context is left.

    OpenMP has a number for each thread that starts loops, so this is for the thread at work.
    """
    with _controller("openmp").limit(limits=1):
        yield


def _set_threads(libraries: list[Any], numbers: list[int]) -> list[int]:
    """Set the number of threads of each library and return what they were."""
    before = [library.num_threads for library in libraries]
    for library, number in zip(libraries, numbers, strict=True):
        # From 3.8 on, threadpoolctl obeys the first thread that set a number, and no other.
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)
    return before


@cache
def _blas_libraries() -> tuple[list[Any], list[Any]]:
    """Return the libraries with one number for the process, and those with one for each thread."""
    shared: list[Any] = []
    own: list[Any] = []
    for library in _controller("blas").lib_controllers:
        by_openmp = getattr(library, "threading_layer", None) == "openmp"
        by_thread = library.internal_api == "mkl" or (
            library.internal_api == "openblas" and by_openmp
        )
        (own if by_thread else shared).append(library)
    return shared, own


@cache  # finding the loaded libraries takes 10 ms
def _controller(user_api: str) -> ThreadpoolController:
    return ThreadpoolController().select(user_api=user_api)


# --- cluster --------------------------------------------------------------------------------------

# What tasks share is put on the cluster before them: a small head and the large arrays, each known
# by its content, so that nothing is sent twice, also from one fit to the next. Each worker has a
# copy under a key of its own: of replicas of one key Dask drops all but one between two rounds,
# whichever, and sends them again. What was scattered is lost with its worker, and a task that is
# given to a worker waits for ever where it dies: so lost tasks are submitted again from here.

# Arrays of at least so many bytes are parts of their own; smaller things go with their task.
MIN_BYTES_APART = 1 << 14
# Things that are known by their identity while a committee is at work.
MAX_KNOWN = 8
# Parts begin at multiples of so many bytes, wherever the network has put them.
ALIGNMENT = 64
# Tasks that are sent out for each thread of the cluster: one at work and one to follow.
TASKS_PER_THREAD = 2
# A call that was lost with so many workers is not tried again.
MAX_LOST = 3

SECONDS_TO_WAIT_FOR_WORKERS = 60
SECONDS_BETWEEN_LOOKS = 1

LOST = object()

SCHEDULER_GONE = "the scheduler of the cluster is gone"
WORKERS_GONE = "no worker of the cluster is left"
WORKERS_DIED = (
    "the workers that were given a task died one after another, as happens where memory runs out "
    "or compiled code crashes"
)


@dataclass(eq=False)
class Call:
    """One task: what to call, with what, and the worker that is to do it if it is there.

    Arguments that were put on the cluster are parcels.
    """

    task: Callable[..., Any]
    args: Sequence[Any]
    worker: str | None = None
    future: Any = None
    n_sent: int = 0


@dataclass(frozen=True, eq=False)
class Parcel:
    """A thing that was put on the cluster, with its head and parts; it must not change."""

    thing: Any
    contents: "list[_Content]"


@dataclass(eq=False)
class _Content:
    """A head or part on the cluster: where it was scattered to, and the copy of each worker."""

    value: Any
    n_bytes: int
    seed: "Future | None" = None
    copies: dict[str, "Future"] = field(default_factory=dict)

    def copy_on(self, client: "Client", worker: str) -> "Future":
        """Return the copy of a worker, which gets it from another one where there is any."""
        found = self.copies.get(worker)
        if found is None or _is_lost(found):
            if self.seed is None or _is_lost(self.seed):
                self.seed = client.scatter(self.value, workers=[worker], hash=False)
            found = client.submit(_same, self.seed, pure=False, workers=[worker])
            self.copies[worker] = found
        return found


@dataclass(eq=False)
class _Store:
    """What a client keeps on its cluster, by content, also from one fit to the next."""

    contents: OrderedDict[str, _Content] = field(default_factory=OrderedDict)
    seen: frozenset[str] = frozenset()  # workers that have this package
    lock: Any = field(default_factory=threading.Lock)


class Cluster:
    """The cluster of a Dask client, for as long as a committee or a comparison is at work.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: "Client") -> None:
        self.client = client
        self._known: OrderedDict[int, Parcel] = OrderedDict()
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT_FOR_WORKERS)
        self._store: _Store = vars(client).setdefault("_semisift", _Store())
        self._digests: dict[tuple[int, int], tuple[Any, str]] = {}
        self._check_workers()

    def assign_workers(self, n_tasks: int) -> list[str]:
        """Return a worker for each of some tasks, the same ones as long as no worker changes."""
        threads = [worker for worker, n in sorted(self._threads().items()) for _ in range(n)]
        return [threads[i * len(threads) // n_tasks] for i in range(n_tasks)]

    def put(self, thing: Any) -> Any:
        """Put a thing on the cluster, and return the parcel to give to calls in its place.

        Things so small that they may as well go with every call are returned as they are.
        """
        key = id(thing)
        if key not in self._known:
            head, parts = pack(thing)
            if len(head.pickled) + sum(part.nbytes for part in parts) < MIN_BYTES_APART:
                return thing
            digests = [self._digest(part) for part in parts]
            name = sha256("".join([sha256(head.pickled).hexdigest(), *digests]).encode())
            contents = [self._keep(name.hexdigest(), head, len(head.pickled))]
            for digest, part in zip(digests, parts, strict=True):
                contents.append(self._keep(digest, Part(part), part.nbytes))
            self._known[key] = Parcel(thing, contents)  # so that nothing else gets its number
        self._known.move_to_end(key)
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return self._known[key]

    def run(
        self, calls: Iterable[Call], at_once: int | None = None, *, in_order: bool = True
    ) -> Iterator[Any]:
        """Yield what the calls return.

        Parameters
        ----------
        calls : iterable of Call
            Asked for the next one when there is room for it.
        at_once : int or None
            Calls that are sent out at a time; None keeps all threads of the cluster busy.
        in_order : bool
            Yield results in the order of the calls, or as they are ready.

        Yields
        ------
        object
        """
        from distributed import wait
        from distributed.comm import CommClosedError

        calls = iter(calls)
        pending: list[Call] = []
        try:
            while True:
                threads = self._threads()
                for call in pending:
                    if call.worker not in threads or _is_lost(call.future):
                        self._send(call, threads, pending)
                room = at_once or TASKS_PER_THREAD * sum(threads.values())
                for call in islice(calls, max(0, room - len(pending))):
                    self._send(call, threads, pending)
                    pending.append(call)
                if not pending:
                    return
                awaited = pending[:1] if in_order else [*pending]
                with suppress(TimeoutError, CancelledError):
                    futures = [call.future for call in awaited]
                    wait(futures, timeout=SECONDS_BETWEEN_LOOKS, return_when="FIRST_COMPLETED")
                for call in awaited:
                    if call.future.status in ("finished", "error"):
                        found = self._result(call)
                        if found is not LOST:
                            pending.remove(call)
                            yield found
        except CommClosedError as error:
            raise WorkerLostError(SCHEDULER_GONE) from error
        finally:
            if pending and self.client.status == "running":
                self.client.cancel([call.future for call in pending])

    def _threads(self) -> dict[str, int]:
        """Return the threads of each worker; wait for one where all are gone."""
        until = time.monotonic() + SECONDS_TO_WAIT_FOR_WORKERS
        while time.monotonic() < until:
            if self.client.status not in ("running", "connecting"):
                raise WorkerLostError(SCHEDULER_GONE)
            threads: dict[str, int] = self.client.nthreads()
            if threads:
                return threads
            time.sleep(0.1)
        raise WorkerLostError(WORKERS_GONE)

    def _send(self, call: Call, threads: dict[str, int], pending: list[Call]) -> None:
        """Submit a call, also one that was lost with its worker."""
        if call.n_sent > MAX_LOST:
            raise WorkerLostError(WORKERS_DIED)
        if call.future is not None:
            self.client.cancel([call.future])
        if call.worker not in threads:
            busy = Counter(other.worker for other in pending if other is not call)
            call.worker = min(threads, key=lambda each: busy[each] / threads[each])
        worker = str(call.worker)
        contents = [
            [content.copy_on(self.client, worker) for content in arg.contents]
            for arg in call.args
            if isinstance(arg, Parcel)
        ]
        plain = [len(arg.contents) if isinstance(arg, Parcel) else (arg,) for arg in call.args]
        futures = [future for each in contents for future in each]
        call.future = self.client.submit(
            _do, call.task, plain, *futures, pure=False, workers=[worker]
        )
        call.n_sent += 1

    def _result(self, call: Call) -> Any:
        """Return what a call returned, or LOST where its worker died before it was fetched."""
        from distributed import KilledWorker

        while True:
            try:
                return call.future.result(timeout=SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                if call.worker not in self._threads():
                    return LOST
            except CancelledError:
                return LOST
            except KilledWorker as error:
                raise WorkerLostError(WORKERS_DIED) from error
            except ModuleNotFoundError:
                self._check_workers(again=True)
                raise

    def _digest(self, part: memoryview) -> str:
        """Return the digest of a part; of one that cannot be written to, it is made once."""
        place = np.frombuffer(part, dtype=np.uint8).ctypes.data, part.nbytes
        if place in self._digests:
            return self._digests[place][1]
        digest = sha256(part).hexdigest()
        if part.readonly:
            self._digests[place] = part, digest
        return digest

    def _keep(self, name: str, value: Any, n_bytes: int) -> _Content:
        """Return what has that name, which stays until all is more than twice the largest."""
        with self._store.lock:
            kept = self._store.contents
            found = kept.setdefault(name, _Content(value, n_bytes))
            kept.move_to_end(name)
            sizes = [each.n_bytes for each in kept.values()]
            while sum(sizes) > 2 * max(sizes):
                sizes.remove(kept.popitem(last=False)[1].n_bytes)
            return found

    def _check_workers(self, again: bool = False) -> None:
        """Refuse workers without this package, where any has come or `again` asks for it."""
        workers = frozenset(self.client.nthreads())
        if workers <= self._store.seen and not again:
            return

        def look() -> None:  # inside a function, so that it travels by its code
            import semisift.parallel  # noqa: F401

        found = self.client.run(look, on_error="return")
        without = {who: error for who, error in found.items() if isinstance(error, ImportError)}
        if without:
            worker, error = next(iter(without.items()))
            more = f" (and {len(without) - 1} more)" if len(without) > 1 else ""
            raise ImportError(
                f"the worker {worker}{more} of the cluster cannot import semisift: {error}. "
                "Install there the version of semisift that is used here."
            ) from error
        self._store.seen = workers


def _is_lost(future: "Future") -> bool:
    return future.status in ("cancelled", "lost")


def pack(thing: Any) -> "tuple[Head, list[memoryview]]":
    """Pickle a thing, its large arrays apart from the rest and without a copy."""
    # what a user has defined in a script or notebook travels by its code
    import cloudpickle

    parts: list[memoryview] = []

    def goes_with_head(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= MIN_BYTES_APART:
            parts.append(raw)
        return raw.nbytes < MIN_BYTES_APART

    head = cloudpickle.dumps(thing, protocol=5, buffer_callback=goes_with_head)
    return Head(head), parts


# What runs on the workers -------------------------------------------------------------------------


class Part:
    """A part of the memory of a thing, at an address that suits arrays of any type."""

    def __init__(self, buffer: Any) -> None:
        values = np.frombuffer(buffer, dtype=np.uint8)
        if values.ctypes.data % ALIGNMENT:
            room = np.empty(len(values) + ALIGNMENT, dtype=np.uint8)
            start = -room.ctypes.data % ALIGNMENT
            room[start : start + len(values)] = values
            values = room[start : start + len(values)]
        self.values: Any = values

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return Part, (pickle.PickleBuffer(self.values),)

    def __sizeof__(self) -> int:
        return int(self.values.nbytes)


class Head:
    """A thing without its parts; opened once in a process."""

    def __init__(self, pickled: bytes) -> None:
        self.pickled = pickled
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Head, (self.pickled,)

    def __sizeof__(self) -> int:
        return len(self.pickled)

    def open(self, parts: Sequence[Part]) -> Any:
        """Return the thing; its large arrays are views of the parts, and read-only."""
        with self._lock:
            if not hasattr(self, "_thing"):
                buffers = [memoryview(part.values).toreadonly() for part in parts]
                self._thing = pickle.loads(self.pickled, buffers=buffers)
        return self._thing


def _do(task: Callable[..., Any], plain: list[Any], *contents: Any) -> Any:
    """Do one task on a worker, which spreads nothing any further."""
    left = iter(contents)
    args: list[Any] = []
    for each in plain:
        if isinstance(each, tuple):
            args += each
        else:  # a head and its parts
            head, *parts = islice(left, each)
            args.append(head.open(parts))
    _keep_memory()
    with one_blas_thread(), joblib.parallel_config(backend="sequential"):
        return task(*args)


def _same(what: Any) -> Any:
    return what


# Dask lets its workers give memory back at once (MALLOC_TRIM_THRESHOLD_), so that each large array
# is made of new pages: trials with permuted features took 1.3 times as long, halves of the rows
# 1.35 times. Numbers of the GNU C library: what is set, and for how many bytes.
KEPT_BYTES = {-1: 1 << 28, -3: 1 << 25}  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD


@cache
def _keep_memory() -> None:
    """Let a worker of Dask use up to 256 MB again that arrays have left."""
    if "MALLOC_TRIM_THRESHOLD_" in os.environ and os.name == "posix":
        set_option = getattr(ctypes.CDLL(None), "mallopt", None)
        if set_option is not None:
            for option, value in KEPT_BYTES.items():
                set_option(option, value)


# --- workers --------------------------------------------------------------------------------------


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
        workers = self._pool.assign_workers(len(items))
        assigned = zip(items, workers, strict=True)
        return self._pool.run(
            [Call(task, (item, *given), worker) for item, worker in assigned], len(items)
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
                work = copy_context().run  # a thread that works for a quiet one is quiet
                waiting.append(self._pool.submit(work, _do_alone, task, item, *shared))
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


# --- engine ---------------------------------------------------------------------------------------


# Members in a block: enough of them for Python's share of the work to vanish.
BLOCK_SIZE = 1024
BLOCKS_PER_JOB = 4


def committee_size(n_features: int) -> int:
    """Return the number of members of the SSFI and EnsCLS papers.

    ``N = 10 ceil(log(0.01) / log(1 - 1 / sqrt(p)))``: in each tenth of a committee whose members
    draw sqrt(p) features, a given feature is missed with probability at most 0.01.

    Parameters
    ----------
    n_features : int

    Returns
    -------
    int

    Examples
    --------
    >>> committee_size(2000)
    2040
    """
    return 10 * math.ceil(math.log(0.01) / math.log(1 - 1 / math.sqrt(max(n_features, 2))))


def features_to_draw(max_features: Any, n_features: int) -> int:
    """Return how many features a member draws."""
    if max_features == "sqrt":
        return max(1, round(math.sqrt(n_features)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, round(max_features * n_features))


class Committee(Workers):
    """Runs one task over blocks of members, here or wherever joblib's backend is.

    Parameters
    ----------
    n_members : int
    n_jobs : int or None
        As of `Workers`.
    """

    def __init__(self, n_members: int, n_jobs: int | None) -> None:
        super().__init__(n_jobs)
        self.n_members = n_members

    def ranges(self) -> list[tuple[int, int]]:
        """Return the first member of each block and the first one after it."""
        # on a cluster the votes of each block travel, and blocks stay where they are
        n_blocks = self.n_jobs * (1 if self.is_cluster else BLOCKS_PER_JOB)
        size = min(BLOCK_SIZE, math.ceil(self.n_members / n_blocks))
        return [
            (start, min(start + size, self.n_members)) for start in range(0, self.n_members, size)
        ]
