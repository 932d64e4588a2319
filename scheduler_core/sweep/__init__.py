"""Many variants of one scenario: a grid of axes, the scenario of each cell, and the figures of its run."""

from scheduler_core.sweep.axes import AXES
from scheduler_core.sweep.cell import scenario_of_cell
from scheduler_core.sweep.figures import cell_figures
from scheduler_core.sweep.grid import Sweep, read_sweep
from scheduler_core.sweep.play import Waits, cell_run, pareto_front

__all__ = [
    "AXES",
    "Sweep",
    "Waits",
    "cell_figures",
    "cell_run",
    "pareto_front",
    "read_sweep",
    "scenario_of_cell",
]
