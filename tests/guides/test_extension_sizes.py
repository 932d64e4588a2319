"""How many files each extension touches, as docs/architecture.md lists it: what the guides' blocks touch."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from tests.guides.guide import ROOT, blocks

ROW = re.compile(r"^\| \[(.+?)\]\((adding-an?-[\w.-]+\.md)\) \| (.*?) ?\| (.*?) ?\|$", re.MULTILINE)
ROWS = {
    what: (guide, new.replace("`", "").split(), changed.replace("`", "").split())
    for what, guide, new, changed in ROW.findall((ROOT / "docs" / "architecture.md").read_text())
}
#: New files and files with a row, at most.
LIMITS = {
    "a predicate": (1, 0),
    "a priority": (1, 0),
    "a framework plugin": (1, 1),
    "a plugin of v1.37": (1, 0),
    "a release of kube-scheduler": (1, 0),
    "a scheduler beside the framework": (1, 1),
    "a controller for a new kind": (1, 2),  # one row is the kind's type
    "a tab of Inspect": (2, 3),  # one row is the key's type
    "an API route": (1, 0),
    "a socket command": (1, 0),
}


def touched(guide: str) -> tuple[list[str], list[str]]:
    """Return the folders of a guide's new files, and the other files that it changes, without documents."""
    code = [(path, anchor) for path, anchor, _ in blocks(guide) if not path.startswith("docs/")]
    new = [str(PurePosixPath(path).parent) for path, anchor in code if not anchor]
    return new, list(dict.fromkeys(path for path, anchor in code if anchor))


def test_every_extension_is_in_the_table_and_every_guide() -> None:
    """The table has what is limited, and no guide is left out of it."""
    assert set(ROWS) == set(LIMITS)
    guides = {path.name for path in (ROOT / "docs").glob("adding-*.md")}
    assert {guide for guide, _, _ in ROWS.values()} == guides


@pytest.mark.parametrize("what", LIMITS)
def test_it_touches_no_more_files_than_it_may(what: str) -> None:
    """The row of the table is within the limit."""
    _, new, changed = ROWS[what]
    assert (len(new), len(changed)) == LIMITS[what]


@pytest.mark.parametrize("guide", sorted({guide for guide, _, _ in ROWS.values()}))
def test_the_table_is_what_the_guide_touches(guide: str) -> None:
    """A guide's blocks touch the files of its rows, and no others."""
    rows = [(new, changed) for of, new, changed in ROWS.values() if of == guide]
    new, changed = touched(guide)
    assert sorted(new) == sorted(folder for folders, _ in rows for folder in folders)
    assert sorted(changed) == sorted(path for _, paths in rows for path in paths)
