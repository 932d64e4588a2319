"""The table of supported fields as ``docs/formats.md`` shows it.

``python -m tests.core.objects.support_text`` writes it there anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scheduler_core.kubernetes.support import ApiType
from scheduler_core.kubernetes.support_workload import PARTS, REPORTED_KINDS
from scheduler_core.scenario.unhonored import GATED, HONORED_BY_V1_37

DOCUMENT = Path(__file__).parents[3] / "docs" / "formats.md"
BEGIN, END = "<!-- the fields of the API: begin -->", "<!-- the fields of the API: end -->"


def _code(names: str) -> str:
    return " ".join(f"`{name}`" for name in names.split())


def _reported() -> Iterator[str]:
    yield "| reported | what a cluster that honors it does | honored here |"
    yield "| --- | --- | --- |"
    for part in PARTS:
        for row in part.reported:
            here = ", ".join([*sorted(row.honored_by), *_current(row.field, part.type)]) or "never"
            yield f"| {part.type} `{row.field}` | {row.effect} | {here} |"
    for kind in REPORTED_KINDS.values():
        yield f"| kind {kind.kind} | {kind.effect} | {', '.join(_current(kind.kind, '')) or 'never'} |"


def _current(name: str, of: str) -> Iterator[str]:
    if name in HONORED_BY_V1_37 and of != "PodGroupSpec":  # what it has of a group depends on a gate
        yield "v1.37"
    yield from (f"v1.37 with {gate}" for gate, names in GATED.items() if name in names)


def _others(part: ApiType) -> Iterator[str]:
    partly = {row.field for row in part.reported}
    names = [name for name in part.implemented.split() if name not in partly]
    yield (
        f"| {part.type} | {_code(' '.join(names))} | "
        + ("; ".join(f"{_code(names)}: {why}" for why, names in part.irrelevant.items()) or " ").strip()
        + " |"
    )


def rendered() -> str:
    """Return the section between the markers."""
    lines = [*_reported(), "", "| type | implemented | irrelevant |", "| --- | --- | --- |"]
    lines += [line for part in PARTS for line in _others(part)]
    return "\n".join(lines) + "\n"


def shown() -> str:
    """Return what the document has between the markers."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip("\n") + "\n"


if __name__ == "__main__":
    text = DOCUMENT.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    DOCUMENT.write_text(f"{before}\n\n{rendered()}\n{after}", encoding="utf-8")
