"""What a plugin answers for a pod or a node (framework.Status), and its codes."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

SUCCESS = "Success"
SKIP = "Skip"
WAIT = "Wait"
ERROR = "Error"
UNSCHEDULABLE = "Unschedulable"
UNRESOLVABLE = "UnschedulableAndUnresolvable"


class Status(Struct, frozen=True):
    """What a plugin answers (framework.Status); ``plugin`` is the one that failed, if the record names it."""

    code: str
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    def document(self) -> dict[str, Any]:
        """Return the record's form."""
        out: dict[str, Any] = {"plugin": self.plugin} if self.plugin else {}
        out["code"] = self.code
        if self.reasons:
            out["reasons"] = list(self.reasons)
        return out

    @property
    def text(self) -> str:
        """The reasons joined by a comma (Status.Message)."""
        return ", ".join(self.reasons)


OK = Status(SUCCESS)
SKIPPED = Status(SKIP)
