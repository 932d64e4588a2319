"""A scenario of a lesson, played to its end within bounds: what facts and sentences are read from."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from threading import Lock

import numpy as np

from playground.courseware.model import LessonError
from scheduler_core.explain import ExplainError, Explanation, asking
from scheduler_core.explain.cooperative import finished
from scheduler_core.formats.limits import Limits
from scheduler_core.interrupts import interrupted_by
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run import Stepper, simulate
from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario

LIMITS = Limits(
    size=256 * 1024, files=1, entries=100, documents=2_000, values=60_000, depth=40, line=20_000,
    replicas=500, pods=2_000, operations=500, problems=20,
)  # fmt: skip
"""Bounds on a scenario of a lesson, and on what a learner makes of it."""
MOST_CYCLES = 3_000
KEPT = 64  # runs
SECONDS = 10.0  # of processor time for one play, or for one explanation
PAGE_SECONDS = 5.0  # for all facts of a page, and the scenarios that they are read from


class TooMuchError(LessonError):
    """A scenario takes longer than a lesson's may."""


_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Bound the processor time of what is played and computed inside, and of what that does in its turn.

    Raises TooMuchError inside.
    """
    outer, now = _deadline.get(), time.thread_time()
    token = _deadline.set(min(outer, now + seconds))

    def look() -> None:
        if time.thread_time() > _deadline.get():
            raise TooMuchError(
                f"this takes longer than {seconds:.0f} s: make the scenario smaller, or compute fewer facts"
            )

    try:
        with interrupted_by(look):
            yield
    finally:
        _deadline.reset(token)


class PlayedScenario:
    """A scenario and the record of its whole run; nothing of it changes."""

    def __init__(self, text: str, scenario: Scenario, cycles: tuple[Cycle, ...], end: Stepper) -> None:
        self.text, self.scenario, self.cycles = text, scenario, cycles
        self.decisions = tuple(end.decisions)
        self.placement: Mapping[str, str] = end.placement()
        self.finished = tuple(end.cluster.finished)
        self.deleted = tuple(end.deleted)
        late = end.rest.happenings if end.rest is not None else ()
        between = (event for cycle in cycles for event in (*cycle.happenings, *cycle.consequences))
        self.timeline: tuple[TimelineEvent, ...] = (*between, *late)
        self.claims: Mapping[str, tuple[str, ...]] = dict(_allocations(end))
        self._resources: dict[int, Resources] = {}

    @cached_property
    def by_step(self) -> Mapping[str, Cycle]:
        """The cycles by ``major.minor``."""
        return {cycle.step: cycle for cycle in self.cycles}

    def cycle(self, step: str) -> Cycle:
        """Return the cycle of a step. Raises LessonError."""
        found = self.by_step.get(step)
        if found is None:
            steps = list(self.by_step)
            span = f"the run has {steps[0]} to {steps[-1]}" if steps else "the run has no cycle"
            raise LessonError(f"there is no step {step!r}: {span}")
        return found

    @property
    def pods(self) -> Mapping[str, str]:
        """Every pod that the run ever had, with its node in the end, "" for pending or gone."""
        tried = {decision.pod: "" for decision in self.decisions}
        return {**tried, **dict.fromkeys((*self.deleted, *self.finished), ""), **self.placement}

    def pod(self, name: str) -> str:
        """Return the key of a pod, whose namespace may be left out. Raises LessonError."""
        key = name if "/" in name else f"default/{name}"
        if key not in self.pods:
            raise LessonError(f"there is no pod {name!r}{did_you_mean(key, self.pods)}")
        return key

    def node(self, name: str) -> str:
        """Return the name of a node that is there at some time. Raises LessonError."""
        if name not in self.node_names:
            raise LessonError(f"there is no node {name!r}{did_you_mean(name, self.node_names)}")
        return name

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """The nodes of all cycles, in object order."""
        names = [name for cycle in self.cycles for name in cycle.nodes]
        names += [node for node in self.placement.values() if node]
        return tuple(dict.fromkeys([*self.resources(0).nodes, *names]))

    def explain(self, pod: str, node: str | None, index: int) -> Explanation:
        """Explain a pod as of a cycle. Raises LessonError."""
        with in_time(SECONDS):
            try:
                return finished(asking(self.scenario, self.decisions, index, self.pod(pod), node))
            except ExplainError as error:
                raise LessonError(str(error)) from None

    def resources(self, index: int) -> Resources:
        """Return the nodes' amounts after ``index`` cycles, with the operations of the next step applied."""
        if index not in self._resources:
            with in_time(SECONDS):
                run = simulate(self.scenario, trace=False)
                run.replay(self.decisions[:index])
                run.peek()
                self._resources[index] = Resources(run)
        return self._resources[index]


class Resources:
    """What nodes offer and pods request at one moment: millicores, bytes, numbers."""

    _ROWS = ("cpu", "memory", "ephemeral-storage", "pods")

    def __init__(self, run: Stepper) -> None:
        cluster = run.cluster
        columns = cluster.columns
        self.nodes: tuple[str, ...] = columns.names
        self._allocatable = np.array(columns.allocatable)
        self._used = np.array(cluster.used)
        self._scalars = {
            name: (np.array(column), np.array(cluster.scalar_used(name)))
            for name, column in columns.scalars.items()
        }
        self.requests = {
            key: (np.array(state.info.request), dict(state.info.scalar_request))
            for key, state in cluster.pods.items()
        }
        self.labels = {name: node.meta.labels for name, node in cluster.nodes.items()}

    def of(self, node: str, resource: str) -> tuple[int, int]:
        """Return what a node has of a resource, and what its pods request of it."""
        row = self.nodes.index(node)
        if resource in self._ROWS:
            number = self._ROWS.index(resource)
            return int(self._allocatable[number, row]), int(self._used[number, row])
        if resource not in self._scalars:
            return 0, 0
        there, used = self._scalars[resource]
        return int(there[row]), int(used[row])

    def request(self, pod: str, resource: str) -> int:
        """Return what a pod requests of a resource."""
        basic, scalars = self.requests[pod]
        return (
            int(basic[self._ROWS.index(resource)])
            if resource in self._ROWS
            else int(scalars.get(resource, 0))
        )


def _allocations(end: Stepper) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each ResourceClaim at the end of a run, with the names of its devices."""
    for document in end.unread_manifests():
        if document.get("kind") == "ResourceClaim":
            allocation = (document.get("status") or {}).get("allocation") or {}
            results = (allocation.get("devices") or {}).get("results") or ()
            meta = document["metadata"]
            yield f"{meta['namespace']}/{meta['name']}", tuple(str(one["device"]) for one in results)


def play(text: str) -> PlayedScenario:
    """Play a bundle to its end. Raises LessonError with the bundle's first problems."""
    with in_time(SECONDS):
        try:
            scenario = load(text, limits=LIMITS)
            run = simulate(scenario)
        except BundleError as error:
            first = error.problems[0]
            line = f"line {first.line}: " if first.line else ""
            raise LessonError(f"{line}{first.message}", error.problems) from None
        except PolicyError as error:
            raise LessonError(str(error)) from None
        cycles: list[Cycle] = []
        for cycle in run:
            cycles.append(cycle)
            if len(cycles) > MOST_CYCLES:
                raise TooMuchError(f"the scenario takes more than {MOST_CYCLES:,} cycles")
        return PlayedScenario(text, scenario, tuple(cycles), run)


_kept: OrderedDict[str, PlayedScenario] = OrderedDict()
_keeping = Lock()


def played(text: str) -> PlayedScenario:
    """Return a scenario of a lesson, or a variant of it, played to its end; the last ones are kept."""
    with _keeping:
        if text in _kept:
            _kept.move_to_end(text)
            return _kept[text]
    run = play(text)
    with _keeping:
        _kept[text] = run
        _kept.move_to_end(text)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return run
