"""A comparison as people read it: the tables of its page and reports, made of the answer of the API."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from playground.playback.sources import page_of
from scheduler_core.compare.results.metrics import FIGURES

KINDS = ("scenario", "run", "link", "draft", "side")
SHOWN = (
    *FIGURES,
    ("balance: deviation of the nodes' cpu", "cpuDeviation"),
    ("balance: pods between zones, most minus least", "zoneSpread"),
)
SHARES = (("requested at the end", "utilisation"), ("requested, mean of cycles", "meanUtilisation"))


class Figure(Struct, frozen=True):
    """A metric of both sides as text, "–" where a side has none, and the right one minus the left one."""

    name: str
    left: str
    right: str
    change: str  # "" where it is the same, or not known


class SideSummary(Struct, frozen=True):
    """One side: title, page and kind, the scheduler that it was put under, and the release shown for it."""

    title: str
    url: str
    kind: str
    name: str
    scheduler: str | None
    under: str | None  # the release: of a stored comparison always, else where it was put under another one

    def at(self, index: int) -> str:
        """Return the address of a cycle; a run's cycles have a page of their own.

        Under another scheduler than it asks for a source has no page that shows its cycles.
        """
        if self.scheduler:
            return self.url
        return f"{self.url}at/{index}/" if self.kind == "run" else f"{self.url}?step={index}"


class Summary(Struct, frozen=True):
    """What a comparison shows; ``first``, ``placements`` and ``workloads`` are as in docs/protocol.md."""

    sides: tuple[SideSummary, SideSummary]
    first: dict[str, Any] | None
    placements: list[dict[str, str]]
    differing: int
    figures: list[Figure]
    configuration: list[str]
    differences: list[list[Any]]
    more_differences: bool
    workloads: list[dict[str, Any]]
    workload_count: int
    upgrade: dict[str, Any] | None = None

    @property
    def more(self) -> int:
        """How many pods with another node are not listed."""
        return self.differing - len(self.placements)


def summary(found: dict[str, Any]) -> Summary:
    """Return the summary of an answer of ``GET /api/compare``."""
    return Summary(
        sides=(_side(found["left"]), _side(found["right"])),
        first=found["first"],
        placements=found["placements"],
        differing=found["differing"],
        figures=_figures(found["metrics"]["left"], found["metrics"]["right"]),
        configuration=found["configuration"],
        differences=found["differences"],
        more_differences=found["moreDifferences"],
        workloads=found["workloads"],
        workload_count=found["workloadCount"],
        upgrade=found.get("upgrade"),
    )


def _side(side: dict[str, Any]) -> SideSummary:
    kind, name = next((kind, str(name)) for kind, name in side["source"].items() if kind in KINDS)
    under = side.get("release") or side["scheduler"]
    return SideSummary(side["title"] or "Untitled", page_of(kind, name), kind, name, side["scheduler"], under)


def _figures(left: dict[str, Any], right: dict[str, Any]) -> list[Figure]:
    found = [
        _figure(name, left.get(key), right.get(key)) for name, key in SHOWN if key in left or key in right
    ]
    for words, key in SHARES:
        one, two = left.get(key, {}), right.get(key, {})
        found += [
            _share(f"{name} {words}", one.get(name, 0), two.get(name, 0))
            for name in dict.fromkeys([*one, *two])
        ]
    return found


def _figure(name: str, left: float | None, right: float | None) -> Figure:
    change = "" if left is None or right is None or left == right else _signed(right - left)
    one, two = ("–" if value is None else f"{value:,}" for value in (left, right))
    return Figure(name, one, two, change)


def _signed(by: float) -> str:
    amount = f"{abs(by):,.4f}".rstrip("0").rstrip(".") if isinstance(by, float) else f"{abs(by):,}"
    return f"{'+' if by > 0 else '−'}{amount}"


def _share(name: str, left: float, right: float) -> Figure:
    by = round(100 * (right - left), 1)
    return Figure(
        name, f"{left:.1%}", f"{right:.1%}", f"{'+' if by > 0 else '−'}{abs(by)} points" if by else ""
    )
