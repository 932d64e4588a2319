"""What a report holds: a comparison or one scenario, its comments, and a verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from msgspec import Struct

from playground.comparisons.summary import SideSummary, Summary
from playground.models import Draft, Scenario
from playground.pictures.scene import scene_of
from playground.pictures.stage import Area, stage
from playground.pictures.svg import element
from playground.pictures.themes import LIGHT
from playground.playback import sources
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.playback import OutOfRangeError
from playground.storage import bundles, comments, comparisons, store
from playground.visitors import names
from scheduler_core.kubernetes.problems import BundleError

VERDICTS = {"": "No verdict", "approve": "Approved", "needs-work": "Needs work"}
NOTE = 4_000  # characters
THREADS = 200  # of each scenario
PLACEMENTS = 200
DIFFERENCES = 50
WORKLOADS = 100
ALL = 10**9  # cycles
LAST = -1  # in place of a cycle's index: the last one
WIDTH, HEIGHT = 720.0, 340.0  # of a picture


class ReportError(ValueError):
    """A field of the form is wrong."""


class ReviewDecision(Struct, frozen=True):
    """What a reviewer decided, in whose name, and when."""

    kind: str  # of VERDICTS
    name: str
    note: str
    day: date

    @property
    def words(self) -> str:
        """The verdict as it is shown."""
        return VERDICTS[self.kind]


class Discussion(Struct, frozen=True):
    """The threads of one scenario; ``more`` are not listed."""

    title: str
    url: str
    threads: list[dict[str, Any]]
    more: int = 0

    @property
    def open(self) -> int:
        """How many threads are not resolved."""
        return sum(not thread["resolved"] for thread in self.threads)


class Picture(Struct, frozen=True):
    """A step as SVG, and what it is of."""

    caption: str
    svg: str


class ReportContent(Struct, frozen=True):
    """All that a report is made of; ``base`` is the address of this server, without a slash at its end."""

    found: Summary
    single: bool  # of one scenario: the comparison is that of it with itself, and only one side is reported
    verdict: ReviewDecision
    discussions: list[Discussion]
    pictures: list[Picture]
    base: str
    address: str = ""  # the page of the comparison, "" of one scenario

    @property
    def title(self) -> str:
        """The title of the page, and of the first line."""
        left, right = self.found.sides
        return left.title if self.single else f"{left.title} and {right.title}"

    @property
    def at_first(self) -> tuple[str, ...]:
        """The addresses of both sides at the first different decision."""
        first = self.found.first
        return tuple(side.at(first["index"]) if first else side.url for side in self.found.sides)

    @property
    def sides(self) -> tuple[SideSummary, ...]:
        """The sides that are reported."""
        return self.found.sides[:1] if self.single else self.found.sides

    @property
    def file_name(self) -> str:
        """The name of the file, without its ending: letters, digits and hyphens."""
        stem = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:60].strip("-")
        return f"review-{stem or 'untitled'}"


def verdict_of(fields: Mapping[str, str], day: date) -> ReviewDecision:
    """Return the verdict that a form sent. Raises ReportError."""
    kind = fields.get("verdict", "")
    if kind not in VERDICTS:
        raise ReportError(f"A verdict is one of: {', '.join(filter(None, VERDICTS))}.")
    note = comments.clean_text(fields.get("note", ""))
    if len(note) > NOTE:
        raise ReportError(f"A note may have {NOTE:,} characters.")
    return ReviewDecision(kind, names.clean_name(fields.get("name", "")), note, day)


def discussions(sides: tuple[SideSummary, ...]) -> list[Discussion]:
    """Return the comments on the sides, once for each shared scenario; for a branch, those on its origin.

    A thread shows the decision of the time when it was written, which a branch may decide otherwise.
    """
    found: dict[str, Discussion] = {}
    for side in sides:
        row = _commented(side)
        if row is None or row.short in found:
            continue
        threads = comments.threads(row)
        title, more = row.title or "Untitled", max(0, len(threads) - THREADS)
        found[row.short] = Discussion(title, f"/s/{row.short}/", threads[:THREADS], more)
    return [one for one in found.values() if one.threads]


def _commented(side: SideSummary) -> Scenario | None:
    if side.kind == "draft":  # the visitor's own: the comparison was made
        draft = Draft.objects.defer("files").filter(pk=side.name).first()
        return comments.of_branch(draft) if draft is not None else None
    if side.kind == "side" and (compared := comparisons.find_side(side.name)) is not None:
        return store.find_scenario(compared.scenario.short)  # if it is shared by itself, too
    return Scenario.objects.filter(short=side.name).first() if side.kind == "scenario" else None


def picture(source: sources.Source, index: int, title: str) -> Picture | None:
    """Return the stage after a cycle, or :data:`LAST`; ``None`` for what is too large to compute.

    It is light, as a report is read on paper and on pages of any look.
    """
    try:
        playback = sources.open_playback(source)
        sources.check_work(playback.scenario)
        playback.reach(ALL if index == LAST else index)
        scene = scene_of(playback, len(playback) if index == LAST else index, title)
    except (BundleError, bundles.TooLargeError, OutOfRangeError, TooMuchWorkError, ValueError):
        return None
    drawn = element(
        "svg",
        element("rect", width=WIDTH, height=HEIGHT, rx=8.0, fill=LIGHT.bg, stroke=LIGHT.line),
        stage(scene, Area(12, 8, WIDTH - 24, HEIGHT - 20), LIGHT),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        aria_label=f"The nodes and their pods: {scene.title}, {scene.where}",
    )
    return Picture(f"{scene.title}. {scene.where}. {' '.join(scene.sentences[-1:])}", drawn)
