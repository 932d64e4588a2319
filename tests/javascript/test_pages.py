"""The workbench in Node: what its panels show of a scenario, and what a click in them changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.javascript.node import bundle, bundle_tests, pass_in_node
from tests.javascript.server import serving
from tests.javascript.texts import texts
from tests.parts import REPOSITORY

FILES = sorted((Path(__file__).parent / "pages").glob("*.test.ts"))
WORKBENCH = REPOSITORY / "static/js/workbench/page/main.ts"
COMPONENTS = ("--jsx=automatic", "--jsx-import-source=preact", "--external:./static/vendor/mediabunny.js")

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("no_hurry", "tables_are_emptied_directly", "files_are_looked_at_once"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with each file of tests and the workbench as one script, and the texts that they open."""
    if not (REPOSITORY / "node_modules/happy-dom").is_dir():
        pytest.skip("happy-dom is not installed: make lint does it")
    folder = tmp_path_factory.mktemp("pages")
    bundle_tests(FILES, folder)
    bundle([WORKBENCH], "--format=iife", *COMPONENTS, f"--outfile={folder}/workbench.js")
    (folder / "texts.json").write_text(json.dumps(texts()), "utf-8")
    return folder


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
async def test_panels_show_what_is_recorded(made: Path, file: Path) -> None:
    """Each case of the file holds; those that do not are named, with what differs."""
    async with serving() as site:
        await pass_in_node((made / file.name).with_suffix(".cjs"), SITE=site, MADE=f"{made}")
