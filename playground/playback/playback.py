"""One source being played: computed forward in slices, any cycle rebuilt on demand.

The *forward* simulation schedules cycles without keeping matrices and fills the trail; those of
:mod:`playground.playback.replay` rebuild what is asked for. Every method may be called from any thread.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import structlog

from playground.limits import limit
from playground.playback.answers import AnswerCache
from playground.playback.changes import Placement
from playground.playback.checkpoints import Checkpoints
from playground.playback.deadlines import TooMuchWorkError, never, one_step
from playground.playback.growth import Growth
from playground.playback.nodes import NodeChanges
from playground.playback.place import CycleIndices
from playground.playback.replay import Replays
from playground.playback.sizes import weight_of
from playground.playback.tables import Tables
from playground.playback.terminations import TerminatingChanges
from playground.playback.trail import Trail, TrailRow, standing
from playground.pool.gate import GivingLock
from playground.protocol.tables import LaterPods
from playground.wire import encode
from scheduler_core.explain.recorded_answer import DumpFacts
from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.availability import Availability
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.run import Stepper, simulate
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.settings.settings import Settings

log = structlog.get_logger(__name__)

Show = Callable[[Cycle, CycleIndices], Any]
"""A view's rendering of a cycle, as a JSON value."""

END = "end"  # the step after the last cycle
DIGITS = 10  # of a number in an address: a step is an int32, and the last operation begins the one after it
SLICE_SECONDS = 0.08  # the longest that a window waits for computing forward

# Bytes beside the scenario, which is weighed, as measured by `weigh`: of a node or a pod in the tables and in
# one simulation; of a cycle in the trail, a light one, a node's change.
TABLE_NODE_BYTES, TABLE_POD_BYTES = 800, 120
STEPPER_BYTES, TIMED_STEPPER_BYTES = 450, 1_100
LIVING_STEPPER_BYTES = 1_400  # the control plane has manifests of its own
LIVING_POD_BYTES = 4_000  # of a pod that was tried there: its status, as a manifest and typed
HAPPENING_BYTES, REST_HAPPENING_BYTES = 280, 90  # of what happened at the end: in a simulation there, kept
# v1.37's has an object compiled from each manifest, and finds operations by their names.
COMPILED_OBJECT_BYTES, COMPILED_OPERATION_BYTES = 2_050, 260
UNDOABLE_CYCLE_BYTES = 630  # of a plain cycle that it can undo
COMPILED_SHARED_BYTES = 750  # that a replica shares with the others
STARTED_POD_BYTES = 1_600  # of a pod that controllers created at the start or later
CYCLE_BYTES, LIGHT_BYTES, NODE_CHANGE_BYTES = 700, 2_500, 700


class OutOfRangeError(LookupError):
    """The source has no such cycle."""


class Playback:
    """The cycles of ``scenario``.

    ``stored`` is set for a run: its rows come from the worker through :meth:`follow`, and :meth:`advance`
    computes nothing. What a branch shares with its ``parent``, if that is open and computed, is taken from
    there.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        stored: bool = False,
        parent: Callable[[], Playback | None] = lambda: None,
    ) -> None:
        self.scenario = scenario
        self._parent = parent
        self.profile = scenario.configuration.profile
        with one_step():
            self.tables = Tables(scenario)
        self._weight = weight_of(scenario)
        created = (one.object for one in scenario.operations if one.action == "create")
        self._given_pods = sum(isinstance(item, Pod) for item in (*scenario.objects, *created))
        self.trail = Trail(scenario, self.tables)
        self.checkpoints = Checkpoints(scenario)
        self.replays = Replays(scenario, self.trail, self.checkpoints)
        self.answers = AnswerCache()
        self.complete = False
        self.stopped: str | None = None  # why computing stopped before the end of the simulation
        self.stored = stored
        self.ended = False  # whether there is an end state after the last cycle: see `rest`
        self._rest: tuple[str, FinalState] | None = None
        self.rest_nodes: NodeChanges = []  # the differences at the end from the state after the last cycle
        self.rest_terminating: TerminatingChanges = []
        self._availability: Availability | None = None
        self._seconds = 0.0
        self._forward: Stepper | None = None
        self._records = False  # whether its next cycle is recorded, not to be rebuilt
        self._growth: Growth | None = None  # the last slice of computing forward
        self._asking = threading.Lock()  # held to begin one, never while it runs
        self._grow_lock = GivingLock()
        self._light: OrderedDict[int, str] = OrderedDict()
        self._node_at: tuple[tuple[str, ...], list[int]] | None = None

    def __len__(self) -> int:
        return len(self.trail)

    @cached_property
    def facts(self) -> DumpFacts:
        """What the dump of a cluster recorded, if the scenario is one."""
        return DumpFacts.of(self.scenario)

    @property
    def refers_to_itself(self) -> bool:
        """Whether only a collection of garbage frees it: actors know their API server, and it them."""
        return self.scenario.lives or self.tables.timed

    @property
    def bytes(self) -> int:
        """An estimate of the memory that this playback holds, its scenario included."""
        nodes, pods = len(self.tables.nodes), len(self.tables.pods)
        forward = self._forward
        return (
            self._weight.bytes
            + nodes * TABLE_NODE_BYTES
            + pods * TABLE_POD_BYTES
            + max(0, pods - self._given_pods) * STARTED_POD_BYTES
            + (0 if forward is None else self._stepper_bytes(forward))
            + self.replays.size(self._stepper_bytes)
            + len(self.trail) * CYCLE_BYTES
            + len(self._light) * LIGHT_BYTES
            + len(self.trail.nodes) * NODE_CHANGE_BYTES
            + self._rest_bytes()
            + self.replays.cycle_bytes
            + self.checkpoints.bytes
            + self.answers.bytes
        )

    def _rest_bytes(self) -> int:
        """Return an estimate of what the end state holds, and the simulation that stands there."""
        each = REST_HAPPENING_BYTES + HAPPENING_BYTES * self.replays.at_end
        return 0 if self._rest is None else len(self._rest[1].happenings) * each

    def _stepper_bytes(self, stepper: Stepper) -> int:
        """Return an estimate of what one simulation holds beside what it shares with the scenario."""
        lives = self.scenario.lives
        each = LIVING_STEPPER_BYTES if lives else TIMED_STEPPER_BYTES if self.tables.timed else STEPPER_BYTES
        copies = stepper.compiled_copies
        typed = (len(self.tables.nodes) + len(self.tables.pods)) * each
        typed += min(stepper.index, len(self.tables.pods)) * LIVING_POD_BYTES * lives
        alone = copies and self.scenario.row.answers_alone and not self.tables.timed
        compiled = copies and copies * self._compiled_bytes(stepper)
        return (0 if alone else typed) + compiled + _cache_bytes(stepper)

    def _compiled_bytes(self, stepper: Stepper) -> int:
        """Return an estimate of what one kube-scheduler v1.37 holds."""
        scenario = self.scenario
        placed = len(stepper.cluster.nodes) + len(stepper.cluster.pods)
        return (
            max(placed, len(scenario.objects)) * COMPILED_OBJECT_BYTES
            - self._weight.replicas * COMPILED_SHARED_BYTES
            + len(scenario.operations) * COMPILED_OPERATION_BYTES
            + stepper.undoable * UNDOABLE_CYCLE_BYTES
        )

    @property
    def version(self) -> tuple[int, bool]:
        """What an answer about existing cycles depends on, besides the question.

        A placement has an entry for every pod met so far, and node states are absent if the stored rows lack
        them. A version that is equal before and after a read did not change in between: it never reverts.
        """
        return len(self.tables.pods), self.trail.nodes.known

    def settled(self, index: int) -> bool:
        """Return whether computing further changes no answer about the cycles up to ``index``."""
        return index <= len(self.trail) or self.complete

    def copy(self) -> Playback:
        """Return another playback of the same cycles, with a separate reader and separate caches."""
        other = Playback.__new__(Playback)
        other.__dict__.update(self.__dict__)
        other.__dict__.update(
            answers=AnswerCache(),
            replays=Replays(self.scenario, self.trail, self.checkpoints),
            _light=OrderedDict(),
        )
        return other

    # --- growing ---------------------------------------------------------------------------

    def advance(self, seconds: float) -> bool:
        """Compute forward for about ``seconds``; return whether there is more to compute.

        A step that takes longer goes on afterwards, and whoever asks meanwhile waits for ``seconds`` at most.
        An error of the engine ends computing: its simulation is not usable afterwards. Raises SpentError.
        """
        with self._asking:
            if self.complete or self.stored:
                return False
            if self._growth is None or self._growth.over:
                self._growth = Growth(self._grow, seconds)
            growth = self._growth
        growth.wait(seconds)
        return not self.complete

    def _grow(self, growth: Growth) -> None:
        """Compute a slice."""
        with self._grow_lock:
            if self.complete:
                return
            working = time.thread_time()
            try:
                with one_step(growth.look):  # the limit of one step exceeds a slice
                    self._advance(growth)
            except TooMuchWorkError as error:
                self.complete = True
                self.stopped = str(error)
            except Exception:
                self._fail()
                raise
            self._seconds += time.thread_time() - working  # CPU time: other load does not count
            if self._forward is not None and not self.complete:
                # otherwise the operations after the last cycle have been applied
                self.checkpoints.passed(self._forward, time.thread_time() - working)
            if not self.complete and self._seconds > limit("INTERACTIVE_SECONDS"):
                self._stop(
                    f"The workbench computes for at most {limit('INTERACTIVE_SECONDS')} seconds by itself"
                )
            if self.complete and self._forward is not None:
                self._availability = self._forward.availability()
                self._forward = None  # its columns are no longer needed

    def _advance(self, growth: Growth) -> None:
        """Step forward until the slice or computing is over."""
        if self._forward is None:
            self._forward = self._begun()
        stepped = False  # at least once: the overhead may exceed a slice
        while not self.complete and (not stepped or not growth.late):
            stepped = True
            cycle = self._forward.step()
            if cycle is None:
                self._end(self._forward)
                self.complete = True
                break
            cluster = self._forward.cluster
            self.trail.append(cycle, cluster.pods, cluster.nodes, self._forward.terminating)
            if self._records and not self.replays.keep_first(cycle):
                self._records = False
                self._forward.record(trace=False)
            if len(self.trail) >= limit("INTERACTIVE_CYCLES"):
                self._stop(f"The workbench computes at most {limit('INTERACTIVE_CYCLES'):,} cycles by itself")
            if self.tables.met > limit("PODS"):
                self._stop(f"Controllers have created more than {limit('PODS'):,} pods, which is the limit")

    def _begun(self) -> Stepper:
        """Return a simulation at its start; if a second one would delay the first window, it records that.

        That of a branch is where it parts from its parent, or some cycles before.
        """
        parent = self._parent()
        shared = None if parent is None else self._continued(parent)
        if shared is not None:
            return shared
        working = time.thread_time()
        simulation = simulate(self.scenario, trace=False)
        self._records = time.thread_time() - working > SLICE_SECONDS
        if self._records:
            simulation.record(trace=True)
        return simulation

    def _continued(self, parent: Playback) -> Stepper | None:
        """Return a simulation that goes on from the parent's, whose cycles until then are taken over."""
        if not (parent.complete and self.tables.begins_as(parent.tables)):
            return None
        simulation = parent.checkpoints.branched(self.scenario)
        if simulation is not None:
            self.trail.take_over(parent.trail, simulation.index)
            self.checkpoints.begin_at(simulation)
        return simulation

    def reach(self, index: int) -> None:
        """Compute forward until cycle ``index`` exists or the run ends.

        Most callers ask for existing cycles; but a playback may have been evicted since and created again.
        """
        while len(self.trail) < index and self.advance(SLICE_SECONDS):
            pass

    def seek(self, step: str) -> int | None:
        """Return :meth:`resolve` of ``step``, computing forward until it exists, as :meth:`reach` does."""
        while (index := self.resolve(step)) is None and self.advance(SLICE_SECONDS):
            pass
        return self.resolve(step) if index is None else index

    def _stop(self, why: str) -> None:
        self.complete = True
        self.stopped = f"{why}; start a run to compute the rest in a worker."

    def _fail(self) -> None:
        self.complete = True
        self.stopped = (
            "The simulation failed here. This is an internal error; the cycles before it are correct."
        )
        self._forward = None

    def follow(
        self, read: Callable[[int], Iterable[list[TrailRow]]], *, complete: bool, over: bool = False
    ) -> None:
        """Add the rows that a worker stored: ``read(n)`` returns those after cycle ``n``, in order.

        ``complete``: no more will follow; ``over``: the worker reached the end of the run.
        """
        with self._grow_lock:
            if self.complete:
                return
            for rows in read(len(self.trail)):
                self.trail.extend(rows)
            self.ended = complete and over and self.tables.timed
            self.complete = complete

    # --- the end ---------------------------------------------------------------------------

    def _end(self, simulation: Stepper) -> None:
        """Keep the final state of a run in virtual time."""
        rest = simulation.rest
        if rest is not None:
            self.trail.meet((key for key, _ in rest.moves), simulation.cluster.pods)
            self.rest_nodes = self.trail.nodes.different(simulation.cluster.nodes)
            self.rest_terminating = self.trail.terminating.different(simulation.terminating)
            self._rest = (f"{simulation.major}.{simulation.minor + 1}", rest)
            self.ended = True

    def rest(self, unwanted: Callable[[], bool] = never) -> tuple[str, FinalState]:
        """Return the step of the end, after the last cycle, and the state there.

        Raises OutOfRangeError if there is no end (yet), or Superseded.
        """
        if not self.ended:
            raise OutOfRangeError("This run has no end state: it stops with its last cycle.")
        if self._rest is None:
            with self.after(len(self) + 1, unwanted) as simulation:
                self._end(simulation)
        assert self._rest is not None, "a run whose worker reached its end has one"
        return self._rest

    def placement_at_end(self, unwanted: Callable[[], bool] = never) -> Placement:
        """Return the place of each pod after the last cycle and all that follows it, ``(pods,)``.

        Raises Superseded.
        """
        found = self.trail.placement.copy()
        if self.ended:
            for key, node in self.rest(unwanted)[1].moves:
                found[self.tables.pod_index[key]] = self.trail.place_of(node)
        return found

    def standing(self, unwanted: Callable[[], bool] = never) -> dict[str, int]:
        """Return how many pods are placed, pending and Terminating at the end. Raises Superseded."""
        placement = self.placement_at_end(unwanted)
        changed = {pod for pod, _ in self.rest_terminating}
        return standing(placement, changed.symmetric_difference(self.trail.terminating.now))

    # --- over time -------------------------------------------------------------------------

    def availability(self, unwanted: Callable[[], bool] = never) -> Availability | None:
        """Return the availability of workloads, as far as cycles are computed.

        ``None`` if no time passes, and of a run as long as its worker computes. Raises Superseded.
        """
        with self._grow_lock:
            if self._forward is not None:
                return self._forward.availability()
        if self._availability is None and self.complete and self.tables.timed:
            with self.after(len(self) + self.ended, unwanted) as simulation:
                self._availability = simulation.availability()
        return self._availability

    def remember(self, availability: Availability | None) -> None:
        """Take the availability that the worker of a run has stored."""
        self._availability = availability

    # --- addresses -------------------------------------------------------------------------

    def resolve(self, step: str) -> int | None:
        """Return the cycle index of ``"17"`` or ``"3.4"``, ``None`` if it does not exist (yet).

        Raises ValueError for a text that is not an address.
        """
        first, dot, second = step.partition(".")
        if not (first.isascii() and first.isdigit() and len(first) <= DIGITS):
            raise _not_a_step(step)
        if not dot:
            index = int(first)
            return index if index <= len(self.trail) else None
        if not (second.isascii() and second.isdigit() and len(second) <= DIGITS):
            raise _not_a_step(step)
        return self.trail.find(int(first), int(second))

    def locate(self, step: str) -> int | None:
        """Return :meth:`resolve` of ``step``, which may also be the end: ``"end"``, or the last index plus 1.

        Raises ValueError for a text that is not an address.
        """
        end = len(self.trail) + 1 if self.ended else None
        if step == END or (end is not None and step == str(end)):
            return end
        return self.resolve(step)

    def check(self, index: int, *, end: bool = False) -> None:
        """Raise OutOfRangeError for a cycle that does not exist; ``end`` allows the end after the last."""
        if end and self.ended and index == len(self.trail) + 1:
            return
        if not 1 <= index <= len(self.trail):
            raise OutOfRangeError(f"There is no cycle {index:,}; there are {len(self.trail):,}.")

    # --- reading ---------------------------------------------------------------------------

    def cycle(self, index: int, unwanted: Callable[[], bool] = never) -> Cycle:
        """Return cycle ``index`` with its matrices.

        Raises OutOfRangeError, or Superseded if ``unwanted()`` becomes true before work starts.
        """
        self.check(index)
        return self.replays.cycle(index, unwanted)

    def before(self, index: int) -> AbstractContextManager[Stepper]:
        """Yield a simulation at the start of cycle ``index``, to be read and not stepped.

        Raises OutOfRangeError.
        """
        self.check(index)
        return self.replays.before(index)

    def after(self, index: int, unwanted: Callable[[], bool] = never) -> AbstractContextManager[Stepper]:
        """Yield a simulation in the state after cycle ``index``, to be read and not stepped; 0: the start.

        The index after the last cycle is the end, with everything that happened until then. Raises
        OutOfRangeError, or Superseded if ``unwanted()`` becomes true before work starts.
        """
        if index:
            self.check(index, end=True)
        return self.replays.after(index, unwanted)

    def came(self, known: int) -> LaterPods | None:
        """Return the pods added since a client knew ``known`` of them, ``None`` if there are none."""
        if known >= len(self.tables.pods):
            return None
        return {"from": known, **self.tables.pod_wire(known)}

    def light(self, index: int, show: Show, unwanted: Callable[[], bool] = never) -> str:
        """Return the JSON of ``show`` for a cycle, cached: every caller must pass an equivalent ``show``.

        Raises as :meth:`cycle`.
        """
        text = self._light.get(index)
        if text is None:
            cycle = self.cycle(index, unwanted)
            text = encode(show(cycle, self.place(cycle)))
            self._light[index] = text
            if len(self._light) > limit("LIGHT_CACHE"):
                self._light.popitem(last=False)
        return text

    def place(self, cycle: Cycle) -> CycleIndices:
        """Return the position of ``cycle``, in the indices of the wire."""
        known = self._node_at
        if known is None or known[0] != cycle.nodes:
            known = (cycle.nodes, [self.tables.node_index[name] for name in cycle.nodes])
            self._node_at = known
        pod = self.tables.pod_index[cycle.pod]
        number = self.trail.configurations(cycle.index)
        several = len((self._configuration(number).policy or {}).get("profiles") or ()) > 1
        tried = (self.trail.latest_of(cycle.index, cycle.pod) if several else None) or self.tables.pods[pod]
        return CycleIndices(
            pod=pod,
            tried_by=cycle.scheduler or (tried.scheduler_name if several else ""),
            priority=self.tables.pods[pod].priority,
            node=None if cycle.node is None else self.tables.node_index[cycle.node],
            node_at=known[1],
            changes=self.trail.changes[cycle.index - 1],
            operations=self.trail.operations_of(cycle.index),
            policy=number,
            profile=lambda: self.profile_of(number),
            settings=self.settings_of(number),
            nodes=self.trail.nodes.of(cycle.index),
            terminating=self.trail.terminating.of(cycle.index),
            node_index=self.tables.node_index,
            pod_index=self.tables.pod_index,
            waiting=self._waiting(cycle),
            in_turn=not self._configuration(number).in_framework,
        )

    def _waiting(self, cycle: Cycle) -> list[list[Any]]:
        """Return the pods that wait at Permit after a cycle, as in the protocol's ``Light``."""
        pods, nodes = self.tables.pod_index, self.tables.node_index
        return [
            [pods[entry.pod], nodes[entry.node], entry.deadline]
            for entry in cycle.waiting
            if entry.pod in pods
        ]

    def settings_of(self, number: int) -> Settings:
        """Return the settings after ``number`` changes of the configuration; 0 is the initial ones."""
        return self._configuration(number).settings

    def settings_after(self, index: int) -> Settings:
        """Return the settings in force after a cycle."""
        return self.settings_of(self.trail.configurations(index))

    def _configuration(self, number: int) -> Configuration:
        """Return the configuration after ``number`` changes of it; 0 is the initial one."""
        return self.trail.configuration(number) if number else self.scenario.configuration

    def profile_of(self, number: int) -> Profile:
        """Return the profile after ``number`` changes of the configuration; 0 is the initial one."""
        return self._configuration(number).profile


def _not_a_step(text: str) -> ValueError:
    return ValueError(
        f"{text[:40]!r} is not a step: write a cycle's number or major.minor, such as 17 or 3.4"
    )


def _cache_bytes(simulation: Stepper) -> int:
    cache = simulation.cache
    return cache.cache.stats.bytes if isinstance(cache, CacheKeeper) else 0
