"""The browser's pure modules, by `node --test` on what the engine and the server say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.javascript.node import bundle_tests, pass_in_node
from tests.javascript.recorded import recorded

FILES = sorted(Path(__file__).parent.glob("*.test.ts"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with each test and the modules that it imports as one script, and what they read."""
    folder = tmp_path_factory.mktemp("javascript")
    bundle_tests(FILES, folder)
    (folder / "recorded.json").write_text(json.dumps(recorded()), "utf-8")
    return folder


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
async def test_a_module_keeps_to_its_cases(made: Path, file: Path) -> None:
    """Each case of the file holds; those that do not are named, with what differs."""
    await pass_in_node((made / file.name).with_suffix(".cjs"), RECORDED=f"{made}/recorded.json")
