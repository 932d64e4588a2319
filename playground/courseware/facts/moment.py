"""What a fact is read from: the lesson's scenarios at the moment of a stop, and what it does not show yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from playground.courseware.expression import FactError, NotYetKnownError
from playground.courseware.playthrough import PlayedScenario
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.moment_record import upto


class ShownMoment(Struct, frozen=True):
    """What facts are read from: the lesson's scenarios, and a stop's moment.

    ``open_question`` hides what the moment does not show: later cycles, and later phases of the cycle.
    ``seen`` are the scenarios and steps that earlier stops have shown whole.
    """

    plays: Callable[[str], PlayedScenario]
    scenario: str
    step: str
    phase: str
    seen: tuple[tuple[str, str], ...] = ()
    open_question: bool = False

    def play(self, of: str) -> PlayedScenario:
        """Return the run of a scenario, "" for the stop's own."""
        known = {self.scenario, *(scenario for scenario, _ in self.seen)}
        if self.open_question and of and of not in known:
            raise NotYetKnownError(f"{of} is not shown yet at this stop")
        return self.plays(of or self.scenario)

    def cycle(self, at: str, of: str = "") -> Cycle:
        """Return the cycle of a step, as far as it is known."""
        play = self.play(of)
        step = at or self.step
        if not step:
            raise FactError('name the step, such as at="1.1": this stop has none')
        cycle = play.cycle(step)
        if not self.open_question or cycle.index <= self._whole(of or self.scenario, play):
            return cycle
        if of not in ("", self.scenario) or step != self.step:
            raise NotYetKnownError(f"cycle {step} is not shown yet at this stop")
        if not self.phase:
            return cycle
        if self.phase not in cycle.phases:
            meant = did_you_mean(self.phase, cycle.phases) or f": it has {', '.join(cycle.phases)}"
            raise FactError(f"step {step} has no phase {self.phase!r}{meant}")
        return upto(cycle, self.phase)

    def _whole(self, scenario: str, play: PlayedScenario) -> int:
        """Return the last cycle of a scenario that this stop or an earlier one shows whole."""
        shown = [play.cycle(step).index for name, step in self.seen if name == scenario and step]
        own = play.cycle(self.step).index - 1 if scenario == self.scenario and self.step else 0
        return max((0, own, *shown))

    def decided(self, at: str, of: str = "") -> Cycle:
        """Return the cycle of a step if all that it decided may be known."""
        cycle = self.cycle(at, of)
        if cycle.result == "undecided":
            raise NotYetKnownError(f"cycle {cycle.step} is not decided yet at this stop")
        return cycle

    def ended(self, of: str) -> PlayedScenario:
        """Return the run of a scenario if its end may be known."""
        if self.open_question:
            raise NotYetKnownError("the end of the run is not shown at this stop")
        return self.play(of)

    def before(self, at: str, of: str) -> int:
        """Return how many cycles have run when that of a step begins, or at its ``end``; 0 without a step."""
        step = at or self.step
        if step == "end":
            return len(self.ended(of).cycles)
        return self.play(of).cycle(step).index - 1 if step else 0


def short(pod: str) -> str:
    """Return a pod's key as lessons name it."""
    return pod.removeprefix("default/")


def shorts(pods: Sequence[str]) -> list[str]:
    """Return pods' keys as lessons name them."""
    return [short(pod) for pod in pods]


def row_of(found: Cycle, node: str) -> int:
    """Return the index of a node in a cycle's arrays. Raises FactError."""
    if node not in found.nodes:
        raise FactError(f"there is no node {node!r}{did_you_mean(node, found.nodes)}")
    return found.nodes.index(node)
