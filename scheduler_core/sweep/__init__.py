"""Many variants of one scenario: a grid of axes, the scenario of each cell, and the figures of its run."""

from scheduler_core.sweep.axes import AXES
from scheduler_core.sweep.cell import Named, scenario_of_cell
from scheduler_core.sweep.figures import cell_figures
from scheduler_core.sweep.front import pareto_front
from scheduler_core.sweep.grid import Grid, named_in, read_sweep
from scheduler_core.sweep.halving import Budget, Halving, read_halving
from scheduler_core.sweep.play import cell_distance, cell_run
from scheduler_core.sweep.prices import Prices, read_prices
from scheduler_core.sweep.waits import Waits

__all__ = [
    "AXES",
    "Budget",
    "Grid",
    "Halving",
    "Named",
    "Prices",
    "Waits",
    "cell_distance",
    "cell_figures",
    "cell_run",
    "named_in",
    "pareto_front",
    "read_halving",
    "read_prices",
    "read_sweep",
    "scenario_of_cell",
]
