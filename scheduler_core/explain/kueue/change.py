"""A change that was applied on a copy and admits a Workload there."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from scheduler_core.explain.kueue.trials import Edit

PREEMPTED_NAMED = 5


class ProposedChange(Struct, frozen=True):
    """A change that may help: what it is about, in words, as JSON patches, and how it is made on a copy."""

    about: str
    words: str
    patches: tuple[KueuePatch, ...]
    edit: Edit


class KueuePatch(Struct, frozen=True):
    """A JSON patch (RFC 6902) of an object; ``name`` is ``namespace/name`` or a name."""

    kind: str
    name: str
    operations: tuple[dict[str, Any], ...]

    @property
    def command(self) -> str:
        """The command that makes it."""
        namespace, _, name = self.name.rpartition("/")
        where = f" -n {namespace}" if namespace else ""
        body = json.dumps(list(self.operations), ensure_ascii=False)
        return f"kubectl patch {self.kind.lower()}{where} {name} --type=json -p '{body}'"

    def as_dict(self) -> dict[str, Any]:
        """Return the patch as JSON."""
        return {
            "action": "patch",
            "kind": self.kind,
            "name": self.name,
            "type": "json",
            "patch": list(self.operations),
        }


class KueueChange(Struct, frozen=True):
    """A verified change: with it the Workload gets its quota, once ``preempts`` have stopped."""

    about: str
    words: str
    patches: tuple[KueuePatch, ...]
    preempts: tuple[str, ...]

    @property
    def note(self) -> str:
        """Whom it costs their place, "" if nobody."""
        if not self.preempts:
            return ""
        named = ", ".join(self.preempts[:PREEMPTED_NAMED])
        more = len(self.preempts) - PREEMPTED_NAMED
        return f"preempts {named}{f' and {more:,} more' if more > 0 else ''}"

    def as_dict(self) -> dict[str, Any]:
        """Return the change as JSON."""
        return {
            "about": self.about,
            "words": self.words,
            "patches": [one.as_dict() for one in self.patches],
            "preempts": list(self.preempts),
        }
