"""What of a step can be had as a picture: the stage, its matrices and ladder, and a chart of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from playground.pictures import matrices
from playground.pictures.chart import chart
from playground.pictures.scene import scene_of
from playground.playback.playback import OutOfRangeError, Playback
from playground.reports.slides import drawn
from scheduler_core.record.cycle import Cycle

CYCLES = 100_000  # of a chart
Draw = Callable[[Playback, int, str], str]


def _of_cycle(draw: Callable[[Cycle | None, matrices.Caption], str]) -> Draw:
    def of_step(playback: Playback, index: int, title: str) -> str:
        cycle = playback.cycle(index) if index else None
        where = f"Step {index:,}: {cycle.pod}" if cycle is not None else "Before the first step"
        return draw(cycle, matrices.Caption(title or "Untitled", where))

    return of_step


def _stage(playback: Playback, index: int, title: str) -> str:
    return drawn(scene_of(playback, index, title))


#: How each view of a step is drawn, by the name in its address.
VIEWS: Mapping[str, Draw] = {
    "stage": _stage,
    "matrix": _of_cycle(matrices.predicates),
    "scores": _of_cycle(matrices.priorities),
    "ladder": _of_cycle(matrices.rungs),
    "chart": chart,
}


def drawing(playback: Playback, title: str, view: str, index: int) -> str:
    """Return a view of the step ``index`` as SVG; 0 is the state before the first.

    A chart is of all cycles of a stored run, of another source of those up to :data:`CYCLES`.

    Raises:
        OutOfRangeError: There is no such step.
    """
    playback.reach(CYCLES if view == "chart" else index)
    if not 0 <= index <= len(playback):
        raise OutOfRangeError(f"There is no step {index:,}; the last one is {len(playback):,}.")
    return VIEWS[view](playback, index, title)
