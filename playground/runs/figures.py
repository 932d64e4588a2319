"""The charts of a run, each with a table of the same data.

Built as ``plotly.graph_objects`` and drawn by the page. They set no colours: each trace names its series in
``meta``, and the page assigns that series a colour of its theme.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import plotly.graph_objects as go

from playground.models import Run
from playground.playback import over_time
from playground.playback.chunks import read_chunks
from playground.runs import several
from scheduler_core.record.availability import Availability, AvailabilitySample, WorkloadAvailability

TABLE_ROWS = 60
PODS = (("pending", 2), ("placed", 3), ("unschedulable", 4))  # series and its index in a sample
TERMINATING = ("terminating", 6)  # where there are any
OVER_TIME = "Workloads over time"
WORKLOAD_COLUMNS = (
    *("workload", "desired", "ready", "pending"),
    *("fewest ready", "below desired", "evicted or preempted", "evictions refused"),
)
OUTCOMES = ("scheduled", "unschedulable", "preempting", "error")


def outcomes_of(run: Run) -> list[str]:
    """Return the possible outcomes; pods wait at Permit only in virtual time."""
    return [*OUTCOMES, *(["waiting"] if run.outcomes.get("waiting") else [])]


def _layout(title: str, x: str, y: str) -> dict[str, Any]:
    clear = "rgba(0,0,0,0)"
    return {
        "title": {"text": title},
        "template": None,
        "paper_bgcolor": clear,
        "plot_bgcolor": clear,
        "margin": {"l": 56, "r": 16, "t": 40, "b": 44},
        "xaxis": {"title": {"text": x}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": y}, "rangemode": "tozero"},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": -0.2},
    }


def _line(name: str, x: list[Any], y: list[Any]) -> go.Scatter:
    return go.Scatter(name=name, x=x, y=y, mode="lines", meta={"series": name})


def figures(run: Run) -> dict[str, Any]:
    """Return the Plotly figures (data and layout) of a run as plain JSON values."""
    rows, resources = _samples(run)
    steps = [row[0] for row in rows]
    counted = _counted(run, rows)
    at_cycles = [row[0] for row in counted]
    pods = go.Figure([_line(name, at_cycles, [row[at] for row in counted]) for name, at in _series(counted)])
    ended = counted[-1][6] if counted else 0
    pods.update_layout(
        _layout("Pods over cycles", "cycle", "pods"),
        meta={"peak": _peak(counted), "terminating": ended, "times": _times(counted)},
    )
    full = go.Figure([_line(name, steps, [row[5][at] for row in rows]) for at, name in enumerate(resources)])
    full.update_layout(
        _layout("Requested share of each resource", "cycle", "of allocatable"), meta={"times": _times(rows)}
    )
    full.update_yaxes(tickformat="~%", hoverformat=".1%")
    names = outcomes_of(run)
    counts = [run.outcomes.get(name, 0) for name in names]
    ends = go.Figure([go.Bar(x=names, y=counts, name="cycles", meta={"series": "outcomes"})])
    ends.update_layout(_layout("Cycles by outcome", "", "cycles"), hovermode="closest", showlegend=False)
    named = {"pods": pods, "utilisation": full, "outcomes": ends}
    if (found := over_time.of(run)) is not None:
        named[over_time.KEY] = _available(found)
    if (decided := several.rows_of(run)) is not None:
        labels, attempts = [row[0] for row in decided], [row[1] for row in decided]
        named[several.KEY] = go.Figure(
            [go.Bar(x=labels, y=attempts, name="attempts", meta={"series": "attempts"})]
        )
        named[several.KEY].update_layout(
            _layout("Attempts by scheduler", "", "attempts"), hovermode="closest", showlegend=False
        )
    return {name: figure.to_plotly_json() for name, figure in named.items()}


def _available(found: Availability) -> go.Figure:
    """Return all workloads' pods over virtual time; a moment holds until the next."""
    rows = [*found.total.moments, found.total.last._replace(at=found.until)]
    x = [row.at for row in rows]
    named = ((name, [row[at] for row in rows]) for at, name in enumerate(AvailabilitySample._fields) if at)
    lines = [_line(name, x, counts) for name, counts in named if name != "terminating" or any(counts)]
    figure = go.Figure(lines)
    figure.update_traces(line={"shape": "hv"})
    figure.update_layout(_layout(OVER_TIME, "virtual seconds", "pods"))
    return figure


def _workloads(found: Availability | None) -> dict[str, Any]:
    """Return the workloads, those that were below desired longest first, as a table of the page."""
    rows: list[list[str]] = []
    if found is not None:
        rows = [
            _workload("all workloads", found.total),
            *(_workload(one.name, one) for one in found.workloads),
        ]
    return {"name": over_time.KEY, "title": OVER_TIME, "columns": list(WORKLOAD_COLUMNS), "rows": rows}


def _workload(name: str, one: WorkloadAvailability) -> list[str]:
    fewest, below = f"{one.fewest_ready:,} at {one.fewest_at:,.3f} s", f"{one.below:,.3f} s"
    lost = f"{one.evicted + one.preempted:,}"
    return [name, *(f"{number:,}" for number in one.last[1:4]), fewest, below, lost, f"{one.refused:,}"]


def tables(run: Run) -> list[dict[str, Any]]:
    """Return ``{name, title, columns, rows}`` for each figure; long tables are thinned evenly."""
    rows, resources = _samples(run)
    shown = _thinned(rows)
    counted = _thinned(_counted(run, rows))
    series = _series(counted)
    decided, found = several.rows_of(run), over_time.of(run)
    return [
        {
            "name": "pods",
            "title": "Pods over cycles",
            "columns": ["cycle", *("running" if name == "placed" else name for name, _ in series)],
            "rows": [[f"{row[0]:,}", *(f"{row[at]:,}" for _, at in series)] for row in counted],
        },
        {
            "name": "utilisation",
            "title": "Requested share of each resource",
            "columns": ["cycle", *resources],
            "rows": [[f"{row[0]:,}", *(f"{share:.1%}" for share in row[5])] for row in shown],
        },
        {
            "name": "outcomes",
            "title": "Cycles by outcome",
            "columns": ["outcome", "cycles"],
            "rows": [[name, f"{run.outcomes.get(name, 0):,}"] for name in outcomes_of(run)],
        },
        *([] if decided is None else [several.table(decided)]),
        *([_workloads(found)] if over_time.KEY in run.samples else []),
    ]


def first_unschedulable(run: Run) -> int | None:
    """Return the first cycle without a feasible node for its pod; None if there is none so far."""
    if not (run.outcomes.get("unschedulable") or run.outcomes.get("preempting")):
        return None
    try:
        return _first_failure(run.pk)
    except LookupError:
        return None


@lru_cache(maxsize=256)
def _first_failure(run_id: str) -> int:
    """Find it in the stored decisions, which never change. Raises LookupError, which is not cached."""
    index = 0
    for rows in read_chunks(run_id):
        for row in rows:
            index += 1
            if row[1] in "up":
                return index
    raise LookupError(run_id)


def _samples(run: Run) -> tuple[list[Any], list[str]]:
    return run.samples.get("rows", []), run.samples.get("resources", [])


def _counted(run: Run, rows: list[Any]) -> list[Any]:
    """Return the samples with the run's own counts last, so that charts and counters agree."""
    rows = [row if len(row) > TERMINATING[1] else [*row, 0] for row in rows]
    if not run.cycles or (rows and rows[-1][0] >= run.cycles):
        return rows
    ended = rows[-1][6] if rows else 0
    return [*rows, [run.cycles, None, run.pending, run.placed, run.unschedulable, None, ended]]


def _series(counted: list[Any]) -> list[tuple[str, int]]:
    """Return the series of the pods' chart."""
    return [*PODS, *([TERMINATING] if any(row[6] for row in counted) else [])]


def _times(rows: list[Any]) -> list[float]:
    """Return the virtual second of each sample; that of the run's own counts is the last known."""
    times = [row[1] for row in rows]
    return times if not times or times[-1] is not None else [*times[:-1], times[-2] if times[1:] else 0.0]


def _peak(rows: list[Any]) -> list[int]:
    """Return ``[pods, cycle]`` of the first sample with the most pods on nodes."""
    top = max(rows, key=lambda row: row[3], default=None)
    return [0, 0] if top is None else [top[3], top[0]]


def _thinned(rows: list[Any]) -> list[Any]:
    if len(rows) <= TABLE_ROWS:
        return rows
    stride = -(-len(rows) // (TABLE_ROWS - 1))
    thinned = rows[::stride]
    return thinned if thinned[-1] is rows[-1] else [*thinned, rows[-1]]
