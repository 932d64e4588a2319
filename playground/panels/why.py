"""Why a pod is on its node or on none, as it is shown, and the change that is applied in a copy."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from typing import Any

from msgspec import Struct

from playground.playback.playback import Playback
from scheduler_core.explain import Asking, Explanation, asking
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.trial import Copy, copying
from scheduler_core.formats.yaml_writer import write_yaml

ANSWERS_KEPT = 64
VERDICTS_SHOWN = 1  # of all nodes; their groups cover the rest, and each can be asked about separately
YAML_SHOWN = 20_000  # characters per change
ITEMS_SHOWN = 100  # of any list in an answer
TEXT_SHOWN = 2_000  # characters of any other text
ANSWERS_BYTES = 16 * 1024 * 1024
NO_CYCLE = ("bound", "other")  # states in which no cycle of the simulation decides about the pod


class WhyQuestion(Struct, frozen=True):
    """The question: a pod, all nodes or one, after a cycle of a source (``key`` of the library)."""

    key: Hashable
    index: int
    pod: str
    node: str | None


class WhyAnswers:
    """The latest answers, so that applying a change need not search again; bounded in number and bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[WhyQuestion, Explanation] = OrderedDict()
        self._sizes: dict[WhyQuestion, int] = {}
        self._lock = threading.Lock()

    def get(self, question: WhyQuestion) -> Explanation | None:
        """Return the cached answer to a question, ``None`` on a miss."""
        with self._lock:
            return self._kept.get(question)

    def keep(self, question: WhyQuestion, answer: Explanation) -> None:
        """Cache an answer, evicting the oldest."""
        size = len(json.dumps(answer.as_dict()))
        with self._lock:
            self._kept[question] = answer
            self._sizes[question] = size
            while len(self._kept) > 1 and (
                len(self._kept) > ANSWERS_KEPT or sum(self._sizes.values()) > ANSWERS_BYTES
            ):
                del self._sizes[self._kept.popitem(last=False)[0]]


answers = WhyAnswers()


def explaining(playback: Playback, question: WhyQuestion) -> Asking:
    """Answer a question, pausing regularly. Raises ExplainError."""
    known = answers.get(question)
    if known is None:
        known = yield from asking(
            playback.scenario,
            playback.trail.decisions,
            question.index,
            question.pod,
            question.node,
            shown=VERDICTS_SHOWN,
        )
        answers.keep(question, known)
    return known


Applied = tuple[Remedy, "Copy | None"]


def applying(
    playback: Playback, question: WhyQuestion, change_id: str, out_of_time: Callable[[], bool]
) -> Generator[None, None, Applied | None]:
    """Create the copy with a change that was offered, pausing regularly; ``None`` without such a change."""
    answer = yield from explaining(playback, question)
    change = next((change for change in answer.changes if change.id == change_id), None)
    if change is None or not applicable(answer):
        return None
    made = yield from copying(
        playback.scenario,
        change,
        question.pod,
        index=question.index,
        major=int(answer.step.split(".", maxsplit=1)[0]),
        placed=answer.state == "placed",
        out_of_time=out_of_time,
    )
    return change, made


def applicable(answer: Explanation) -> bool:
    """Return whether a copy can show the pod being placed: whether a cycle decides about it."""
    return answer.state not in NO_CYCLE


def why(answer: Explanation) -> dict[str, Any]:
    """Return the protocol's ``Why``, of bounded size for any manifests."""
    wire = answer.as_dict()
    for shown in wire["changes"]:
        if len(json.dumps(shown["patches"])) > YAML_SHOWN:
            shown["patches"] = []  # half a patch would have another effect
    wire = _bounded(wire)
    for shown, change in zip(wire["changes"], answer.changes):
        shown["yaml"] = patch_text(change)
    return {**wire, "applicable": applicable(answer)}


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= TEXT_SHOWN else f"{value[:TEXT_SHOWN]}…"
    if isinstance(value, list):
        return [_bounded(item) for item in value[:ITEMS_SHOWN]]
    if isinstance(value, dict):
        return {key: _bounded(item) for key, item in value.items()}
    return value


def patch_text(change: Remedy) -> str:
    """Return a change as YAML with a comment on each part that says how to apply it."""
    parts = [_patch_yaml(patch) for patch in change.patches]
    text = "".join(parts)
    return text if len(text) <= YAML_SHOWN else f"{text[:YAML_SHOWN]}\n# and more\n"


def _patch_yaml(patch: dict[str, Any]) -> str:
    about = f"{patch['kind']} {patch['name']}"
    if patch["action"] == "delete":
        return f"---\n# delete {about}\n"
    body = patch["object"] if patch["action"] == "create" else patch["patch"]
    how = "create" if patch["action"] == "create" else "strategic merge patch for"
    return f"---\n# {how} {about}\n" + write_yaml([body]).removeprefix("---\n")
