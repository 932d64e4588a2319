"""A row of an audit: a sentence, its evidence, and what opens the branch at the step that decided."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Verdict = Literal["ok", "note", "risk", "unknown"]
"""``risk`` is what somebody should change, ``unknown`` what cannot be said, and why."""


class Opening(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a row can be looked at.

    ``step`` is this scenario's step; with a ``verb`` it is that of a branch in which the verb acts on the
    ``targets`` at ``second``, as on the command line. ``again`` is a branch whose pods are scheduled once
    more, under a release or ``MostAllocated``. ``optimum`` is the search for the best placement.
    """

    kind: Literal["step", "verb", "again", "optimum"] = "step"
    verb: str = ""
    targets: tuple[str, ...] = ()
    value: str = ""
    second: float = 0.0
    step: str = ""
    pod: str = ""
    assumed: bool = False
    """Whether a target is not in the bundle but assumed from its pods: no command line names it."""
    under: str = ""
    """The release of the branch, "" for that of the scenario."""

    @property
    def command(self) -> str:
        """What opens it on the command line, behind the files; "" where no command does."""
        if self.kind == "verb" and not self.assumed:
            value = f"={self.value}" if self.value else ""
            pause = float(self.value) if self.verb == "upgrade" else 0.0
            each = (f"{one}{value}@{self.second + n * pause:g}" for n, one in enumerate(self.targets))
            under = [f"--scheduler {self.under}"] if self.under else []
            return " ".join([*under, *(f"--{self.verb} {one}" for one in each)])
        return f"--step {self.step} --pod {self.pod}" if self.kind == "step" and self.pod else ""


class AuditRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """An answer. ``about`` are the keys of its objects, as ``Kind namespace/name``.

    ``under`` is the release that gives it, "" for that of the scenario.
    """

    subject: str
    verdict: Verdict
    sentence: str
    evidence: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    opens: Opening | None = None
    under: str = ""

    def answered_under(self, release: str) -> AuditRow:
        """Return the row as one of a release, which the branch that it opens has, too."""
        return replace(self, under=release, opens=self.opens and replace(self.opens, under=release))
