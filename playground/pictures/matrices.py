"""The matrices and the ladder of a step as SVG: node × predicate, node × priority, and nodes by predicate.

No colour stands alone: a cell has a tick, a cross or a dash, a bar its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from playground.panels.ladder import ladder
from playground.pictures.svg import cut, element, text
from playground.pictures.themes import DARK
from scheduler_core.record.cycle import Cycle, PredicateMatrix
from scheduler_core.run.v1_37.record import terms_of

PASSED = "#1fa57c"
ROWS = 60  # nodes of a matrix; the rest is counted
COLUMNS = 40  # predicates or priorities of one
MARGIN = 24.0
HEAD = 64.0  # title and where the step is
ROW = 20.0
NAMES = 190.0  # width of the nodes' names
CELL = 26.0
SCORE = 74.0  # width of a score
UPRIGHT = 7.0  # height of a character in the names of columns, which stand upright
REASONS = 460.0
NAME_LENGTH, REASON_LENGTH, COLUMN_LENGTH, TITLE_LENGTH = 28, 74, 38, 90
BARS = 520.0  # width of the longest bar of the ladder


class Caption(Struct, frozen=True):
    """What stands over a picture: the scenario's title, and which step it is of."""

    title: str
    where: str


def predicates(cycle: Cycle | None, caption: Caption) -> str:
    """Return the node × predicate matrix, with the reasons of each node's first failure."""
    rules = terms_of(cycle)
    if cycle is None or cycle.matrix is None:
        return _nothing(f"No {rules.filter} ran at this step.", caption)
    matrix = cycle.matrix
    order = matrix.order[:COLUMNS]
    nodes = _first_nodes(range(len(cycle.nodes)), _chosen(cycle))
    top = _top(order)
    drawn = [
        _column(name, MARGIN + NAMES + CELL * number, top, CELL, chosen=False)
        for number, name in enumerate(order)
    ]
    at = MARGIN + NAMES + CELL * len(order) + 12
    drawn.append(text("reason", at, top - 8, 13, DARK.dim))
    for row, node in enumerate(nodes):
        y = top + ROW * row
        chosen = node == _chosen(cycle)
        drawn.append(_name(cycle.nodes[node], y, chosen=chosen))
        drawn += (
            _mark(int(matrix.codes[number, node]), MARGIN + NAMES + CELL * number, y)
            for number in range(len(order))
        )
        reason = "chosen" if chosen else _reason(matrix, node)
        drawn.append(text(cut(reason, REASON_LENGTH), at, y + 14, 12, DARK.accent if chosen else DARK.dim))
    more = _more(len(cycle.nodes) - len(nodes), "nodes"), _more(len(matrix.order) - len(order), rules.filters)
    width = at + REASONS
    return _document(drawn, width, top + ROW * len(nodes), caption, more, f"Nodes and {rules.filters}")


def priorities(cycle: Cycle | None, caption: Caption) -> str:
    """Return the node × priority matrix of weighted scores, the highest total first."""
    if cycle is None or cycle.totals is None or not cycle.priorities:
        return _nothing("No node was scored at this step.", caption)
    rules = terms_of(cycle)
    rows = cycle.priorities[:COLUMNS]
    order = np.argsort(-cycle.totals, kind="stable").tolist()
    feasible = cycle.feasible.tolist()
    chosen = _chosen(cycle)
    shown = _first_nodes(order, next((at for at in order if feasible[at] == chosen), None))
    names = [*(f"{row.name} × {row.weight:,}" for row in rows), "total"]
    top = _top(names)
    drawn = [
        _column(name, MARGIN + NAMES + SCORE * number, top, SCORE, chosen=number == len(rows))
        for number, name in enumerate(names)
    ]
    for place, at in enumerate(shown):
        y = top + ROW * place
        mine = feasible[at] == chosen
        drawn.append(_name(cycle.nodes[feasible[at]], y, chosen=mine))
        scores = [*(int(row.weighted[at]) for row in rows), int(cycle.totals[at])]
        drawn += (
            text(
                f"{score:,}",
                MARGIN + NAMES + SCORE * (number + 1) - 10,
                y + 14,
                12,
                DARK.accent if mine else DARK.ink if number == len(rows) else DARK.dim,
                text_anchor="end",
            )
            for number, score in enumerate(scores)
        )
        if mine:
            drawn.append(text("chosen", MARGIN + NAMES + SCORE * len(names) + 8, y + 14, 12, DARK.accent))
    more = (
        _more(len(feasible) - len(shown), "feasible nodes"),
        _more(len(cycle.priorities) - len(rows), rules.scorers),
    )
    width = MARGIN + NAMES + SCORE * len(names) + 80
    return _document(drawn, width, top + ROW * len(shown), caption, more, f"Nodes and {rules.scorers}")


def rungs(cycle: Cycle | None, caption: Caption) -> str:
    """Return the ladder: of each predicate how many nodes came to it, and how many it removed."""
    rules = terms_of(cycle)
    found = ladder(cycle) if cycle is not None else []
    if not found:
        return _nothing(f"No {rules.filter} ran at this step.", caption)
    most = max(1, found[0][1])
    drawn: list[str] = []
    for row, (name, before, after) in enumerate(found[:COLUMNS]):
        y = HEAD + (ROW + 4) * row
        x = MARGIN + 260
        drawn += (
            text(f"{row + 1}", MARGIN + 18, y + 15, 12, DARK.dim, text_anchor="end"),
            text(cut(name, NAME_LENGTH + 6), MARGIN + 28, y + 15, 13, DARK.ink),
            element(
                "rect",
                x=x,
                y=y + 3,
                width=BARS * before / most,
                height=ROW - 4,
                fill=DARK.panel,
                stroke=DARK.line,
            ),
            element("rect", x=x, y=y + 3, width=BARS * after / most, height=ROW - 4, fill=PASSED),
            text(_kept(before, after), x + BARS + 12, y + 15, 12, DARK.fail if before != after else DARK.dim),
        )
    count = min(len(found), COLUMNS)
    more = (_more(len(found) - count, rules.filters),)
    width = MARGIN + 260 + BARS + 240
    return _document(drawn, width, HEAD + (ROW + 4) * count, caption, more, f"Nodes by {rules.filter}")


def _kept(before: int, after: int) -> str:
    return f"{before:,}" if before == after else f"{before:,} to {after:,}, {before - after:,} removed"


def _chosen(cycle: Cycle) -> int | None:
    name = cycle.node or cycle.decision.nominated
    return cycle.nodes.index(name) if name in cycle.nodes else None


def _first_nodes(order: Sequence[int], chosen: int | None) -> list[int]:
    """Return the first of them, the chosen one among them."""
    first = list(order[:ROWS])
    if chosen is not None and chosen not in first:
        first[-1] = chosen
    return first


def _reason(matrix: PredicateMatrix, node: int) -> str:
    failed = np.flatnonzero(matrix.codes[:, node] > 0)
    if not failed.size:
        return "" if (matrix.codes[:, node] >= 0).any() else "not evaluated"
    first = int(failed[0])
    error = matrix.errors.get((first, node))
    return error or ", ".join(matrix.reasons[int(matrix.codes[first, node])])


def _top(columns: Sequence[str]) -> float:
    """Return where the rows begin, below the names of the columns."""
    return HEAD + 12 + UPRIGHT * min(COLUMN_LENGTH, max(map(len, columns), default=0))


def _name(name: str, y: float, *, chosen: bool) -> str:
    return text(cut(name, NAME_LENGTH), MARGIN, y + 14, 12, DARK.accent if chosen else DARK.ink)


def _column(name: str, x: float, top: float, width: float, *, chosen: bool) -> str:
    at = x + width / 2 + 4
    return text(
        cut(name, COLUMN_LENGTH),
        at,
        top - 8,
        12,
        DARK.ink if chosen else DARK.dim,
        transform=f"rotate(-90 {at:.1f} {top - 8:.1f})",
    )


def _mark(code: int, x: float, y: float) -> str:
    """Return a cell: a tick where the predicate passed, a cross where it failed, else a dash."""
    left, top, size = x + 3, y + 2, CELL - 6
    if code < 0:
        middle = top + 8
        return element(
            "line", x1=left + 6, y1=middle, x2=left + size - 6, y2=middle, stroke=DARK.dim, stroke_width=1.2
        )
    box = element(
        "rect",
        x=left,
        y=top,
        width=size,
        height=ROW - 4,
        rx=3.0,
        fill=PASSED if code == 0 else DARK.fail,
        fill_opacity=0.35 if code == 0 else 1.0,
    )
    path = (
        f"M{left + 6:.1f} {top + 8:.1f} l3 3.5 l5.5 -7"
        if code == 0
        else f"M{left + 6:.1f} {top + 4:.1f} l8 8 m0 -8 l-8 8"
    )
    return box + element(
        "path", d=path, fill="none", stroke=PASSED if code == 0 else DARK.bg, stroke_width=1.8
    )


def _more(count: int, what: str) -> str:
    return f"and {count:,} more {what}" if count > 0 else ""


def _nothing(message: str, caption: Caption) -> str:
    drawn = [text(message, MARGIN, HEAD + 24, 16, DARK.dim)]
    return _document(drawn, 640.0, HEAD + 40, caption, (), message)


def _document(
    drawn: Sequence[str], width: float, bottom: float, caption: Caption, more: Sequence[str], label: str
) -> str:
    note = ", ".join(filter(None, more))
    height = bottom + (2 * MARGIN if note else MARGIN)
    return element(
        "svg",
        element("rect", width=width, height=height, fill=DARK.bg),
        text(cut(caption.title, TITLE_LENGTH), MARGIN, 30, 18, DARK.ink, font_weight="bold"),
        text(cut(caption.where, TITLE_LENGTH), MARGIN, 50, 13, DARK.accent),
        *drawn,
        *_note(note, bottom),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=width,
        height=height,
        role="img",
        aria_label=f"{label}: {caption.title}, {caption.where}",
    )


def _note(note: str, bottom: float) -> Iterator[str]:
    if note:
        yield text(note, MARGIN, bottom + 22, 12, DARK.dim)
