"""Label queries in one line, such as ``zone=a,disk in (ssd, nvme),!old`` (labels.Parse)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scheduler_core.kubernetes.model import LabelSelector, Requirement
from scheduler_core.kubernetes.selectors import valid

_PART = re.compile(
    r"\s*(?:(?P<absent>!)\s*(?P<gone>[^\s=!<>,()]+)"
    r"|(?P<key>[^\s=!<>,()]++)\s*+(?:(?P<word>in|notin)\s*\((?P<set>[^()]*)\)"
    r"|(?P<sign>==|=|!=|>|<)\s*(?P<value>[^\s=!<>,()]*+))?)\s*+(?:,|$)"
)
_SIGNS = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
_WORDS = {"in": "In", "notin": "NotIn"}


def parse_label_query(query: str) -> LabelSelector:
    """Parse a label query; an empty one selects everything.

    Raises:
        ValueError: It is no label query.
    """
    return LabelSelector(match_expressions=tuple(_requirements(query)) if query.strip() else ())


def _requirements(query: str) -> Iterator[Requirement]:
    at = 0
    while at < len(query):
        found = _PART.match(query, at)
        if found is None or found.end() == at:
            raise ValueError(f"{query[at:]!r} is no part of a label query such as zone=a,disk in (ssd, nvme)")
        requirement = _requirement(found)
        if not valid(requirement):
            raise ValueError(f"{found[0].strip(' ,')!r} has a value that no label can have")
        yield requirement
        at = found.end()


def _requirement(part: re.Match[str]) -> Requirement:
    if part["absent"]:
        return Requirement(part["gone"], "DoesNotExist")
    if part["word"]:
        return Requirement(
            part["key"], _WORDS[part["word"]], tuple(v.strip() for v in part["set"].split(","))
        )
    if part["sign"]:
        return Requirement(part["key"], _SIGNS[part["sign"]], (part["value"],))
    return Requirement(part["key"], "Exists")
