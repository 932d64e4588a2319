"""Where two sources first decide differently, where their pods end, and what each run comes to.

What is small enough to compute while somebody waits is run again, both sides in lockstep, in the pool if it
is large. Of what is larger the stored decisions of runs are compared, which a worker has computed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from playground.calls.faults import RequestFieldError
from playground.comparisons import answer_cache, rows
from playground.limits import limit
from playground.models import DONE, Draft, Run
from playground.models import Scenario as ScenarioRow
from playground.playback import releases, sources
from playground.playback.answers import RecentAnswers
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.playback import Playback
from playground.pool import offload
from playground.pool.jobs import pool_job
from playground.storage import bundles
from playground.wire import Encoded, encode
from scheduler_core.compare.compare import FirstDifference, compare, deciding_rule, side_of
from scheduler_core.compare.configuration import differences
from scheduler_core.compare.cost import expected_cycles
from scheduler_core.compare.outcome import outcome
from scheduler_core.kubernetes.plain import plain
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.rule_history import history_of

ANSWERS_KEPT = 128
ANSWER_BYTES = 16 * 2**20
PLACEMENTS_SHOWN = 1_000
REMEMBERED_SECONDS = 300
ALL = 10**9  # cycles

answers = RecentAnswers(ANSWERS_KEPT, ANSWER_BYTES)


class UnfinishedError(RuntimeError):
    """A run is compared when it is done."""

    def __init__(self, run: str) -> None:
        super().__init__(f"The run {run} is not done; compare it when it is.")


@dataclass(frozen=True, slots=True)
class Side:
    """A source, under the scheduler that it asks for itself or under another one."""

    source: sources.Source
    scheduler: str = ""

    @property
    def key(self) -> Hashable:
        """The key of what is computed for it."""
        return (self.source.key, self.scheduler)

    @property
    def work(self) -> int:
        """Nodes × pods, 0 of a draft, of which only the size of its text is known."""
        row = self.source.row.scenario if isinstance(self.source.row, Run) else self.source.row
        return row.nodes * row.pods if isinstance(row, ScenarioRow) else 0

    def wire(self) -> dict[str, Any]:
        """Return the side as it was asked for."""
        return {
            "source": self.source.asked,
            "title": self.source.title,
            "scheduler": self.scheduler or None,
        }


@dataclass(frozen=True, slots=True)
class ComparisonQuestion:
    """Two sides to compare."""

    left: Side
    right: Side

    def __post_init__(self) -> None:
        for name, side in (("left", self.left), ("right", self.right)):
            if side.scheduler and side.scheduler not in releases.SCHEDULERS:
                known = ", ".join(releases.SCHEDULERS)
                raise RequestFieldError(f"{name}Scheduler", f"{name}Scheduler must be one of: {known}.")

    @property
    def key(self) -> Hashable:
        """The key under which the answer is kept; it changes when a draft is saved."""
        return (self.left.key, self.right.key)

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides, the left one first."""
        return self.left, self.right

    def pinned(self) -> ComparisonQuestion:
        """Return the same of drafts as they are now: StaleError is raised once one was saved."""
        left, right = (Side(side.source.pinned(), side.scheduler) for side in self.sides)
        return ComparisonQuestion(left, right)

    @property
    def stored(self) -> bool:
        """Whether the stored decisions of runs are compared, as one side is too large to run again."""
        if any(side.work > limit("INTERACTIVE_WORK") for side in self.sides):
            return True
        seconds = [row.seconds for row in self.runs]
        return len(seconds) == len(self.sides) and sum(seconds) > limit("INTERACTIVE_SECONDS") / 2

    @property
    def runs(self) -> list[Run]:
        """The runs among the sides, as they were computed."""
        rows = [side.source.row for side in self.sides if not side.scheduler]
        return [row for row in rows if isinstance(row, Run)]

    @property
    def slow(self) -> bool:
        """Whether running both sides again takes long enough to show how far it is."""
        if self.stored:
            return False
        return any(side.work > offload.WORK or sources.is_large(side.source) for side in self.sides)

    @property
    def large(self) -> bool:
        """Whether the pool computes it."""
        return self.slow and offload.enabled()

    def kept(self) -> Encoded | None:
        """Return the answer if it is kept."""
        return answers.get(self.key)

    def answered(self, body: Encoded) -> Encoded:
        """Keep the answer, unless it may change; return it."""
        unfinished = any(
            isinstance(side.source.row, Run) and side.source.row.state != DONE for side in self.sides
        )
        if not unfinished:
            answers.put(self.key, body)
        return body


def remember(question: ComparisonQuestion, body: Encoded) -> None:
    """Keep an answer for the page that waits for it, whichever process serves that."""
    answer_cache.remember(("comparison", question.key), body, REMEMBERED_SECONDS)


def remembered(question: ComparisonQuestion) -> Encoded | None:
    """Return an answer that was remembered a moment ago."""
    return answer_cache.remembered(("comparison", question.key))


# --- run again -----------------------------------------------------------------------------------


@pool_job
def computed(left: sources.Stored, right: sources.Stored, schedulers: tuple[str, str]) -> Encoded:
    """Run both sides and compare them; in this thread, without the database.

    Raises RequestFieldError, TooMuchWorkError and the errors of reading.
    """
    began, watching = time.thread_time(), bundles.watching()
    sides = [
        _read(name, stored, scheduler)
        for name, stored, scheduler in zip(("left", "right"), (left, right), schedulers)
    ]

    expected = max(map(expected_cycles, sides))

    def watch(cycles: int) -> None:
        watching("comparing", cycles, max(cycles, expected))
        if time.thread_time() - began > limit("INTERACTIVE_SECONDS"):
            raise TooMuchWorkError(_too_much(f"More than {limit('INTERACTIVE_SECONDS')} seconds are"))

    found = compare(sides[0], sides[1], watch)
    played = zip(("left", "right"), sides, found.runs)
    return _encoded(
        living=[name for name, side, run in played if run.scenario.lives and not side.lives],
        first=_first(found.decision),
        difference=_first(found.first),
        configuration=list(found.configuration),
        differing=found.differing,
        placements=[{"pod": pod, "left": a, "right": b} for pod, (a, b) in found.placements.items()],
        metrics={"left": found.a.as_dict(), "right": found.b.as_dict()},
        upgrade=plain(found.upgrade),
        **rows.paired(*(run.decisions for run in found.runs)),
        **rows.workloads(*map(rows.ends_of_run, found.runs)),
    )


def _read(name: str, stored: sources.Stored, scheduler: str) -> Scenario:
    scenario = stored.load()
    work = bundles.interactive_work(scenario)
    if work > limit("INTERACTIVE_WORK"):
        nodes, pods, _ = bundles.counts(scenario)
        raise TooMuchWorkError(_too_much(f"{nodes:,} nodes and {pods:,} pods are"))
    try:
        return releases.under(scenario, scheduler)
    except releases.ReleaseError as error:
        raise RequestFieldError(f"{name}Scheduler", str(error)) from error


def _too_much(what: str) -> str:
    remedy = "Start a run of each, and compare the runs when they are done."
    return f"{what} too much to run twice while you wait. {remedy}"


def _first(found: FirstDifference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    shown = found.a or found.b or {}
    return {
        "index": found.index,
        "pod": shown.get("pod"),
        "left": found.a,
        "right": found.b,
        "rule": found.rule,
        "history": list(found.history),
        "what": list(found.what),
        "details": list(found.details),
    }


def _encoded(**fields: Any) -> Encoded:
    return Encoded(encode({"same": fields["first"] is None, **fields}))


# --- stored decisions ----------------------------------------------------------------------------


def from_decisions(question: ComparisonQuestion) -> Encoded:
    """Compare the stored decisions of runs; a side that is small enough is computed.

    Raises TooMuchWorkError for what is neither, and UnfinishedError.
    """
    if any(side.scheduler for side in question.sides):
        raise TooMuchWorkError(_too_much("Another scheduler on a scenario of this size is"))
    playbacks = [_playback(side) for side in question.sides]
    left, right = (playback.trail.decisions for playback in playbacks)
    index = next(
        (
            place
            for place, (a, b) in enumerate(zip_longest(left, right), 1)
            if a is None or b is None or outcome(a) != outcome(b)
        ),
        None,
    )
    ends = [_ends(playback) for playback in playbacks]
    moved = [pod for pod in dict.fromkeys([*ends[0], *ends[1]]) if ends[0].get(pod) != ends[1].get(pod)]
    return _encoded(
        first=None if index is None else _parting(index, playbacks),
        difference=None,  # stored decisions hold no scores
        configuration=list(differences(*(playback.scenario for playback in playbacks))),
        differing=len(moved),
        placements=[
            {"pod": pod, "left": ends[0].get(pod, ""), "right": ends[1].get(pod, "")}
            for pod in moved[:PLACEMENTS_SHOWN]
        ],
        metrics={name: _metrics(playback) for name, playback in zip(("left", "right"), playbacks)},
        **rows.paired(left, right),
        **rows.workloads(*map(rows.ends_of_playback, playbacks)),
    )


def _playback(side: Side) -> Playback:
    playback = sources.open_playback(side.source)
    row = side.source.row
    if isinstance(row, Run):
        if not playback.complete or row.state != DONE:
            raise UnfinishedError(row.pk)
        return playback
    if isinstance(row, Draft) or side.work > limit("INTERACTIVE_WORK"):
        sources.check_work(playback.scenario)
    playback.reach(ALL)
    return playback


def _parting(index: int, playbacks: list[Playback]) -> dict[str, Any]:
    cycles = [one.cycle(index) if index <= len(one) else None for one in playbacks]
    shown = cycles[0] or cycles[1]
    assert shown is not None
    rule = deciding_rule(cycles[0], cycles[1])
    return {
        "index": index,
        "pod": shown.pod,
        "left": side_of(cycles[0]),
        "right": side_of(cycles[1]),
        "rule": rule,
        "history": list(history_of(rule)),
        "what": ["pod" if None in cycles or cycles[0].pod != cycles[1].pod else "choice"],  # type: ignore[union-attr]
        "details": [],
    }


def _ends(playback: Playback) -> dict[str, str]:
    """Return each pod's last node, "" of one that is pending."""
    tables, places = playback.tables, playback.trail.placement.tolist()
    names = [node.meta.name for node in tables.nodes]
    return {
        key: names[places[pod]] if places[pod] >= 0 else ""
        for key, pod in tables.pod_index.items()
        if pod < len(places)
    }


def _metrics(playback: Playback) -> dict[str, Any]:
    """Return the metrics computed from the decisions."""
    decisions, placement = playback.trail.decisions, playback.trail.placement
    results, standing = Counter(decision.result for decision in decisions), playback.trail.standing()
    return {
        "placed": standing["placed"],
        "pending": standing["pending"],
        "cycles": len(decisions),
        "failedCycles": len(decisions) - results["scheduled"],
        "preemptions": sum(decision.nominated is not None for decision in decisions),
        "victims": sum(len(decision.victims) for decision in decisions),
        "nodesUsed": len({place for place in placement.tolist() if place >= 0}),
    }
