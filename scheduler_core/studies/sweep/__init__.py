"""Many variants of one scenario: a grid of axes, the scenario of each cell, and the figures of its run."""

from scheduler_core.studies.sweep.axes import AXES
from scheduler_core.studies.sweep.cell import Named, scenario_of_cell
from scheduler_core.studies.sweep.figures import cell_figures
from scheduler_core.studies.sweep.front import pareto_front
from scheduler_core.studies.sweep.grid import Grid, named_in, read_sweep
from scheduler_core.studies.sweep.halving import Budget, Halving, read_halving
from scheduler_core.studies.sweep.play import cell_distance, cell_run
from scheduler_core.studies.sweep.prices import Prices, read_prices
from scheduler_core.studies.sweep.waits import Waits

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
