"""The facts of a played scenario that a lesson may use, a function each; docs/writing-a-lesson.md lists them.

``at`` is a step, else that of the stop; ``of`` another scenario of the lesson. Pods are named without the
namespace ``default``. Cpu is in millicores, memory in MiB, everything else in its own unit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.authoring.lessons.expression import (
    IN_MIB,
    MIB,
    NOT_SHOWN,
    FactError,
    NotShown,
    NotYetKnownError,
    Record,
    ResourceAmount,
    called,
    evaluate,
)
from scheduler_core.authoring.lessons.model import LessonError
from scheduler_core.authoring.lessons.played import Played
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.preemption import DryRun
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.run.moment_record import upto


class CycleFacts(Record, frozen=True):
    """A cycle; a field that the moment does not show yet is :data:`NOT_SHOWN`."""

    pod: str
    nodes: list[str]
    time: float
    feasible: list[str] | NotShown
    refused: list[str] | NotShown
    evaluations: int | NotShown
    ties: list[str] | NotShown  # the nodes with the best total
    node: str | NotShown  # "" if it found none
    result: str | NotShown
    message: str | NotShown
    victims: list[str] | NotShown
    nominated: str | NotShown
    decided_by: str | NotShown  # preemption's criterion


class PodEnd(Record, frozen=True):
    """What became of a pod: its ``node``, "" for none; ``state`` is placed, pending, finished or gone."""

    node: str
    state: str


class ShownMoment(Struct, frozen=True):
    """What facts are read from: the lesson's scenarios, and the moment of a stop.

    ``open_question`` hides what the moment does not show: later cycles, and later phases of the cycle.
    """

    plays: Callable[[str], Played]
    scenario: str
    step: str
    phase: str
    open_question: bool = False

    def play(self, of: str) -> Played:
        """Return the run of a scenario, "" for the stop's own."""
        if self.open_question and of not in ("", self.scenario):
            raise NotYetKnownError(f"{of} is not shown at this stop")
        return self.plays(of or self.scenario)

    def cycle(self, at: str, of: str = "") -> Cycle:
        """Return the cycle of a step, as far as it is known."""
        play = self.play(of)
        step = at or self.step
        if not step:
            raise FactError('name the step, such as at="1.1": this stop has none')
        cycle = play.cycle(step)
        if not self.open_question:
            return cycle
        shown = play.cycle(self.step).index if self.step else 0
        if cycle.index > shown:
            raise NotYetKnownError(f"cycle {step} is not shown yet at this stop")
        if cycle.index < shown or not self.phase:
            return cycle
        if self.phase not in cycle.phases:
            meant = did_you_mean(self.phase, cycle.phases) or f": it has {', '.join(cycle.phases)}"
            raise FactError(f"step {step} has no phase {self.phase!r}{meant}")
        return upto(cycle, self.phase)

    def ended(self, of: str) -> Played:
        """Return the run of a scenario if its end may be known."""
        if self.open_question:
            raise NotYetKnownError("the end of the run is not shown at this stop")
        return self.play(of)

    def before(self, at: str, of: str) -> int:
        """Return how many cycles have run when that of a step begins; 0 without a step."""
        step = at or self.step
        return self.play(of).cycle(step).index - 1 if step else 0


def short(pod: str) -> str:
    """Return a pod's key as lessons name it."""
    return pod.removeprefix("default/")


def _shorts(pods: Sequence[str]) -> list[str]:
    return [short(pod) for pod in pods]


# The cycle


def cycle(moment: ShownMoment, step: str, of: str = "") -> CycleFacts:
    """A cycle; its fields are its pod, all nodes, time, and what it decided."""
    found = moment.cycle(step, of)
    names = found.nodes
    filtered, over = found.matrix is not None, found.result != "undecided"
    filtered, chosen = filtered or over, bool(len(found.ties)) or over
    feasible = [names[row] for row in found.feasible.tolist()]
    preemption, decision = found.preemption, found.decision
    return CycleFacts(
        pod=short(found.pod),
        nodes=list(names),
        time=found.time,
        feasible=feasible if filtered else NOT_SHOWN,
        refused=[name for name in names if name not in set(feasible)] if filtered else NOT_SHOWN,
        evaluations=found.evaluations if filtered else NOT_SHOWN,
        ties=[names[row] for row in found.ties.tolist()] if chosen else NOT_SHOWN,
        node=found.node or "" if over else NOT_SHOWN,
        result=found.result if over else NOT_SHOWN,
        message=found.message or "" if over else NOT_SHOWN,
        victims=_shorts(decision.victims) if over else NOT_SHOWN,
        nominated=decision.nominated or "" if over else NOT_SHOWN,
        decided_by=((preemption and preemption.decided_by) or "") if over else NOT_SHOWN,
    )


def reasons(moment: ShownMoment, node: str, at: str = "", of: str = "") -> list[str]:
    """Why a node is refused, in the scheduler's words; none if it is feasible."""
    return [text for _, texts in _failures(moment, node, at, of) for text in texts]


def refused_by(moment: ShownMoment, node: str, at: str = "", of: str = "") -> str:
    """The predicate or filter plugin that refuses a node first, "" if none does."""
    return next((rule for rule, _ in _failures(moment, node, at, of)), "")


def _failures(moment: ShownMoment, node: str, at: str, of: str) -> list[tuple[str, tuple[str, ...]]]:
    found = moment.cycle(at, of)
    row = _row(found, node)
    if found.matrix is None:
        if moment.open_question:
            raise NotYetKnownError("no node is filtered yet at this stop")
        return []
    codes = found.matrix.codes[:, row].tolist()
    return [(rule, found.matrix.reasons[code]) for rule, code in zip(found.matrix.order, codes) if code > 0]


def _row(found: Cycle, node: str) -> int:
    if node not in found.nodes:
        raise FactError(f"there is no node {node!r}{did_you_mean(node, found.nodes)}")
    return found.nodes.index(node)


def evaluations(moment: ShownMoment, at: str = "", of: str = "") -> int:
    """How many predicates or filters were evaluated on a node in a cycle; in the whole run without ``at``."""
    if at:
        return moment.cycle(at, of).evaluations
    return sum(one.evaluations for one in moment.ended(of).cycles)


def cycles(moment: ShownMoment, of: str = "") -> int:
    """How many cycles the run has."""
    return len(moment.ended(of).cycles)


# Scores


def raw(moment: ShownMoment, node: str, rule: str, at: str = "", of: str = "") -> int:
    """What a priority's Map or a plugin's Score gives a node, before it is normalized."""
    row, place = _scored(moment, node, rule, at, of)
    if row.raw is None:
        raise FactError(f"{rule} scores all nodes at once: it has no raw value")
    return int(row.raw[place])


def score(moment: ShownMoment, node: str, rule: str, at: str = "", of: str = "") -> int:
    """A priority's or score plugin's score of a node, before the weight."""
    row, place = _scored(moment, node, rule, at, of)
    return int(row.score[place])


def weighted(moment: ShownMoment, node: str, rule: str, at: str = "", of: str = "") -> int:
    """Weight times score."""
    row, place = _scored(moment, node, rule, at, of)
    return int(row.weighted[place])


def weight(moment: ShownMoment, rule: str, at: str = "", of: str = "") -> int:
    """The weight of a priority or score plugin."""
    return _priority(moment.cycle(at, of), rule, moment).weight


def total(moment: ShownMoment, node: str, at: str = "", of: str = "") -> int:
    """The sum of a node's weighted scores."""
    found = moment.cycle(at, of)
    if found.totals is None:
        raise _unscored(moment)
    return int(found.totals[_place(found, node)])


def tipping(moment: ShownMoment, node: str, rule: str, at: str = "", of: str = "") -> int:
    """The smallest weight of a priority at which a node alone has the best total; 0 if there is none."""
    found = moment.cycle(at, of)
    row = _priority(found, rule, moment)
    assert found.totals is not None
    place, rest = _place(found, node), found.totals - row.weighted
    least = 0
    for other in range(len(rest)):
        ahead, behind = int(row.score[place] - row.score[other]), int(rest[other] - rest[place])
        if other == place:
            continue
        if ahead <= 0 and behind >= ahead * least:
            return 0
        if ahead > 0:
            least = max(least, behind // ahead + 1)
    return least


def _scored(moment: ShownMoment, node: str, rule: str, at: str, of: str) -> tuple[PriorityRow, int]:
    found = moment.cycle(at, of)
    return _priority(found, rule, moment), _place(found, node)


def _priority(found: Cycle, rule: str, moment: ShownMoment) -> PriorityRow:
    if found.totals is None:
        raise _unscored(moment)
    names = {row.name: row for row in found.priorities}
    if rule not in names:
        raise FactError(f"{rule!r} does not score here{did_you_mean(rule, names) or ': ' + ', '.join(names)}")
    return names[rule]


def _unscored(moment: ShownMoment) -> FactError:
    if moment.open_question:
        return NotYetKnownError("no node is scored yet at this stop")
    return FactError("the cycle scores no node: fewer than two are feasible")


def _place(found: Cycle, node: str) -> int:
    feasible = found.feasible.tolist()
    row = _row(found, node)
    if row not in feasible:
        raise FactError(f"{node} is not feasible in this cycle, and has no score")
    return int(feasible.index(row))


# Preemption


def victims(moment: ShownMoment, node: str = "", at: str = "", of: str = "") -> list[str]:
    """The pods that preemption deletes; with a node, those that its dry run would delete."""
    found = moment.cycle(at, of)
    if not node:
        return _shorts(found.decision.victims)
    return _shorts(_dry_run(found, node).victims)


def spared(moment: ShownMoment, node: str, at: str = "", of: str = "") -> list[str]:
    """The pods of lower priority that the dry run of a node puts back."""
    run = _dry_run(moment.cycle(at, of), node)
    return [short(pod.key) for pod in run.order if pod.key not in run.victims]


def candidates(moment: ShownMoment, at: str = "", of: str = "") -> list[str]:
    """The nodes on which preemption would help."""
    found = moment.cycle(at, of)
    return [] if found.preemption is None else [found.nodes[run.node] for run in found.preemption.candidates]


def hopeless(moment: ShownMoment, why: str = "", at: str = "", of: str = "") -> list[str]:
    """The nodes on which preemption cannot help; ``why`` is unresolvable, nothing-lower or still-unfit."""
    found = moment.cycle(at, of)
    groups = [] if found.preemption is None else found.preemption.hopeless
    return [found.nodes[row] for group in groups if why in ("", group.why) for row in group.nodes.tolist()]


def _dry_run(found: Cycle, node: str) -> DryRun:
    row = _row(found, node)
    runs = [] if found.preemption is None else found.preemption.candidates
    run = next((one for one in runs if one.node == row), None)
    if run is None:
        raise FactError(f"{node} has no dry run of preemption in this cycle")
    return run


# The end of the run


def outcome(moment: ShownMoment, pod: str, of: str = "") -> PodEnd:
    """A pod's node and state in the end."""
    play = moment.ended(of)
    key = play.pod(pod)
    node = play.pods[key]
    if key in play.finished:
        return PodEnd(node, "finished")
    if key not in play.placement:
        return PodEnd("", "gone")
    return PodEnd(node, "placed" if node else "pending")


def pending(moment: ShownMoment, of: str = "") -> list[str]:
    """The pods that have no node in the end."""
    return _shorts([pod for pod, node in moment.ended(of).placement.items() if not node])


def placed(moment: ShownMoment, node: str = "", of: str = "") -> list[str]:
    """The pods that have a node in the end, or that node."""
    play = moment.ended(of)
    if node:
        play.node(node)
    return _shorts([pod for pod, there in play.placement.items() if (there == node if node else there)])


def placed_like(moment: ShownMoment, prefix: str, node: str = "", of: str = "") -> list[str]:
    """Those of :func:`placed` whose name begins with a prefix."""
    return [pod for pod in placed(moment, node, of) if pod.startswith(prefix)]


def events(moment: ShownMoment, reason: str, at: str = "", of: str = "") -> list[str]:
    """The objects of a cycle's Kubernetes events of a reason."""
    return [
        event.object.rpartition("/")[2] for event in moment.cycle(at, of).events if event.reason == reason
    ]


# Amounts


def allocatable(moment: ShownMoment, node: str, resource: str, at: str = "", of: str = "") -> ResourceAmount:
    """What a node offers of a resource."""
    return _in_unit(resource, _amounts(moment, node, resource, at, of)[0])


def requested(moment: ShownMoment, node: str, resource: str, at: str = "", of: str = "") -> ResourceAmount:
    """What the pods of a node request of a resource before a cycle."""
    return _in_unit(resource, _amounts(moment, node, resource, at, of)[1])


def free(moment: ShownMoment, node: str, resource: str, at: str = "", of: str = "") -> ResourceAmount:
    """What a node has left of a resource before a cycle: allocatable less requested."""
    there, used = _amounts(moment, node, resource, at, of)
    return _in_unit(resource, there - used)


def request(moment: ShownMoment, pod: str, resource: str, of: str = "") -> ResourceAmount:
    """What a pod requests of a resource."""
    resources = moment.play(of).resources(moment.before("", of) if not of else 0)
    key = pod if "/" in pod else f"default/{pod}"
    if key not in resources.requests:
        raise FactError(f"there is no pod {pod!r}{did_you_mean(key, resources.requests)}")
    return _in_unit(resource, resources.request(key, resource))


def quantity(moment: ShownMoment, amount: int, resource: str) -> ResourceAmount:
    """A computed number as an amount of a resource, which a text shows as ``250m`` or ``1536Mi``."""
    del moment
    return ResourceAmount(amount, resource)


def _in_unit(resource: str, amount: int) -> ResourceAmount:
    return ResourceAmount(amount // MIB if resource in IN_MIB else amount, resource)


def _amounts(moment: ShownMoment, node: str, resource: str, at: str, of: str) -> tuple[int, int]:
    resources = moment.play(of).resources(moment.before(at, of))
    if node not in resources.nodes:
        raise FactError(f"there is no node {node!r}{did_you_mean(node, resources.nodes)}")
    return resources.of(node, resource)


# The smallest change


def smallest_change(moment: ShownMoment, pod: str, node: str = "", at: str = "", of: str = "") -> str:
    """The smallest verified change with which a pod would fit, on a node or anywhere; "" if it fits."""
    play = moment.ended(of)
    index = play.cycle(at or moment.step).index if at or moment.step else len(play.cycles)
    changes = play.explain(pod, node or None, index).changes
    return "; ".join(changes[0].words) if changes else ""


# Lists and numbers


def count(moment: ShownMoment, items: list[Any]) -> int:
    """How many items a list has."""
    del moment
    if not isinstance(items, list):
        raise FactError("count takes a list")
    return len(items)


def largest(moment: ShownMoment, *numbers: Any) -> Any:
    """The largest of some numbers, or of a list of them."""
    del moment
    return max(_numbers(numbers))


def smallest(moment: ShownMoment, *numbers: Any) -> Any:
    """The smallest of some numbers, or of a list of them."""
    del moment
    return min(_numbers(numbers))


def absolute(moment: ShownMoment, number: float) -> float:
    """A number without its sign."""
    del moment
    return abs(number)


def _numbers(given: tuple[Any, ...]) -> list[Any]:
    numbers = list(given[0]) if len(given) == 1 and isinstance(given[0], list) else list(given)
    if not numbers or any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in numbers):
        raise FactError("only numbers have a largest and a smallest")
    return numbers


Fact = Callable[..., Any]
FACTS: Mapping[str, Fact] = {
    fact.__name__: fact
    for fact in (
        cycle, reasons, refused_by, evaluations, cycles,
        raw, score, weighted, weight, total, tipping,
        victims, spared, candidates, hopeless,
        outcome, pending, placed, placed_like, events,
        allocatable, requested, free, request, quantity, smallest_change,
        count, largest, smallest, absolute,
    )
}  # fmt: skip
"""The facts by name. The first argument, the moment, is not an expression's."""

GIVEN = frozenset(
    ("allocatable", "requested", "free", "request", "quantity", "count", "largest", "smallest", "absolute")
)
"""The facts that the manifests tell, whatever the scheduler decides."""


def check_names(text: str, further: Sequence[str] = ()) -> None:
    """Refuse an expression that calls a fact that there is not. Raises FactError."""
    known = (*FACTS, *further)
    for name in called(text):
        if name not in known:
            suggestion = did_you_mean(name, known) or f": the facts are {', '.join(known)}"
            raise FactError(f"there is no fact {name!r}{suggestion}")


def value(
    text: str,
    moment: ShownMoment,
    names: Mapping[str, Any] | None = None,
    further: Mapping[str, Fact] | None = None,
) -> Any:
    """Compute an expression at a moment. Raises FactError.

    ``names`` are variables; ``further`` are facts of the task beside :data:`FACTS`.
    """
    facts = {name: partial(fact, moment) for name, fact in FACTS.items()}
    try:
        return evaluate(text, {**facts, **(further or {})}, names or {})
    except LessonError as error:
        raise FactError(str(error)) from None


def at_question(moment: ShownMoment) -> ShownMoment:
    """Return the moment as learners see it while the question is open."""
    return replace(moment, open_question=True)


def signature(name: str) -> str:
    """Return a fact's name with its parameters, as the document of lessons has it."""
    parameters = list(inspect.signature(FACTS[name]).parameters.values())[1:]
    shown = [
        f"*{one.name}"
        if one.kind is one.VAR_POSITIONAL
        else one.name
        if one.default is one.empty
        else f"{one.name}=…"
        for one in parameters
    ]
    return f"{name}({', '.join(shown)})"
