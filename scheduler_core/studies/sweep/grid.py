"""Reading a sweep: the axes of its grid with their values, and which of its cells run.

A sweep is an object, in JSON or YAML::

    grid:
      scheduler: [v1.36, v1.37]
      weights.NodeResourcesFit: [1, 5]
      seed: [1, 2, 3]
    sample: {cells: 6, seed: 1}     # without it every cell runs
    halving: {arrivals: [0.1, 1], keep: 0.5, by: placed}
    prices: {node.kubernetes.io/instance-type: {m5.large: 0.096}}

A bare grid is one, too. ``config``, ``shape`` and ``deschedulerPolicy`` map names to objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from random import Random
from typing import Any

from msgspec import Struct

from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.authoring.verb_targets import VerbError
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.readers import path_text
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.studies.sweep.axes import AXES, NAMED, axis_of, written
from scheduler_core.studies.sweep.cell import Named, documents_of, release_of, releases_of
from scheduler_core.studies.sweep.halving import FIELD as HALVING
from scheduler_core.studies.sweep.halving import Budget, Halving, read_halving, within
from scheduler_core.studies.sweep.prices import FIELD as PRICES
from scheduler_core.studies.sweep.prices import Prices, read_prices

MOST_CELLS = 1_000
MOST_VALUES = 100
FIELDS = ("grid", "sample", HALVING, PRICES)
Values = dict[str, Any]


class Grid(Struct, frozen=True):
    """A sweep that was read: its axes with their values, the cells that run, and how many there would be.

    ``named`` has the objects of such an axis by their names, see :data:`axes.NAMED`. A cell has a
    value for each axis, of those the name.
    """

    axes: Mapping[str, tuple[Any, ...]]
    named: Named
    cells: tuple[Values, ...]
    whole: int
    halving: Halving | None = None
    prices: Prices = {}

    @property
    def budgets(self) -> tuple[Budget | None, ...]:
        """The budget of each rung; without halving one rung has all."""
        return self.halving.budgets if self.halving else (None,)


def read_sweep(body: Any, scenario: Scenario) -> Grid:
    """Read a sweep of a scenario, and try each value of each axis on its own.

    Raises:
        BundleError: It has errors; each names its path, and what would be right.
    """
    problems: list[Problem] = []
    grid, sample, others = _parts(body, problems)
    halving = read_halving(others.get(HALVING), problems)
    prices = read_prices(others.get(PRICES), problems)
    axes, named = _axes(grid, problems)
    if not problems:
        problems += _tried(scenario, axes, named)
        problems += _tried_rungs(scenario, axes, named, halving)
    whole = prod(map(len, axes.values()))
    wanted = _sampled(sample, whole, problems)
    if problems:
        raise BundleError(problems)
    cells = tuple(_cell(axes, number) for number in wanted)
    return Grid(axes, named, cells, whole, halving, prices)


def _parts(body: Any, problems: list[Problem]) -> tuple[Mapping[str, Any], Any, Mapping[str, Any]]:
    """Return the grid, the sample, and the object with the other fields."""
    if not isinstance(body, Mapping):
        problems.append(Problem("a sweep is an object with a grid, such as {grid: {seed: [1, 2, 3]}}"))
        return {}, None, {}
    if "grid" not in body:
        return body, None, {}
    problems += [
        Problem(f"unknown field; a sweep has {', '.join(FIELDS)}", name)
        for name in body
        if name not in FIELDS
    ]
    grid = body["grid"]
    if not isinstance(grid, Mapping):
        problems.append(Problem("must be an object of axes, such as {seed: [1, 2, 3]}", "grid"))
        return {}, None, {}
    return grid, body.get("sample"), body


def _axes(grid: Mapping[str, Any], problems: list[Problem]) -> tuple[dict[str, tuple[Any, ...]], Named]:
    """Return the axes in the order in which their values are applied, and what their names stand for."""
    found: dict[str, tuple[Any, ...]] = {}
    if not grid and not problems:
        problems.append(Problem("has no axis; one is needed, such as seed: [1, 2, 3]", "grid"))
    for name, values in grid.items():
        try:
            axis, _ = axis_of(str(name))
            is_named = axis.named and (isinstance(values, Mapping) or not axis.listed)
            found[str(name)] = _values(str(name), _names(axis.named, values) if is_named else values)
        except EditError as error:
            problems.append(Problem(str(error), path_text(("grid", str(name)[:80]))))
    places = list(AXES)
    order = sorted(found, key=lambda name: places.index(name.partition(".")[0]))
    return {name: found[name] for name in order}, named_in(grid)


def named_in(grid: Mapping[str, Any]) -> Named:
    """Return the objects by name of each axis of a grid that was read."""
    return {name: grid[name] for name in NAMED if isinstance(grid.get(name), Mapping)}


def _names(what: str, values: Any) -> list[str]:
    if not isinstance(values, Mapping) or not all(isinstance(one, Mapping) for one in values.values()):
        raise EditError(f"must be an object of {what} by a name of your own, such as {{packed: {{…}}}}")
    if not all(isinstance(name, str) for name in values):
        raise EditError("has a name that is no text: put it in quotes")
    return list(values)


def _values(name: str, values: Any) -> tuple[Any, ...]:
    if not isinstance(values, list) or not 0 < len(values) <= MOST_VALUES:
        raise EditError(f"must be a list of 1 to {MOST_VALUES} values")
    if any(isinstance(value, list | dict) for value in values):
        raise EditError(
            "has a value that is a list or an object: values are texts, numbers, true, false and null"
        )
    if len({(type(value), value) for value in values}) < len(values):
        raise EditError("has a value twice")
    return tuple(written(name, value) for value in values)


def _tried(scenario: Scenario, axes: Mapping[str, tuple[Any, ...]], named: Named) -> Iterator[Problem]:
    """Yield what is wrong with each value on its own, under each release that may answer it."""
    for name, values in axes.items():
        for place, value in enumerate(values):
            own: Values = {name: value}
            for chosen in releases_of(axes, own):
                try:
                    release = release_of(scenario, axes, named, chosen)
                    documents_of(scenario, {**own, **chosen}, named, release)
                except (EditError, VerbError) as error:
                    yield Problem(str(error), path_text(("grid", name, value if name in named else place)))
                    break


def _tried_rungs(
    scenario: Scenario,
    axes: Mapping[str, tuple[Any, ...]],
    named: Named,
    halving: Halving | None,
) -> Iterator[Problem]:
    """Yield what is wrong with the first rung under a release that may answer it."""
    for chosen in releases_of(axes, {}) if halving else ():
        assert halving is not None
        try:
            within(scenario.documents, halving.budgets[0], release_of(scenario, axes, named, chosen))
        except EditError as error:
            yield Problem(str(error), HALVING)
            return


def _sampled(sample: Any, whole: int, problems: list[Problem]) -> list[int]:
    """Return the numbers of the cells that run, in order."""
    if sample is None:
        if whole > MOST_CELLS:
            problems.append(
                Problem(
                    f"has {whole:,} cells, and {MOST_CELLS:,} is the limit: use fewer values, or a sample of "
                    "them, such as {cells: 100, seed: 1}",
                    "grid",
                )
            )
            return []
        return list(range(whole))
    cells, seed = (
        (sample.get(name) for name in ("cells", "seed")) if isinstance(sample, Mapping) else (None, None)
    )
    seed = 0 if seed is None else seed
    if (
        type(cells) is not int
        or not 0 < cells <= MOST_CELLS
        or type(seed) is not int
        or not _is_sample(sample)
    ):
        message = f"must be like {{cells: 20, seed: 1}}, with at most {MOST_CELLS:,} cells"
        problems.append(Problem(message, "sample"))
        return []
    return sorted(Random(seed).sample(range(whole), min(cells, whole)))  # noqa: S311 - a simulation


def _is_sample(sample: Mapping[str, Any]) -> bool:
    return set(sample) <= {"cells", "seed"}


def _cell(axes: Mapping[str, tuple[Any, ...]], number: int) -> Values:
    """Return the values of the cell with a number; the last axis varies fastest."""
    values: Values = {}
    for name, choices in reversed(tuple(axes.items())):
        number, place = divmod(number, len(choices))
        values[name] = choices[place]
    return {name: values[name] for name in axes}
