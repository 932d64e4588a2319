"""How a release follows from another one and the differences between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.schedulers.v1_37.dialect import Dialect, Difference
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared
from scheduler_core.schedulers.v1_37.plugins.table import place_of


def derived(base: Dialect, differences: Iterable[Difference], **own: Any) -> Dialect:
    """Return the release that is ``base`` but for the differences; ``own`` are fields of the dialect."""
    listed = tuple(differences)
    changed: dict[str, Any] = {}
    gates: dict[str, bool | None] = {**base.gates}
    rows: Mapping[str, Declared] = base.rows
    for each in listed:
        gates.update(each.gates)
        changed.update(each.fields)
        rows = {key: _changed(row, each) for key, row in rows.items()}
    return replace(
        base,
        gates={name: on for name, on in gates.items() if on is not None},
        rows={row.key: row for row in sorted(rows.values(), key=place_of)},
        base=base.name,
        locked=frozenset(),
        differences=listed,
        **{**changed, **own},
    )


def without(line: Sequence[Dialect], of: Dialect, left_out: Difference) -> Dialect:
    """Return a release that lacks one difference of its line: it, the one that it is derived from, and so on.

    It has no name, so that nothing else finds it.
    """
    made = line[-1]
    for dialect in reversed(line[:-1]):
        differences = (one for one in dialect.differences if dialect is not of or one is not left_out)
        made = derived(made, differences, lacks=dialect.lacks, name="")
    return made


def _changed(row: Declared, difference: Difference) -> Declared:
    fields = difference.plugins.get(row.key)
    if fields:
        row = replace(row, **fields)
    more = difference.events.get(row.key)
    return replace(row, besides=(*row.besides, *more)) if more else row
