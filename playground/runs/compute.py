"""Computing a run in a worker: claim it, resume it, compute slice by slice, end it.

After each slice one transaction stores the slice's decisions, the progress and the samples, and before
each slice a query checks whether the run is to be cancelled. Every write is conditional on the claim, and
retried while storage is unavailable (:mod:`playground.runs.retries`). Nothing here needs Celery:
:func:`compute` is a function of a run's id.
"""

from __future__ import annotations

import os
import resource
import secrets
import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from playground.limits import MIB, limit
from playground.models import CANCELLED, CANCELLING, DONE, FAILED, QUEUED, RUNNING, Run, RunChunk
from playground.playback import over_time
from playground.playback.chunks import Message, read_chunks, read_messages, write_chunk
from playground.playback.deadlines import Bound, bounded, resident_bytes
from playground.playback.packed_runs import engine_code, keep_checkpoint
from playground.playback.tables import Tables
from playground.playback.trail import Trail, letter
from playground.queues import LONG, SHORT
from playground.runs import cells, delivery, dumps, fairness, placements, several
from playground.runs.cache_figures import StoredCacheFigures
from playground.runs.fairness import stale
from playground.runs.metrics import Meter, Samples
from playground.runs.packs import PackedCycle, PackingTimer
from playground.runs.retries import OutageError, retry_outages
from playground.runs.unplaced_pods import Unplaced
from playground.runtime import garbage, log_context, outage
from playground.storage import bundles, store
from scheduler_core.explain.recorded_answer import DumpFacts, RecordedAnswers
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run import simulate

log = structlog.get_logger(__name__)

SLICE_SECONDS = 0.25
SLICE_CYCLES = 1_000
BEAT_SECONDS = 5.0
CHAIN_SECONDS = 10.0  # after which a process begins no further cell of a sweep
ATTEMPTS = 3  # workers that may die in a row without storing a cycle before the run counts as failed
OUTCOMES = {"s": "scheduled", "u": "unschedulable", "p": "preempting", "e": "error", "w": "waiting"}

_CLEAR_REFS = Path("/proc/self/clear_refs")


class LostClaimError(RuntimeError):
    """Another worker has taken the run over; this one must not write to it any more."""


class LimitReachedError(RuntimeError):
    """The run exceeded a limit; the text says which and has a remedy."""


def claims_of(worker: int) -> str:
    """Return the prefix of the claims of processes of this machine's worker with process id ``worker``."""
    return f"{socket.gethostname()}/{worker}."


def claim_run(run_id: str) -> str | None:
    """Claim the run if it waits for a worker; return the claim, None if the run cannot be claimed."""
    claim = f"{claims_of(os.getppid())}{os.getpid()}/{secrets.token_hex(8)}"
    now = timezone.now()
    waiting = Run.objects.filter(Q(pk=run_id) & (Q(state=QUEUED) | stale(now)))
    # One UPDATE decides between workers; a cancelling run keeps its state and ends at the first check.
    claimed = waiting.filter(state__in=(QUEUED, RUNNING)).update(
        state=RUNNING, claim=claim, heartbeat=now, claimed=now, attempts=F("attempts") + 1
    ) or waiting.filter(state=CANCELLING).update(claim=claim, heartbeat=now, attempts=F("attempts") + 1)
    if not claimed:
        return None
    Run.objects.filter(pk=run_id, claim=claim, started=None).update(started=now)
    return claim


def compute(run_id: str) -> str | None:
    """Compute a run to its end, or to the end of its turn; return its resulting state.

    None if another worker has claimed it, or if it is left to the next worker.
    """
    return _compute_first([run_id])


def compute_next(queue: str) -> str | None:
    """Compute the next run of a queue, as :func:`compute` does; None if none waits.

    Cells of sweeps are computed one after the other for some seconds, as long as one is next: to start a
    process takes longer than a small one.
    """
    until = time.monotonic() + CHAIN_SECONDS
    run_ids, cell = _next(queue)
    if cell and len(run_ids) > 1:
        delivery.enqueue(run_ids[1], queue)  # for another process: cells are not announced one by one
    state = _compute_first(run_ids)
    while cell and state == DONE and time.monotonic() < until and _is_small():
        run_ids, cell = _next(queue)
        state = _compute_first(run_ids) if cell else DONE
    return state


def _next(queue: str) -> tuple[list[str], bool]:
    """Return the runs of a queue in the order in which to try them, and whether the first is a cell."""
    try:
        run_ids = retry_outages(lambda: fairness.next_runs(queue))
        cells_first = Run.objects.filter(pk__in=run_ids[:1], sweep__isnull=False)
        return run_ids, retry_outages(cells_first.exists)
    except OutageError as error:
        log.warning("queue left alone", queue=queue, error=str(error))
        return [], False


def _is_small() -> bool:
    """Return whether this process may compute another run, and measure the peak of its memory again."""
    with suppress(OSError):
        _CLEAR_REFS.write_text("5")  # proc(5): the peak becomes what is resident now
    return resident_bytes() < limit("RUN_MIB") * MIB // 4


def _compute_first(run_ids: Iterable[str]) -> str | None:
    """Compute the first of these runs that can be claimed; another worker may have claimed some."""
    for run_id in run_ids:
        try:
            claim = retry_outages(lambda run_id=run_id: claim_run(run_id))  # type: ignore[misc]
            if claim is not None:
                return _compute(run_id, claim)
        except OutageError as error:
            # Its row stays unfinished: the first worker to claim it once storage is available resumes it.
            log.warning("run left unfinished", run=run_id, error=str(error))
            return None
    return None


def _compute(run_id: str, claim: str) -> str | None:
    with _Beat(run_id, claim):
        try:
            with bounded(retry_outages(lambda: _bound(run_id))):
                with garbage.paused():
                    attempt = retry_outages(lambda: _Attempt(run_id, claim))
                state = attempt.run_to_end()
                log.info("run computed", state=state)
                return state
        except OutageError:
            raise
        except LostClaimError:
            log.warning("run was taken over", run=run_id)
            return None
        except (LimitReachedError, BundleError, bundles.TooLargeError) as error:
            return _fail(run_id, claim, str(error))
        except MemoryError:
            return _fail(run_id, claim, "The worker ran out of memory. Simulate fewer nodes or pods.")
        except Exception as error:
            log.exception("run failed", run=run_id)
            return _fail(run_id, claim, f"The simulation failed: {type(error).__name__}: {error}"[:2_000])


def _bound(run_id: str) -> Bound:
    """Return the limits left to a run: its seconds, less those of earlier attempts, and its memory."""
    spent = Run.objects.filter(pk=run_id).values_list("seconds", flat=True).first() or 0.0
    left = max(1.0, limit("RUN_SECONDS") - spent)
    return Bound(left, limit("RUN_MIB") * MIB, _too_much)


def _too_much(what: str) -> Exception:
    return LimitReachedError(
        f"The run needs {what}, the limit of a run. Simulate fewer nodes, pods or replicas, or set an "
        "earlier end (`until` of SimulationSettings)."
    )


def _fail(run_id: str, claim: str, text: str) -> str:
    values = {"state": FAILED, "error": text, "finished": timezone.now(), "peak_mib": peak_mib(), "claim": ""}

    def end() -> None:
        with transaction.atomic():
            if Run.objects.filter(pk=run_id, claim=claim).update(**values):
                cells.end(run_id, error=text)

    retry_outages(end)
    return FAILED


def peak_mib() -> float:
    """Return the peak resident memory of this process in MiB (Linux reports KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class _Attempt:
    """One worker's work on one run, from loading to the final state."""

    def __init__(self, run_id: str, claim: str) -> None:
        self.claim = claim
        self.run = Run.objects.select_related("scenario").get(pk=run_id)
        log_context.bind_run(run_id, self.run.request_id)
        if self.run.attempts > ATTEMPTS:
            raise LimitReachedError(
                f"{ATTEMPTS} workers in a row ended before this run computed another cycle, most likely for "
                "want of memory. Simulate fewer nodes or pods, or give the worker more memory."
            )
        made = cells.prepare(self.run) if self.run.sweep_id is not None else None
        self.scenario = made or store.load_scenario(self.run.scenario)
        self.tables = Tables(self.scenario)
        self.trail = Trail(self.scenario, self.tables)
        self.meter = Meter(self.scenario, self.tables)
        self.simulation = simulate(self.scenario, trace=False)
        self.cache = StoredCacheFigures()
        self.packing = PackingTimer(self.scenario)
        self.unplaced = Unplaced()
        self.recorded = RecordedAnswers(DumpFacts.of(self.scenario))
        self.at_end = over_time.begun(self.scenario)  # of the samples: what is complete once the run ends
        self.seconds = self.run.seconds
        self.chunks = 0
        self._resume()
        self.samples = Samples(self.run.samples, self.meter.resources())
        if not self.samples.rows:
            self.samples.add(self.meter.sample(0, 0.0, self.samples.resources))

    def _resume(self) -> None:
        for rows in read_chunks(self.run.pk):
            first = len(self.trail) + 1
            self.trail.extend(rows)
            self.chunks += 1
            for index in range(first, len(self.trail) + 1):
                self._meter(index)
        for index, decision in enumerate(self.trail.decisions, 1):
            self.simulation.replay((decision,))
            self.cache.look(self.simulation)
            self.recorded.placed(self.trail.step(index), decision)
        for index, message in read_messages(self.run.pk):
            self.unplaced.recall(self._pod(index), index, message)
            self.recorded.failed(self.trail.step(index), self.trail.decisions[index - 1].pod, message)

    def _pod(self, index: int) -> int:
        return self.tables.pod_index[self.trail.decisions[index - 1].pod]

    def _meter(self, index: int) -> None:
        decision = self.trail.decisions[index - 1]
        changes, operations = self.trail.changes[index - 1], self.trail.operations_of(index)
        self.meter.apply(decision.pod, letter(decision), changes, operations)
        self.meter.end(self.trail.terminating.of(index))

    def run_to_end(self) -> str:
        """Compute slices until the simulation ends, is cancelled or its turn is over; return the state."""
        while True:
            if retry_outages(self._cancelled):
                return self._finish(CANCELLED)
            more = self._slice()
            if not more:
                return self._finish(DONE)
            if peak_mib() > limit("RUN_MIB"):
                raise LimitReachedError(
                    f"The run needs more than {limit('RUN_MIB'):,} MiB; simulate fewer pods."
                )
            if self.seconds > limit("RUN_SECONDS"):
                raise LimitReachedError(f"The run computed for {limit('RUN_SECONDS'):,} seconds, the limit.")
            if self._turn_is_over() and self._queue_again():
                return QUEUED

    def _turn_is_over(self) -> bool:
        spent = self.seconds - self.run.seconds  # both include the seconds of earlier attempts
        if self.run.queue == SHORT:
            return spent > limit("SHORT_SECONDS")
        # As long as all previous turns, so that resuming always costs less than computing did.
        return spent > max(limit("TURN_SECONDS"), self.run.seconds) and fairness.somebody_is_due(self.run)

    def _queue_again(self) -> bool:
        """Requeue the run in the long queue; its next attempt resumes from the chunks stored so far."""
        now = timezone.now()
        held = Run.objects.filter(pk=self.run.pk, claim=self.claim, state=RUNNING)
        if not held.update(state=QUEUED, queue=LONG, claim="", attempts=0, queued=now, enqueued=now):
            return False  # cancelled or taken over: the next check decides which
        delivery.enqueue(self.run.pk, LONG)
        return True

    def _cancelled(self) -> bool:
        state = Run.objects.filter(pk=self.run.pk, claim=self.claim).values_list("state", flat=True).first()
        if state is None:
            raise LostClaimError
        return state == CANCELLING

    def _slice(self) -> bool:
        began, began_cpu = time.monotonic(), time.thread_time()
        first = len(self.trail) + 1
        beyond: LimitReachedError | None = None
        try:
            more = self._step_on(began, first)
        except LimitReachedError as error:  # the cycles before it are valid, and are stored
            beyond, more = error, False
        checkpoint = self.packing.passed(self.simulation, time.thread_time() - began_cpu) if more else None
        self.seconds += time.monotonic() - began
        self._store(first, checkpoint)
        if beyond is not None:
            raise beyond
        return more

    def _step_on(self, began: float, first: int) -> bool:
        """Step for a slice; return False at the end of the run."""
        while time.monotonic() - began < SLICE_SECONDS and len(self.trail) - first + 1 < SLICE_CYCLES:
            cycle = self.simulation.step()
            if cycle is None:
                return False
            if len(self.trail) >= limit("RUN_CYCLES"):
                raise LimitReachedError(f"The run reached the limit of {limit('RUN_CYCLES'):,} cycles.")
            cluster = self.simulation.cluster
            self.trail.append(cycle, cluster.pods, cluster.nodes, self.simulation.terminating)
            self.cache.look(self.simulation)
            index = len(self.trail)
            self._meter(index)
            self.recorded.note(cycle)
            if cycle.message is not None:
                self.unplaced.note(self._pod(index), index, cycle.message)
            if self.samples.wanted(index):
                self.samples.add(self.meter.sample(index, cycle.time, self.samples.resources))
            if self.tables.met > limit("PODS"):
                raise LimitReachedError(
                    f"Controllers have created more than {limit('PODS'):,} pods, which is the limit."
                )
        return True

    def _progress(self) -> dict[str, object]:
        return {
            "cycles": len(self.trail),
            "placed": self.meter.placed,
            "pending": self.meter.pending,
            "unschedulable": self.meter.unschedulable,
            "outcomes": {OUTCOMES[mark]: count for mark, count in sorted(self.meter.outcomes.items())},
            "cache": self.cache.stored(self.trail),
            "samples": {
                **self.samples.stored(),
                **several.stored(self.simulation),
                **dumps.stored(self.scenario, self.recorded),
                **self.at_end,
            },
            "unplaced": self.unplaced.stored(self.meter.failed, self.tables.pods),
            "seconds": self.seconds,
            "peak_mib": max(self.run.peak_mib, peak_mib()),
            "heartbeat": timezone.now(),
        }

    def _store(self, first: int, checkpoint: PackedCycle | None) -> None:
        messages = self.unplaced.drain()  # once, even if the transaction is retried
        retry_outages(lambda: self._store_slice(first, messages, checkpoint))
        self.chunks += len(self.trail) >= first

    def _store_slice(self, first: int, messages: list[Message], checkpoint: PackedCycle | None) -> None:
        with transaction.atomic():
            # Update first: it locks the row, so no successor can claim it in between.
            grown = len(self.trail) >= first
            counted = {"attempts": 1} if grown else {}  # a run that made progress did not kill its workers
            held = Run.objects.filter(pk=self.run.pk, claim=self.claim).update(**self._progress(), **counted)
            if not held:
                raise LostClaimError
            # Under our claim an existing chunk of this number is ours, from a COMMIT whose reply was lost.
            stored = RunChunk.objects.filter(run=self.run, number=self.chunks)
            if grown and not stored.exists():
                write_chunk(self.run, self.chunks, self.trail, first, messages)
                if checkpoint is not None and keep_checkpoint(self.run, *checkpoint):
                    self.packing.thin()

    def _finish(self, state: str) -> str:
        index = len(self.trail)
        if index:
            time_ = self.trail.time(index)
            rest = self.simulation.rest if state == DONE else None
            if rest is not None:
                time_ = rest.time
                self.meter.move(self.trail.moved(rest.moves, self.simulation.cluster.pods))
                self.meter.end(self.trail.terminating.different(self.simulation.terminating))
            self.samples.add(self.meter.sample(index, time_, self.samples.resources))
        self.at_end = over_time.stored(self.simulation.availability())
        self.at_end |= placements.stored(self.scenario, self.trail)
        values = {**self._progress(), "state": state, "finished": timezone.now(), "claim": ""}
        values |= {"code": engine_code()} if state == DONE else {}
        ended = state == DONE and self.run.sweep_id is not None
        figures = cells.figures_of(self.run, self.simulation, self.trail) if ended else None
        retry_outages(lambda: self._end(values, figures))
        return state

    def _end(self, values: dict[str, Any], figures: dict[str, Any] | None) -> None:
        rows = Run.objects.filter(pk=self.run.pk)
        with transaction.atomic():
            if rows.filter(claim=self.claim).update(**values):
                cells.end(self.run.pk, figures, "" if figures else values["state"])
                return
        # A COMMIT whose reply was lost has cleared the claim.
        if not rows.filter(state=values["state"], finished=values["finished"]).exists():
            raise LostClaimError


class _Beat:
    """Updates the run's heartbeat every few seconds, also during a long load or cycle."""

    def __init__(self, run_id: str, claim: str) -> None:
        self._run_id, self._claim = run_id, claim
        self._outages = outage.OutageLog("a run's heartbeat")
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="run-beat", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(timeout=BEAT_SECONDS)

    def _loop(self) -> None:
        while not self._end.wait(BEAT_SECONDS):
            try:
                Run.objects.filter(pk=self._run_id, claim=self._claim).update(heartbeat=timezone.now())
                self._outages.succeeded()
            except Exception as error:
                if outage.cause_of(error):
                    self._outages.failed(error)
                else:
                    log.exception("a run's heartbeat failed", run=self._run_id)
            finally:
                connection.close()
