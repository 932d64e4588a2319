"""The import graph of the browser modules has no cycles, and every import leads to a file."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.parts import REPOSITORY

SOURCES = REPOSITORY / "static" / "js"
KINDS = ("*.js", "*.ts", "*.tsx")
#: Imports and exports from a relative path, of types as well, and dynamic ones: modules that know each
#: other's types cannot be read, moved or tested one without the other.
FROM = re.compile(r"""(?:\bfrom\s+|^import\s+|\bimport\()["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)


def imports_of(sources: Path) -> dict[Path, set[Path]]:
    """Return each module with the modules below ``sources`` that it imports."""
    graph = {}
    for path in (path for kind in KINDS for path in sources.resolve().rglob(kind)):
        text = COMMENT.sub("", path.read_text("utf-8"))
        graph[path] = {(path.parent / found).resolve() for found in FROM.findall(text)}
    return graph


def test_browser_modules_have_no_circular_imports() -> None:
    """By value or by type, statically or dynamically: no module knows, over others, who imports it."""
    graph = imports_of(SOURCES)
    assert sum(map(len, graph.values())) > len(graph) > 50
    found = {target for targets in graph.values() for target in targets}
    assert not [path for path in found if not path.is_file() and not path.with_suffix(".d.ts").is_file()]
    TopologicalSorter(graph).prepare()


def test_folders_import_only_those_before_them() -> None:
    """The order of docs/browser.md: who opens a folder finds all that it needs above it."""
    text = (REPOSITORY / "docs" / "browser.md").read_text("utf-8")
    order = re.findall(r"`([\w/]+)`", text.partition("a test reads this order:")[2].partition("\n- ")[0])

    def folder(path: Path) -> str:
        parts = path.relative_to(SOURCES).parts[:-1]
        return "/".join(parts[: 2 if parts[:1] == ("workbench",) else 1])

    graph = imports_of(SOURCES)
    imports = {(folder(path), folder(found)) for path in graph for found in graph[path] if found in graph}
    assert {name for pair in imports for name in pair} - {""} == set(order)
    below = {name: place for place, name in enumerate(["", *order])}
    assert not [pair for pair in imports if pair[0] and below[pair[0]] < below[pair[1]]]


def test_a_circular_import_is_found(tmp_path: Path) -> None:
    """Over several modules, whatever the form of the import: its last link here is of a type."""
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\n')
    (tmp_path / "b.js").write_text('export {\n  c,\n} from "./c.js";\n')
    (tmp_path / "c.js").write_text('import "./d.tsx";\n')
    (tmp_path / "d.tsx").write_text('// import "./c.js";\nimport type { T } from "./a.js";\n')
    with pytest.raises(CycleError):
        TopologicalSorter(imports_of(tmp_path)).prepare()
