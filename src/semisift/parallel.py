"""One thread for each member at work: the committee spreads members, not their inner loops.

A pool of inner threads that has to wait for its turn costs far more than a tiny fit. Measured on
two processors, one of them busy: a logistic regression of 14 rows took 32 ms, and 1.6 ms with one
thread of BLAS; a gradient boosting of 40 rows 22 ms, and 9.5 ms with one thread of OpenMP. And what
BLAS adds up depends on its number of threads.

Tasks on a Dask cluster, whose data moves once.

A thing that tasks share is put on the cluster before them: a small head, and the large parts of its
memory, each known by its content, so that what is there already is not sent again. Each worker has
a copy under a name of its own, which it gets from another worker if one has it, and tasks are given
to a worker together with its copies. (Of several copies with one name Dask would drop all but one
between two rounds, whichever, and send them again.) A worker that dies takes nothing with it but
time: its tasks are given to others. Where all workers are on this machine, they share its memory
instead, and no part is sent. A worker opens a thing once and keeps it as long as the copy of its
head is kept.

Whoever does tasks: this thread, threads, the processes of joblib, or a Dask cluster.

The committee engine: N members in blocks, spread over threads, processes or a cluster.

Member i owns the random streams (seed, i), and results are put together in member order, so the
answer is the same for any number of threads, processes or machines and any block size.
"""

import ctypes
import math
import mmap
import os
import pickle
import threading
import time
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
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


# Memory of at least so many bytes is a part of its own; things that are smaller go with their task.
LEAST_APART = 1 << 14
# Digests are made of pieces of so many bytes.
PIECE = 1 << 24
# Things that are known by their identity while a committee is at work.
MOST_KNOWN = 8
# Parts begin at multiples of so many bytes, wherever the network has put them.
ALIGNMENT = 64
# Tasks that are sent out for each thread of the cluster: one at work and one to follow.
TASKS_PER_THREAD = 2

# A call that was lost with so many workers is not tried again.
MOST_LOST = 3

SECONDS_TO_WAIT_FOR_WORKERS = 60
SECONDS_BETWEEN_LOOKS = 1

LOST = object()

PREFIX = "semisift-"

SCHEDULER_GONE = "the scheduler of the cluster is gone"
WORKERS_GONE = "no worker of the cluster is left"
WORKERS_DIED = (
    "the workers that were given a task died one after another, as happens where memory runs out "
    "or compiled code crashes"
)


@dataclass(frozen=True, eq=False)
class Call:
    """One task: what to call, with what, and the worker that is to do it if it is there.

    Arguments that were put on the cluster are parcels.
    """

    task: Callable[..., Any]
    args: Sequence[Any]
    worker: str | None = None


@dataclass(frozen=True, eq=False)
class Parcel:
    """A thing that was put on the cluster; it stays there as long as this object is kept.

    Attributes
    ----------
    thing : object
    contents : list of (_Kept, Head or memoryview)
        The head and the parts, as they are kept and as they are.
    """

    thing: Any
    contents: "list[tuple[_Kept, Any]]"


@dataclass(eq=False)
class _Sent:
    """A call at a worker, and how often it was lost with one."""

    call: Call
    worker: str
    future: "Future"
    n_lost: int = 0


class Cluster:
    """The cluster of a Dask client, for as long as a committee or a comparison is at work.

    What tasks share is known by its identity meanwhile, and must not change.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: "Client") -> None:
        self.client = client
        self._known: OrderedDict[int, Parcel] = OrderedDict()
        self._digests: dict[tuple[int, int], tuple[Any, str]] = {}
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT_FOR_WORKERS)
        self._store = _Store.of(client)
        self._store.look_at_workers()

    def deal(self, n_tasks: int) -> list[str]:
        """Return a worker for each of some tasks, the same ones as long as no worker changes."""
        threads = [worker for worker, n in sorted(self._threads().items()) for _ in range(n)]
        return [threads[i * len(threads) // n_tasks] for i in range(n_tasks)]

    def put(self, thing: Any) -> Any:
        """Put a thing on the cluster, and return the parcel to give to calls in its place.

        Things so small that they may as well go with every call are returned as they are.
        """
        key = id(thing)
        if key not in self._known:
            parcel = self._pack(thing)
            if parcel is None:
                return thing
            self._known[key] = parcel  # and with it the thing, so that nothing else has its number
        self._known.move_to_end(key)
        while len(self._known) > MOST_KNOWN:
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
        from distributed.comm import CommClosedError

        calls = iter(calls)
        pending: list[_Sent] = []
        try:
            while True:
                threads = self._threads()
                for sent in pending:
                    if sent.worker not in threads or _is_lost(sent.future):
                        self._send_again(sent, threads, pending)
                room = at_once or TASKS_PER_THREAD * sum(threads.values())
                while len(pending) < room and (call := next(calls, None)) is not None:
                    pending.append(self._send(call, threads, pending))
                if not pending:
                    return
                awaited = pending[:1] if in_order else [*pending]
                self._wait([sent.future for sent in awaited])
                for sent in awaited:
                    if sent.future.status in ("finished", "error"):
                        found = self._result(sent)
                        if found is not LOST:
                            pending.remove(sent)
                            yield found
        except CommClosedError as error:
            raise WorkerLostError(SCHEDULER_GONE) from error
        finally:
            if pending and self.client.status == "running":
                self.client.cancel([sent.future for sent in pending])

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

    def _send(self, call: Call, threads: dict[str, int], pending: list[_Sent]) -> _Sent:
        worker = call.worker
        if worker not in threads:
            busy = Counter(sent.worker for sent in pending)
            worker = min(threads, key=lambda each: busy[each] / threads[each])
        return _Sent(call, worker, self._submit(call, worker))

    def _send_again(self, sent: _Sent, threads: dict[str, int], pending: list[_Sent]) -> None:
        """Send a call that was lost with its worker to another one."""
        if sent.n_lost >= MOST_LOST:
            raise WorkerLostError(WORKERS_DIED)
        self.client.cancel([sent.future])
        new = self._send(sent.call, threads, [other for other in pending if other is not sent])
        sent.worker, sent.future, sent.n_lost = new.worker, new.future, sent.n_lost + 1

    def _submit(self, call: Call, worker: str) -> "Future":
        copies = [
            [kept.copy_on(worker, what) for kept, what in arg.contents if kept.shared is None]
            if isinstance(arg, Parcel)
            else []
            for arg in call.args
        ]
        plain = [None if isinstance(arg, Parcel) else arg for arg in call.args]
        packed = Packed(call.task, plain, [len(each) for each in copies])
        futures = [future for each in copies for future in each]
        return self.client.submit(_do, packed, *futures, pure=False, workers=[worker])

    def _wait(self, futures: "list[Future]") -> None:
        """Wait until one of some tasks has ended or was lost, or it is time to look after them."""
        from distributed import wait

        with suppress(TimeoutError, CancelledError):
            wait(futures, timeout=SECONDS_BETWEEN_LOOKS, return_when="FIRST_COMPLETED")

    def _result(self, sent: _Sent) -> Any:
        """Return what a call returned, or LOST where its worker died before it was fetched."""
        from distributed import KilledWorker

        while True:
            try:
                return sent.future.result(timeout=SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                if sent.worker not in self._threads():
                    return LOST
            except CancelledError:
                return LOST
            except KilledWorker as error:
                raise WorkerLostError(WORKERS_DIED) from error
            except _OutOfReachError:  # a worker on another machine has come
                self._store.is_here = False
                self._known.clear()
                args = [self.put(a.thing) if isinstance(a, Parcel) else a for a in sent.call.args]
                sent.call = replace(sent.call, args=args)
                sent.future = self._submit(sent.call, sent.worker)
                return LOST
            except ModuleNotFoundError:
                self._store.look_at_workers(again=True)
                raise

    def _pack(self, thing: Any) -> Parcel | None:
        head, parts = pack(thing)
        if len(head) + sum(part.nbytes for part in parts) < LEAST_APART:
            return None
        digests = [self._digest(part) for part in parts]
        kept = [
            self._store.keep(digest, part.nbytes, part)
            for digest, part in zip(digests, parts, strict=True)
        ]
        places = [each.shared and each.shared.place for each in kept]
        name = sha256(b"\0".join([head, *map(str.encode, digests), repr(places).encode()]))
        whole = Head(head, places)
        kept_whole = self._store.keep(name.hexdigest(), len(head), whole)
        return Parcel(thing, [(kept_whole, whole), *zip(kept, parts, strict=True)])

    def _digest(self, part: memoryview) -> str:
        """Return the digest of a part; of one that cannot be written to, it is made once."""
        place = np.frombuffer(part, dtype=np.uint8).ctypes.data, part.nbytes
        if place in self._digests:
            return self._digests[place][1]
        digest = _digest(part)
        if part.readonly:
            self._digests[place] = part, digest
        return digest


def _digest(part: memoryview) -> str:
    """Return a digest of the bytes, made of those of pieces, side by side."""
    pieces = [part[i : i + PIECE] for i in range(0, part.nbytes, PIECE)]
    if len(pieces) < 2:
        return sha256(part).hexdigest()
    with ThreadPoolExecutor(min(len(pieces), os.cpu_count() or 1)) as pool:
        return sha256(b"".join(pool.map(lambda piece: sha256(piece).digest(), pieces))).hexdigest()


def _is_lost(future: "Future") -> bool:
    return future.status in ("cancelled", "lost")


def pack(thing: Any) -> tuple[bytes, list[memoryview]]:
    """Pickle a thing, its large arrays apart from the rest and without a copy."""
    parts: list[memoryview] = []

    def goes_with_head(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= LEAST_APART:
            parts.append(raw)
        return raw.nbytes < LEAST_APART

    # what a user has defined in a script or notebook travels by its code
    import cloudpickle

    head = cloudpickle.dumps(thing, protocol=5, buffer_callback=goes_with_head)
    return head, parts


# What is kept of a client -------------------------------------------------------------------------


class _Kept:
    """The head or a part of a thing: memory that is shared, or a copy on each worker.

    Parameters
    ----------
    client : distributed.Client
    name : str
    size : int
    what : Head or memoryview
    is_here : bool
        Whether a part is to be shared.
    """

    def __init__(self, client: "Client", name: str, size: int, what: Any, is_here: bool) -> None:
        self.client, self.name, self.size = client, name, size
        self.shared: _SharedMemory | None = None
        self.seed: Future | None = None  # of which the copies are made
        self.copies: dict[str, Future] = {}
        if is_here and isinstance(what, memoryview):
            with suppress(OSError):  # where there is not enough of it
                self.shared = _SharedMemory(what)

    def copy_on(self, worker: str, what: Any) -> "Future":
        """Return the copy of a worker, which gets it from another one where there is any."""
        found = self.copies.get(worker)
        if found is None or _is_lost(found):
            if self.seed is None or _is_lost(self.seed):
                key = self._new_key()
                what = Part(what) if isinstance(what, memoryview) else what
                self.seed = self.client.scatter({key: what}, workers=[worker])[key]
            found = self.client.submit(_same, self.seed, key=self._new_key(), workers=[worker])
            self.copies[worker] = found
        return found

    def _new_key(self) -> str:
        return f"{PREFIX}{self.name}-{uuid4().hex}"


class _Store:
    """What a client keeps on its cluster, by content, also from one fit to the next.

    The least recently used goes first, as soon as all together are more than twice the largest.
    """

    def __init__(self, client: "Client") -> None:
        self.client = weakref.proxy(client)
        self.is_here = False  # whether all workers are on this machine
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._seen: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, client: "Client") -> "_Store":
        """Return the store of a client."""
        if "_semisift" not in vars(client):
            vars(client)["_semisift"] = cls(client)
        store: _Store = vars(client)["_semisift"]
        return store

    def keep(self, name: str, size: int, what: Any) -> _Kept:
        """Return what has that name, which stays until there is too much."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or (kept.shared is not None and not self.is_here):
                kept = _Kept(self.client, name, size, what, self.is_here)
                self._kept[name] = kept
            self._kept.move_to_end(name)
            sizes = [each.size for each in self._kept.values()]
            while sum(sizes) > 2 * max(sizes):
                sizes.remove(self._kept.popitem(last=False)[1].size)
            return kept

    def look_at_workers(self, again: bool = False) -> None:
        """Refuse workers without this package, and find out whether all are on this machine.

        Parameters
        ----------
        again : bool
            Look also where no worker has come.
        """
        workers = frozenset(self.client.nthreads())
        if workers <= self._seen and not again:
            return
        probe = _SharedMemory(memoryview(os.urandom(16))) if CAN_SHARE else None
        place = None if probe is None else probe.place

        def look() -> bool:  # inside a function, so that it travels by its code
            from semisift import parallel

            return place is not None and parallel.is_shared(place)

        found = self.client.run(look, on_error="return")
        without = {who: error for who, error in found.items() if isinstance(error, ImportError)}
        if without:
            worker, error = next(iter(without.items()))
            more = f" (and {len(without) - 1} more)" if len(without) > 1 else ""
            raise ImportError(
                f"the worker {worker}{more} of the cluster cannot import semisift: {error}. "
                "Install there the version of semisift that is used here."
            ) from error
        self.is_here = all(sees is True for sees in found.values())
        self._seen = workers


# Whether memory can be shared with other processes of the user so that it is gone with the last.
CAN_SHARE = hasattr(os, "memfd_create")


class _SharedMemory:
    """A copy of a part for the other processes of this machine.

    It has no name in any file system, and needs no removal: it is there as long as any process has
    it open. Others find it by the process and the number under which it is open here, and know by
    a mark at its beginning that it is the one.

    Attributes
    ----------
    place : tuple of (str, bytes)
        Where it is found, and the mark.
    """

    def __init__(self, part: memoryview) -> None:
        number = os.memfd_create(PREFIX + "part")
        weakref.finalize(self, os.close, number)
        self.place = f"/proc/{os.getpid()}/fd/{number}", os.urandom(16)
        with open(number, "wb", closefd=False) as file:
            file.write(self.place[1].ljust(mmap.PAGESIZE, b"\0"))
            file.write(part)


# What runs on the workers -------------------------------------------------------------------------


class _OutOfReachError(Exception):
    """A worker does not share the memory of the client."""


class Part:
    """A part of the memory of a thing, at an address that suits arrays of any type."""

    def __init__(self, buffer: Any) -> None:
        self.values: Any = _aligned(np.frombuffer(buffer, dtype=np.uint8))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return Part, (pickle.PickleBuffer(self.values),)

    def __sizeof__(self) -> int:
        return int(self.values.nbytes)


def _aligned(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if not values.ctypes.data % ALIGNMENT:
        return values
    room = np.empty(len(values) + ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    copy = room[start : start + len(values)]
    copy[:] = values
    return copy


class Head:
    """A thing without its parts; opened once in a process.

    Parameters
    ----------
    pickled : bytes
    places : list of tuple or None
        Where parts are that are shared; None where a part comes by itself.
    """

    def __init__(self, pickled: bytes, places: list[Any]) -> None:
        self.pickled, self.places = pickled, places
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Head, (self.pickled, self.places)

    def __sizeof__(self) -> int:
        return len(self.pickled)

    def open(self, parts: Iterator[Any]) -> Any:
        """Return the thing; its large arrays are views of the parts, and read-only."""
        sent = [next(parts) if place is None else place for place in self.places]
        with self._lock:
            if not hasattr(self, "_thing"):
                buffers = [
                    memoryview(part.values) if isinstance(part, Part) else _map(*part)
                    for part in sent
                ]
                readonly = [buffer.toreadonly() for buffer in buffers]
                self._thing = pickle.loads(self.pickled, buffers=readonly)
        return self._thing


def _map(path: str, mark: bytes) -> memoryview:
    try:
        with open(path, "rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise _OutOfReachError(path) from error
    if mapped[: len(mark)] != mark:
        raise _OutOfReachError(path)
    return mapped[mmap.PAGESIZE :]


def is_shared(place: tuple[str, bytes]) -> bool:
    """Return whether this process finds what another one shares."""
    try:
        return len(_map(*place)) > 0
    except _OutOfReachError:
        return False


@dataclass(frozen=True, eq=False)
class Packed:
    """A call as it travels: its small arguments, and how many futures each of the others takes."""

    task: Callable[..., Any]
    plain: list[Any]
    n_futures: list[int]


def _do(call: Packed, *held: Any) -> Any:
    """Do one task on a worker, which spreads nothing any further."""
    left = iter(held)
    args = [
        next(left).open(left) if n else plain
        for plain, n in zip(call.plain, call.n_futures, strict=True)
    ]
    with one_blas_thread(), _keeping_memory(), joblib.parallel_config(backend="sequential"):
        return call.task(*args)


# Dask lets its workers give memory back at once (MALLOC_TRIM_THRESHOLD_), so that each large array
# is made of new pages: trials with twins took 1.3 times as long, halves of the rows 1.35 times.
TRIMS = "MALLOC_TRIM_THRESHOLD_"
# Numbers of the GNU C library: what is set, what it is set to for a task, and what it is elsewhere.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
KEPT_BYTES = {TRIM_THRESHOLD: 1 << 28, MMAP_THRESHOLD: 1 << 25}
USUAL_MMAP_THRESHOLD = 1 << 17

_memory_lock = threading.Lock()
_n_keeping = 0


@contextmanager
def _keeping_memory() -> Iterator[None]:
    """Let a worker use memory again that arrays have left, until the last task has ended."""
    global _n_keeping
    libc = ctypes.CDLL(None) if TRIMS in os.environ and os.name == "posix" else None
    set_option = getattr(libc, "mallopt", None)
    if set_option is None:
        yield
        return
    with _memory_lock:
        _n_keeping += 1
        for option, value in KEPT_BYTES.items():
            set_option(option, value)
    try:
        yield
    finally:
        with _memory_lock:
            _n_keeping -= 1
            if not _n_keeping:
                set_option(MMAP_THRESHOLD, USUAL_MMAP_THRESHOLD)
                set_option(TRIM_THRESHOLD, int(os.environ[TRIMS]))
                libc.malloc_trim(0)  # type: ignore[union-attr]


def _same(what: Any) -> Any:
    return what


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
