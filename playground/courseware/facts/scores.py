"""The scores of a cycle, and the weight at which another node would win."""

from __future__ import annotations

from playground.courseware.expression import FactError, NotYetKnownError
from playground.courseware.facts.moment import ShownMoment, row_of
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.priority_row import PriorityRow


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
    return _priority(moment.cycle(at, of), rule).weight


def total(moment: ShownMoment, node: str, at: str = "", of: str = "") -> int:
    """The sum of a node's weighted scores."""
    found = moment.cycle(at, of)
    if found.totals is None:
        raise _unscored(found)
    return int(found.totals[_place(found, node)])


def tipping(moment: ShownMoment, node: str, rule: str, at: str = "", of: str = "") -> int:
    """The smallest weight of a priority at which a node alone has the best total; 0 if there is none."""
    found = moment.cycle(at, of)
    row = _priority(found, rule)
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
    return _priority(found, rule), _place(found, node)


def _priority(found: Cycle, rule: str) -> PriorityRow:
    if found.totals is None:
        raise _unscored(found)
    names = {row.name: row for row in found.priorities}
    if rule not in names:
        raise FactError(f"{rule!r} does not score here{did_you_mean(rule, names) or ': ' + ', '.join(names)}")
    return names[rule]


def _unscored(found: Cycle) -> FactError:
    if found.result == "undecided":
        return NotYetKnownError("no node is scored yet at this stop")
    return FactError("the cycle scores no node: fewer than two are feasible")


def _place(found: Cycle, node: str) -> int:
    feasible = found.feasible.tolist()
    row = row_of(found, node)
    if row not in feasible:
        raise FactError(f"{node} is not feasible in this cycle, and has no score")
    return int(feasible.index(row))


FACTS = (
    raw,
    score,
    weighted,
    weight,
    total,
    tipping,
)
