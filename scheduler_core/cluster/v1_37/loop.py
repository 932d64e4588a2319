"""Virtual time, and the writes of several clients in one order.

Whoever writes is a generator: it yields a :class:`Write`, or several to be made in parallel, and receives
their results. Writes that wait at one moment are made by client, verb, resource, namespace and name; each
takes :data:`WRITE_SECONDS`, and everybody has seen it before the next begins.

What has to survive a copy waits as a timer: a method with its arguments, never a generator or a closure. Once
the loop has settled nothing else waits, and ``copy.deepcopy`` gives an independent loop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from heapq import heapify, heappop, heappush
from math import floor
from typing import Any, NamedTuple, Protocol

from scheduler_core import interrupts
from scheduler_core.forks import Memo, copied

WRITE_SECONDS = 1e-5
IDLE_SECONDS = 60.0
"""How long before something happens idle passes are made again: all that remember them remember fewer."""
RATE, BURST = 10.0, 100.0
"""Keys that a queue adds rate-limited in a second, and at once (DefaultTypedControllerRateLimiter)."""

CLIENTS = {
    name: rank
    for rank, name in enumerate((
        "user", "kubelet", "nodelifecycle", "tainteviction", "podgc", "deployment", "statefulset",
        "daemonset", "replicaset", "replicationcontroller", "job", "cronjob", "ttl", "gc", "disruption",
        "volumes", "kueue", "scheduler", "drain",
    ))
}  # fmt: skip
"""In which order clients write that want to write at one moment."""


class StatusError(Exception):
    """The API server refuses a write; ``code`` is the HTTP status, ``cause`` what its message leaves open."""

    def __init__(self, code: int, message: str, cause: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.cause = cause

    @property
    def explained(self) -> str:
        """The message with its cause, as users read it."""
        return f"{str(self).removesuffix('.')}: {self.cause}" if self.cause else str(self)


class UnsettledError(Exception):
    """Clients keep writing while no virtual time passes; the text says what the last write was about."""


class Write(NamedTuple):
    """A write of a client; ``make`` does it and returns the stored object, or raises :class:`StatusError`."""

    client: str
    verb: str
    resource: str
    namespace: str
    name: str
    make: Callable[[], Any]


class Together(NamedTuple):
    """Generators that run in parallel; the one that yields it goes on with their results, or their errors."""

    works: Sequence[Generator[Any, Any, Any]]


Request = Write | Together | Sequence[Write]
Work = Generator[Any, Any, Any]


class CopyableWork(Protocol):
    """A work that goes on as a generator does, and can be copied while it waits."""

    def send(self, result: Any, /) -> Request:
        """Return the next writes, after the results of the last; raise StopIteration at the end."""
        ...

    def throw(self, error: Any, /) -> Request:
        """Return the next writes after one that was refused; raise StopIteration at the end."""
        ...


class _PendingWrites:
    """The writes that one generator waits for."""

    def __init__(self, work: Work | CopyableWork, single: bool, size: int) -> None:
        self.work = work
        self.single = single
        self.results: list[Any] = [None] * size
        self.left = size


class Loop:
    """The clock, its timers, and the writes that wait. Times are virtual seconds.

    ``epoch`` is virtual time 0 in seconds since 1970, ``start`` when the control plane starts, from which
    periodic passes count.
    """

    def __init__(self, epoch: int = 0, start: float = 0.0) -> None:
        self.epoch = epoch
        self.start = start
        self.now = min(start, 0.0)
        self.writes = 0
        self.most_writes = 1_000_000
        """How many writes may follow each other before time has to pass."""
        self._passes: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._periods: dict[Callable[..., None], float] = {}
        """The seconds between the passes that come again and again, by what they call."""
        self._busy: list[Callable[[], bool]] = []
        self._timers: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._cancelled: set[int] = set()
        """The numbers of timers that are dropped as soon as they are the first."""
        self._order = 0
        self._waiting: list[tuple[tuple[Any, ...], int, Write, _PendingWrites, int]] = []
        self._polls: list[Callable[[], bool]] = []
        self._wakeful = 0
        """A bit for each place in ``_polls`` that is called without being woken."""
        self._woken = 0
        """A bit for each place in ``_polls`` that may have something to begin."""
        self._begun: tuple[Write, _PendingWrites, int] | None = None
        """The write that is made next; those whose turn was before it have seen what it does not."""
        self.holds: Callable[[], bool] = _never
        """A method that says whether somebody outside of the loop acts before the next write."""

    @property
    def wall_time(self) -> float:
        """Seconds since 1970, in which objects have their times."""
        return self.epoch + self.now

    def at(self, time: float, act: Callable[..., None], *args: Any) -> int:
        """Call ``act``, a method, at a time; return the timer's number for :meth:`cancel`."""
        order = self._next_order()
        heappush(self._timers, (round(time, 6), order, act, args))
        return order

    def cancel(self, order: int) -> None:
        """Drop a timer that has not fired, as if it had never been set."""
        self._cancelled.add(order)
        self._drop_cancelled()

    def _drop_cancelled(self) -> None:
        while self._cancelled and self._timers and self._timers[0][1] in self._cancelled:
            self._cancelled.remove(heappop(self._timers)[1])

    def pass_at(self, time: float, act: Callable[..., None], *args: Any) -> None:
        """Call ``act`` at a time like :meth:`at`; whether it counts for :meth:`next_time` is asked there."""
        heappush(self._passes, (round(time, 6), self._next_order(), act, args))

    def pass_every(self, period: float, time: float, act: Callable[..., None]) -> None:
        """Call ``act`` at a time like :meth:`pass_at`; it asks for its next pass, ``period`` seconds later.

        Of passes that find nothing to do, only the last before something else happens have to be made.
        """
        self._periods[act] = period
        self.pass_at(time, act)

    def passes_matter(self, busy: Callable[[], bool]) -> None:
        """Have ``busy``, a method, say whether a coming pass would find anything to do."""
        self._busy.append(busy)

    def spawn_at(self, time: float, begin: Callable[..., Work], *args: Any) -> None:
        """Run the generator that ``begin``, a method, returns at a time."""
        self.at(time, self._begin, begin, args)

    def _begin(self, begin: Callable[..., Work], args: tuple[Any, ...]) -> None:
        self.spawn(begin(*args))

    def _next_order(self) -> int:
        self._order += 1
        return self._order

    def worker(self, poll: Callable[[], bool], *, wakeful: bool = True) -> int:
        """Call ``poll`` after every write and timer; it returns whether it has begun something.

        One that is not ``wakeful`` is called after :meth:`wake` with the place that is returned.
        """
        place = len(self._polls)
        self._polls.append(poll)
        self._wakeful |= wakeful << place
        return place

    def wake(self, place: int) -> None:
        """Have a worker polled that may have something to begin."""
        self._woken |= 1 << place

    def spawn(self, work: Work | CopyableWork) -> None:
        """Run a generator up to its first write."""
        self._resume(work, None)

    def settle(self) -> None:
        """Do everything that takes no time but that of the writes."""
        self.advance(self.now)

    def advance(self, until: float) -> bool:
        """Let time pass, with all that happens up to its end, and all that follows from that at once.

        Return False as soon as the loop is held; the next call goes on there.
        """
        most = self.writes + self.most_writes
        while True:
            if self._woken or self._wakeful:
                self._work()
            if self.holds():
                return False
            if self._begun is not None or self._waiting:
                if self.writes >= most:
                    write = self._begun[0] if self._begun else self._waiting[0][2]
                    raise UnsettledError(f"{write.resource} {write.namespace}/{write.name}")
                self._write()
            elif self._skips_to(until) and (queue := self._first()) is not None and queue[0][0] <= until:
                self.now = max(self.now, queue[0][0])
                self._fire(self.now)
                most = self.writes + self.most_writes
            else:
                break
        self.now = max(self.now, until)
        return True

    def _skips_to(self, until: float) -> bool:
        """Leave out passes that would find nothing to do before a time; return True."""
        if not self._passes or self._passes[0][0] > until - 2 * IDLE_SECONDS:
            return True
        others = (at for at, _, act, _ in self._passes if act not in self._periods)
        end = min((until, *others, *(at for at, *_ in self._timers[:1]))) - IDLE_SECONDS
        if self._passes[0][0] > end - IDLE_SECONDS or any(busy() for busy in self._busy):
            return True
        for place, (at, order, act, args) in enumerate(self._passes):
            if act in self._periods:
                left_out = max(0, floor((end - at) / self._periods[act]))
                self._passes[place] = round(at + left_out * self._periods[act], 6), order, act, args
        heapify(self._passes)
        return True

    def tick(self) -> None:
        """Let the time of a write pass that its caller makes."""
        self.now = round(self.now + WRITE_SECONDS, 6)
        self._fire(self.now)

    @property
    def is_settled(self) -> bool:
        """Whether no write waits."""
        return self._begun is None and not self._waiting

    @property
    def is_copyable(self) -> bool:
        """Whether no generator waits, which cannot be copied."""
        begun = () if self._begun is None else (self._begun[1],)
        waiting = (*begun, *(batch for _, _, _, batch, _ in self._waiting))
        return not any(isinstance(batch.work, Generator) for batch in waiting)

    def next_time(self) -> float | None:
        """Return the time of the next timer, ``None`` without one; idle passes do not count."""
        first = self._timers[0][0] if self._timers else None
        if self._passes and (first is None or self._passes[0][0] < first):
            for busy in self._busy:
                if busy():
                    return self._passes[0][0]
        return first

    @property
    def first_time(self) -> float | None:
        """The time of the next timer, an idle pass too, ``None`` without one."""
        queue = self._first()
        return None if queue is None else queue[0][0]

    def _first(self) -> list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] | None:
        """Return the queue whose first timer is due next."""
        if not self._timers or (self._passes and self._passes[0] < self._timers[0]):
            return self._passes or None
        return self._timers

    def _fire(self, until: float) -> None:
        while (queue := self._first()) is not None and queue[0][0] <= until:
            interrupts.look()  # passes that find nothing to do are as many as time is long
            _, _, act, args = heappop(queue)
            self._drop_cancelled()
            act(*args)

    def _work(self) -> None:
        """Poll the workers that are awake, in their order, until none begins anything."""
        begun = True
        while begun:
            begun, place = False, 0
            self._woken |= self._wakeful
            while awake := self._woken >> place:
                place += (awake & -awake).bit_length() - 1
                self._woken &= ~(1 << place)
                begun = self._polls[place]() or begun
                place += 1

    def _write(self) -> None:
        """Begin the next write, or make the one that was begun: what is due by its end does not see it."""
        if self._begun is None:
            _, _, write, batch, place = heappop(self._waiting)
            self._begun = write, batch, place
            self.now = round(self.now + WRITE_SECONDS, 6)
            self._fire(self.now)
            return
        (write, batch, place), self._begun = self._begun, None
        self.writes += 1
        try:
            result = write.make()
        except StatusError as error:
            result = error
        self._done(batch, place, result)

    def _done(self, batch: _PendingWrites, place: int, result: Any) -> None:
        batch.results[place] = result
        batch.left -= 1
        if not batch.left:
            self._resume(batch.work, batch.results[0] if batch.single else batch.results)

    def _part(self, work: Work, batch: _PendingWrites, place: int) -> Work:
        """Run one of several generators, and note its result."""
        try:
            result = yield from work
        except StatusError as error:
            result = error
        self._done(batch, place, result)

    def _resume(self, work: Work | CopyableWork, result: Any) -> None:
        """Run a generator up to its next write; a single write that failed raises there."""
        try:
            request = work.throw(result) if isinstance(result, StatusError) else work.send(result)
            while not isinstance(request, Write) and not _parts(request):
                request = work.send([])
        except StopIteration:
            return
        if isinstance(request, Together):
            batch = _PendingWrites(work, single=False, size=len(request.works))
            for place, part in enumerate(request.works):
                self.spawn(self._part(part, batch, place))
            return
        writes = [request] if isinstance(request, Write) else list(request)
        batch = _PendingWrites(work, isinstance(request, Write), len(writes))
        for place, write in enumerate(writes):
            key = (CLIENTS.get(write.client, len(CLIENTS)), *write[1:5])
            heappush(self._waiting, (key, self._next_order(), write, batch, place))


def _never() -> bool:
    return False


def _parts(request: Any) -> Sequence[Any]:
    found: Sequence[Any] = request.works if isinstance(request, Together) else request
    return found


class WorkQueue:
    """A rate-limited queue of keys (client-go's workqueue): a key waits once, and is not worked on twice."""

    def __init__(self, loop: Loop, base: float = 0.005, most: float = 1000.0) -> None:
        self.loop = loop
        self.base = base
        self.most = most
        self.queue: dict[Hashable, None] = {}
        self._processing: set[Hashable] = set()
        self._dirty: dict[Hashable, None] = {}
        self._failures: dict[Hashable, int] = {}
        self._tokens, self._filled_at = BURST, loop.now
        self._later: dict[Hashable, float] = {}
        self._timers: dict[Hashable, int] = {}
        self.worker = 0
        """The place of its worker in the loop."""

    def __deepcopy__(self, memo: Memo) -> WorkQueue:
        """Copy what waits, which is mostly nothing."""
        made = memo[id(self)] = object.__new__(WorkQueue)
        vars(made).update(vars(self))
        made.loop = copied(self.loop, memo)
        made.queue, made._dirty = self.queue.copy(), self._dirty.copy()
        made._processing, made._failures = self._processing.copy(), self._failures.copy()
        made._later, made._timers = self._later.copy(), self._timers.copy()
        return made

    def add(self, key: Hashable) -> None:
        """Queue a key; one that is worked on is queued when that is done."""
        if key in self._processing:
            self._dirty[key] = None
        else:
            self.queue[key] = None
            self.loop.wake(self.worker)

    def add_after(self, key: Hashable, seconds: float, *, idle: bool = False) -> None:
        """Queue a key later; of several times the earliest counts. An ``idle`` one is a pass of the loop."""
        if seconds <= 0:
            self.add(key)
            return
        at = self.loop.now + seconds
        if key in self._later and self._later[key] <= at:
            return
        self.cancel(key)
        self._later[key] = at
        if idle:
            self.loop.pass_at(at, self._arrive, key, at)
        else:
            self._timers[key] = self.loop.at(at, self._arrive, key, at)

    def cancel(self, key: Hashable) -> None:
        """Queue a key no later, as its sync would find nothing to do."""
        if self._later.pop(key, None) is not None and (timer := self._timers.pop(key, None)) is not None:
            self.loop.cancel(timer)

    def _arrive(self, key: Hashable, at: float) -> None:
        if self._later.get(key) == at:
            del self._later[key]
            self._timers.pop(key, None)
            self.add(key)

    def add_rate_limited(self, key: Hashable) -> None:
        """Queue a key after its backoff, which doubles with each failure, or after the queue's own."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        backoff = min(self.base * 2 ** min(failures, 60), self.most)
        self.add_after(key, max(backoff, self._reserve()))

    def _reserve(self) -> float:
        """Return how long the queue's rate makes a key wait, whichever it is."""
        now = self.loop.now
        self._tokens = min(BURST, self._tokens + (now - self._filled_at) * RATE) - 1
        self._filled_at = now
        return max(0.0, -self._tokens / RATE)

    def forget(self, key: Hashable) -> None:
        """Reset a key's backoff."""
        self._failures.pop(key, None)

    def get(self) -> Hashable | None:
        """Take the first key, ``None`` without one."""
        if not self.queue:
            return None
        key = next(iter(self.queue))
        del self.queue[key]
        self._processing.add(key)
        return key

    def done(self, key: Hashable) -> None:
        """End the work on a key."""
        self._processing.discard(key)
        if key in self._dirty:
            del self._dirty[key]
            self.queue[key] = None


class QueueWorker:
    """One worker of a queue: it runs ``sync`` for one key after the other, and retries what failed."""

    def __init__(self, loop: Loop, sync: Callable[[Any], Work], *, queue: WorkQueue | None = None) -> None:
        self.queue = queue or WorkQueue(loop)
        self.loop = loop
        self.sync = sync
        self.busy = False
        self.queue.worker = loop.worker(self._poll, wakeful=False)

    def _poll(self) -> bool:
        if self.busy or not self.queue.queue:
            return False
        key = self.queue.get()
        self.busy = True
        self.loop.spawn(self._run(key))
        return True

    def _run(self, key: Hashable) -> Work:
        try:
            yield from self.sync(key)
            self.queue.forget(key)
        except StatusError:
            self.queue.add_rate_limited(key)
        self.busy = False
        self.queue.done(key)
        if self.queue.queue:
            self.loop.wake(self.queue.worker)
