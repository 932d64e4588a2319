"""The message of a pod that fits nowhere, taken apart: the number of nodes, and how many fail for a reason.

Every release since v1.6 writes it alike (``FitError.Error``)::

    0/5 nodes are available: 2 Insufficient cpu, 3 node(s) didn't match Pod's node affinity/selector.

Since v1.24 the outcome of preemption follows, in the same form. The wording of some reasons changed between
releases: :data:`WORDINGS` maps each wording to one reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

PREEMPTION = " preemption: "
_HEAD = re.compile(r"0/(\d+) nodes are available:? *")
_COUNT = re.compile(r"(?:^|, )(\d+) (?=\S)")

WORDINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        # Conditions of nodes became taints with TaintNodesByCondition.
        (
            (
                r"node\(s\) (?:had taints? .*|had untolerated taint.*|were not ready|were out of disk.*"
                r"|had (?:memory|disk|pid) pressure|had unavailable network|had unknown condition.*)"
            ),
            "untolerated taint",
        ),
        (
            r"node\(s\) didn't match (?:node selector|Pod's node affinity(?:/selector)?)",
            "node affinity or selector",
        ),
        (r"node\(s\) didn't match the requested (?:hostname|node name)", "another node was requested"),
        (r"Too many pods|Insufficient pods", "Insufficient pods"),
        (
            r"pod has unbound (?:immediate )?PersistentVolumeClaims?(?: \(repeated \d+ times\))?",
            "unbound PersistentVolumeClaims",
        ),
    )
)
"""The one reason for each wording that differs between releases."""

_AFFINITY = re.compile(r"node\(s\) didn't match pod affinity/anti-affinity(?: rules)?")
_AFFINITY_RULE = re.compile(
    r"node\(s\) didn't (?:match pod (?:anti-)?affinity rules|satisfy existing pods .*)"
)


class FitError(Struct, frozen=True):
    """A message taken apart: ``reasons`` maps each, as it is worded, to the number of nodes that it fails.

    ``nodes`` is ``None`` if the message does not count nodes; its text is then the only reason. A reason
    without a number of its own concerns all nodes.
    """

    nodes: int | None
    reasons: Mapping[str, int]
    preemption: FitError | None = None

    def comparable(self) -> dict[str, int]:
        """Return the reasons in words that do not depend on the release, with their counts."""
        counts: dict[str, int] = {}
        for reason, count in self.reasons.items():
            name = next((name for pattern, name in WORDINGS if pattern.fullmatch(reason)), reason)
            counts[name] = counts.get(name, 0) + count
        # Before v1.21 a failed rule between pods was counted twice, as itself and as affinity in general.
        if any(map(_AFFINITY_RULE.fullmatch, counts)):
            counts = {name: count for name, count in counts.items() if not _AFFINITY.fullmatch(name)}
        return counts

    def shape(self) -> tuple[object, ...]:
        """Return what two messages share that differ in numbers only."""
        below = () if self.preemption is None else self.preemption.shape()
        return (self.nodes is not None, tuple(sorted(self.reasons)), below)


def parse_fit_error(message: str) -> FitError:
    """Take a message apart."""
    main, _, preemption = message.strip().partition(PREEMPTION)
    head = _HEAD.match(main)
    below = parse_fit_error(preemption) if preemption else None
    if head is None:
        empty = main.startswith("no nodes available")
        return (
            FitError(0, {}, below) if empty else FitError(None, {main.rstrip("."): 0} if main else {}, below)
        )
    nodes, body = int(head[1]), main[head.end() :].rstrip(". ")
    marks = list(_COUNT.finditer(body))
    if not marks or marks[0].start():
        return FitError(nodes, {body: nodes} if body else {}, below)
    ends = [*(mark.start() for mark in marks[1:]), len(body)]
    reasons: dict[str, int] = {}
    for mark, end in zip(marks, ends, strict=True):
        reason = body[mark.end() : end]
        reasons[reason] = reasons.get(reason, 0) + int(mark[1])
    return FitError(nodes, reasons, below)


def merged_message(messages: Iterable[str]) -> str:
    """Return one message for several of the same shape, with ranges where their numbers differ."""
    texts = list(dict.fromkeys(messages))
    return texts[0] if len(texts) == 1 else _merged([parse_fit_error(text) for text in texts])


def _merged(errors: list[FitError]) -> str:
    highest = {reason: max(one.reasons[reason] for one in errors) for reason in errors[0].reasons}
    listed = ", ".join(
        f"{_range(one.reasons[reason] for one in errors)} {reason}"
        for reason in sorted(highest, key=lambda reason: (-highest[reason], reason))
    )
    text = f"0/{_range(one.nodes or 0 for one in errors)} nodes are available: {listed}."
    below = [one.preemption for one in errors if one.preemption is not None]
    return f"{text}{PREEMPTION}{_merged(below)}" if below else text


def _range(numbers: Iterable[int]) -> str:
    listed = list(numbers)
    low, high = min(listed), max(listed)
    return f"{low}" if low == high else f"{low}–{high}"
