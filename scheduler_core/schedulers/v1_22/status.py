"""The result of a plugin at an extension point (framework.Status)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Code = Literal["Success", "Wait", "Unschedulable", "UnschedulableAndUnresolvable", "Error"]


class Status(Struct, frozen=True):
    """A plugin's result for a pod. ``detail`` is the plugin's own record of the decision, with its numbers.

    ``seconds`` is the time to wait at Permit, ``nominated`` the node that PostFilter nominates.
    """

    code: Code = "Success"
    message: str = ""
    detail: object = None
    seconds: float = 0.0
    nominated: str = ""

    @property
    def success(self) -> bool:
        """Return whether the code is Success."""
        return self.code == "Success"


SUCCESS = Status()
