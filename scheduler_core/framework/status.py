"""What a plugin answers at an extension point (framework.Status)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Code = Literal["Success", "Wait", "Unschedulable", "UnschedulableAndUnresolvable", "Error"]


@dataclass(frozen=True, slots=True)
class Status:
    """What a plugin says of a pod. ``detail`` is the plugin's own record of the decision, with its numbers.

    ``seconds`` is how long to wait at Permit, ``nominated`` the node that PostFilter makes room on.
    """

    code: Code = "Success"
    message: str = ""
    detail: object = None
    seconds: float = 0.0
    nominated: str = ""

    @property
    def success(self) -> bool:
        """Tell whether the pod goes on."""
        return self.code == "Success"


SUCCESS = Status()
