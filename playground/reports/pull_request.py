"""A report as Markdown for a pull request: every name in it is text, mentions nobody and closes no issue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from playground.reports.markup import plain, quoted
from playground.reports.report import DIFFERENCES, PLACEMENTS, WORKLOADS, Discussion, ReportContent

Row = Sequence[object]


def markdown(report: ReportContent) -> str:
    """Return the report as GitHub-flavored Markdown."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: ReportContent) -> Iterator[str]:
    yield f"# {plain(report.title)}"
    yield ""
    verdict = report.verdict
    by = f" by {plain(verdict.name)}" if verdict.name else ""
    yield f"**{verdict.words}**{by}, {verdict.day.isoformat()}"
    if verdict.note:
        yield from ("", quoted(verdict.note))
    yield ""
    for name, side in zip(("Scenario",) if report.single else ("Left", "Right"), report.sides):
        under = f" under {plain(side.under)}" if side.under else ""
        yield f"- {name}: [{plain(side.title)}{under}]({report.base}{side.url})"
    if report.address:
        yield f"- [Both, side by side]({report.base}{report.address})"
    if report.found.configuration:
        yield from ("", "## Changes of the configuration", "", "A is the left side, B the right one.", "")
        yield from (f"- {plain(text)}" for text in report.found.configuration)
    if not report.single:
        yield from _first(report)
    yield from _figures(report)
    if not report.single:
        yield from _tables(report)
    for discussion in report.discussions:
        yield from _discussion(report, discussion)


def _first(report: ReportContent) -> Iterator[str]:
    first = report.found.first
    yield ""
    if first is None:
        yield "Every decision is the same."
        return
    rule = f", decided by {plain(first['rule'])}" if first["rule"] else ""
    yield f"## First different decision: cycle {first['index']:,}{rule}"
    yield ""
    if first["history"]:
        yield from (plain(" ".join(first["history"])), "")
    sides = [first["left"] or {}, first["right"] or {}]
    yield from _table(
        ("", "left", "right"),
        [
            (words, *(side.get(key) if side.get(key) is not None else "–" for side in sides))
            for words, key in (
                ("pod", "pod"),
                ("result", "result"),
                ("node", "node"),
                ("feasible nodes", "feasible"),
            )
        ],
    )
    left, right = (f"{report.base}{address}" for address in report.at_first)
    yield ""
    yield f"Open cycle {first['index']:,}: [left]({left}), [right]({right})."
    if texts := first["details"]:
        yield ""
        yield "A is the left side, B the right one."
        yield ""
        yield from (f"- {plain(text)}" for text in texts)


def _figures(report: ReportContent) -> Iterator[str]:
    yield from ("", "## Metrics", "")
    if report.single:
        yield from _table(("metric", "value"), [(one.name, one.left) for one in report.found.figures])
        return
    yield from _table(
        ("metric", "left", "right", "change"),
        [(one.name, one.left, one.right, one.change) for one in report.found.figures],
    )


def _tables(report: ReportContent) -> Iterator[str]:
    found = report.found
    rows: list[Row]
    if found.differing:
        yield from ("", f"## Pods that end on another node: {found.differing:,}", "")
        rows = [
            (row["pod"], row["left"] or "pending", row["right"] or "pending")
            for row in found.placements[:PLACEMENTS]
        ]
        yield from _folded(_table(("pod", "left", "right"), rows), found.differing - len(rows))
    if found.differences:
        yield from ("", "## Different decisions", "")
        shown = found.differences[:DIFFERENCES]
        rows = [
            (pod, left or "–", one or "not tried", right or "–", two or "not tried")
            for left, right, pod, one, two in shown
        ]
        columns = ("pod", "left cycle", "left", "right cycle", "right")
        yield from _folded(_table(columns, rows), len(found.differences) - len(shown))
    yield from ("", "## By workload", "")
    workloads = [
        (
            row["workload"],
            *(row[side][key] for key in ("placed", "pending", "nodes") for side in ("left", "right")),
            row["differing"],
        )
        for row in found.workloads[:WORKLOADS]
    ]
    heads = (
        "workload",
        *(f"{key} {side}" for key in ("placed", "pending", "nodes") for side in ("left", "right")),
    )
    yield from _table((*heads, "pods elsewhere"), workloads)


def _folded(lines: Iterable[str], more: int) -> Iterator[str]:
    """Yield lines that are shown on demand."""
    yield from ("<details><summary>Show</summary>", "", *lines)
    if more > 0:
        yield from ("", f"and {more:,} more")
    yield from ("", "</details>")


def _discussion(report: ReportContent, discussion: Discussion) -> Iterator[str]:
    yield from ("", f"## Comments on {plain(discussion.title)}: {discussion.open} open", "")
    for thread in discussion.threads:
        state = "resolved" if thread["resolved"] else "open"
        yield f"**[{plain(about(thread))}]({report.base}{thread['url']})** ({state})"
        for comment in (thread, *thread["replies"]):
            yield ""
            yield f"{plain(author(comment))}, {comment['created'][:10]}:"
            yield ""
            yield quoted(comment["text"] or "removed")
        yield ""
    if discussion.more:
        yield f"and {discussion.more:,} more threads"


def about(thread: dict[str, object]) -> str:
    """Return what a thread is about, and what that step decided when it was begun."""
    step = {"0": "the start", "end": "the end"}.get(str(thread["step"]), f"step {thread['step']}")
    anchor = " · ".join(str(part) for part in (step, thread["node"], thread["pod"], thread["rule"]) if part)
    decision = thread["about"]
    if not isinstance(decision, dict) or not decision.get("pod"):
        return anchor
    went = f"went to {decision['node']}" if decision.get("node") else decision.get("result") or "was tried"
    return f"{anchor} ({decision['pod']} {went})"


def author(comment: dict[str, object]) -> str:
    """Return who wrote a comment."""
    return "Removed" if comment["removed"] else str(comment["name"] or "Somebody")


def _table(heads: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(plain(f'{cell:,}' if isinstance(cell, int) else str(cell)) for cell in row)} |"
