"""The cases of ``unhonored_cases.yaml``: a bundle for every field and kind that is reported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scheduler_core.kubernetes.support_workload import REPORTED_KINDS
from tests.core.objects.support_text import PARTS

HOLE = "<>"
SETTINGS = "---\napiVersion: podstep/v1\nkind: SimulationSettings\n"
TIMED = f"{SETTINGS}time: virtual\nscheduler: v1.22\n"
INSTANT = f"{SETTINGS}scheduler: v1.11\n"


@dataclass(frozen=True)
class Case:
    """A field by its type and name, or a kind; a bundle that uses it, and one that it does not matter in."""

    type: str
    name: str
    text: str
    quiet: str

    @property
    def id(self) -> str:
        """What the case is called."""
        return f"{self.type}.{self.name}" if self.type else self.name

    @property
    def effect(self) -> str:
        """What the table says that honoring it does."""
        if not self.type:
            return REPORTED_KINDS[self.name].effect
        (part,) = [part for part, _ in PARTS if part.type == self.type]
        return next(row.effect for row in part.reported if row.field == self.name)


def _read(row: dict[str, Any], frames: dict[str, str]) -> Case:
    frame = frames[row["frame"]]
    text, quiet = (
        frame.replace(HOLE, row[which]).replace("\n---\n\n", "\n---\n")
        + (TIMED if row.get("timed") else INSTANT)
        for which in ("put", "quiet")
    )
    return Case(row.get("type", ""), row.get("field") or row["kind"], text, quiet)


def together(chosen: list[Case]) -> str:
    """Return one bundle of many cases, each object with a name of its own, in virtual time."""
    documents = [TIMED.removeprefix("---\n")]
    for number, case in enumerate(chosen):
        node, *others = case.text.removesuffix(TIMED).removesuffix(INSTANT).split("\n---\n")
        documents += [] if number else [node]
        documents += [re.sub(r"(metadata: \{name: )([\w-]+)", rf"\g<1>\g<2>-{number}", one) for one in others]
    return "\n---\n".join(documents)


def cases() -> list[Case]:
    """Return all cases."""
    table = yaml.safe_load((Path(__file__).with_suffix(".yaml")).read_text(encoding="utf-8"))
    return [_read(row, table["frames"]) for row in table["cases"]]
