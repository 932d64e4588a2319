"""What preemption evaluated for a pod: each candidate node with its victims, and the rule that chose."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from scheduler_core.explain.section import Section
from scheduler_core.record.cycle import Decision
from scheduler_core.record.preemption import HOPELESS, CriterionRound, DryRun, NodeGroup, Preemption
from scheduler_core.schedulers.v1_11.preemption.criteria import NAME_TEXT, PRIORITY_OFFSET, TEXTS

TITLE = "Preemption"
NODES_NAMED = 10
PODS_NAMED = 8
NO_VICTIMS = "no-victims"  # whether there is such a node, not reported if there is none
WITHOUT_VALUE = frozenset({"start-time", "name"})  # a criterion whose numbers mean nothing to readers


def preempting(pod: str, together: Collection[str], state: str, decisions: Sequence[Decision]) -> int | None:
    """Return the index of the cycle whose preemption explains a pod in a state; ``None``: none does.

    It is the last one that evicted pods for it, or evicted it. The pods that are scheduled ``together`` with
    it have the same cycles; of these the last attempt explains a pending pod, too.
    """
    if state == "preempted":
        return _last(decisions, lambda one: pod in one.victims)
    if state not in ("placed", "pending"):
        return None
    tried = {pod, *together}
    made = _last(decisions, lambda one: one.pod in tried and bool(one.victims))
    if made is not None or state == "placed":
        return made
    return _last(decisions, lambda one: one.pod in together and one.result == "unschedulable")


def _last(decisions: Sequence[Decision], holds: Callable[[Decision], bool]) -> int | None:
    numbers = range(len(decisions) - 1, -1, -1)
    return next((number for number in numbers if holds(decisions[number])), None)


def preemption_section(tried: Preemption | None, *, cycle: int = 0, of_choice: bool) -> Section | None:
    """Return what preemption evaluated, in a cycle or now; ``None`` if it could help nowhere.

    ``of_choice``: only if it chose a node.
    """
    if tried is None or (of_choice and tried.chosen is None):
        return None
    if (
        tried.eligible
        and all(group.why == "unresolvable" for group in tried.hopeless)
        and not tried.candidates
    ):
        return None
    title = f"{TITLE} in cycle {cycle:,}" if cycle else TITLE
    return Section(title, tuple(_sentences(tried)))


def _sentences(tried: Preemption) -> Iterator[str]:
    if not tried.eligible:
        yield _ineligible(tried)
        return
    for run in tried.candidates[:NODES_NAMED]:
        yield f"{tried.nodes[run.node]}: {_dry_run(run)}"
    more = len(tried.candidates) - NODES_NAMED
    if more > 0:
        yield f"and {more:,} more candidates"
    yield from (_hopeless(tried, group) for group in tried.hopeless)
    if tried.chosen is not None:
        yield _choice(tried)


def _ineligible(tried: Preemption) -> str:
    if tried.never:
        return "The pod may not preempt: its preemptionPolicy is Never."
    where = f" on {tried.leaving_from}" if tried.leaving_from else ""
    return f"The pod may not preempt again: victims of an earlier preemption are leaving{where}."


def _dry_run(run: DryRun) -> str:
    refused = set(run.victims)
    gone, kept = (
        [step for step in run.steps() if (step.pod in refused) is wanted] for wanted in (True, False)
    )
    text = f"it would evict {_listed(f'{step.pod} (priority {step.priority:,})' for step in gone)}"
    broken = dict.fromkeys(name for step in gone for name in step.budgets)
    text += f", violating {f'PodDisruptionBudget {_listed(broken)}' if broken else 'no PodDisruptionBudget'}"
    stays = [f"{step.pod}{_protected(step.budgets)}" for step in kept]
    return f"{text}; {_listed(stays)} can stay" if stays else text


def _protected(budgets: tuple[str, ...]) -> str:
    return f" (protected by {_listed(budgets)})" if budgets else ""


def _hopeless(tried: Preemption, group: NodeGroup) -> str:
    reasons = f" ({', '.join(group.reasons)})" if group.reasons else ""
    nodes = [tried.nodes[node] for node in group.nodes.tolist()]
    return f"{_listed(nodes, NODES_NAMED)}: no candidate, because {HOPELESS[group.why]}{reasons}"


def _choice(tried: Preemption) -> str:
    rounds = tried.comparisons
    if len(tried.candidates) == 1 or not rounds:
        return f"{tried.node} is the only candidate."
    equal = [TEXTS[one.criterion][0] for one in rounds if one.stay.all() and one.criterion != NO_VICTIMS]
    same = f"The candidates are equal by {_listed(equal)}. " if equal else ""
    deciding = next((one for one in rounds if one.decided), None)
    if deciding is None:
        return f"{same}{tried.node} is the {NAME_TEXT}."
    earlier = [one for one in rounds if one is not deciding and not one.stay.all()]
    narrowed = "".join(f"{TEXTS[one.criterion][0]} leaves {_nodes(tried, one)}; " for one in earlier)
    values = _values(tried, deciding)
    return f"{same}{tried.node} is chosen: {narrowed}{TEXTS[deciding.criterion][0]}{values}."


def _nodes(tried: Preemption, one: CriterionRound) -> str:
    return _listed((tried.nodes[node] for node in one.nodes[one.stay].tolist()), NODES_NAMED)


def _values(tried: Preemption, one: CriterionRound) -> str:
    """Return what the criterion compared, by node."""
    if one.criterion in WITHOUT_VALUE:
        return ""
    counts = {run.node: len(run.victims) for run in tried.candidates}
    pairs = zip(one.nodes.tolist(), one.values.tolist())
    offset = PRIORITY_OFFSET if one.criterion == "priority-sum" else 0
    shown = (f"{tried.nodes[node]} {value - offset * counts[node]:,}" for node, value in pairs)
    return f" ({_listed(shown, NODES_NAMED)})"


def _listed(words: Iterable[str], most: int = PODS_NAMED) -> str:
    every = list(words)
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more:,} more" if more > 0 else "")
