"""The workbench in Node: what its panels show of a scenario, and what a click in them changes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from django.conf import settings

from tests.javascript.node import bundle, bundle_tests, pass_in_node
from tests.javascript.server import serving
from tests.javascript.texts import texts
from tests.parts import REPOSITORY

#: While working on one, PAGES=cache for that file alone.
FILES = sorted((Path(__file__).parent / "pages").glob(f"{os.environ.get('PAGES', '*')}.test.ts"))
WORKBENCH = REPOSITORY / "static/js/workbench/page/main.ts"
COMPONENTS = ("--jsx=automatic", "--jsx-import-source=preact", "--external:./static/vendor/mediabunny.js")

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures(
        "no_hurry", "much_is_stored", "tables_are_emptied_directly", "files_are_looked_at_once"
    ),
]


@pytest.fixture
def much_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """All cases store more scenarios in a minute than an address may."""
    monkeypatch.setattr(settings, "PLAYGROUND", {**settings.PLAYGROUND, "API_WRITES_PER_MINUTE": 10_000})


#: What opens a page is compiled once for the files of a process. More than one: they run side by side.
PROCESSES = min(3, len(FILES))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of each process as one script, the workbench, and the texts that they open."""
    if not (REPOSITORY / "node_modules/happy-dom").is_dir():
        pytest.skip("happy-dom is not installed: make lint does it")
    folder = tmp_path_factory.mktemp("pages")
    entries = [folder / f"{process}.ts" for process in range(PROCESSES)]
    for process, entry in enumerate(entries):
        entry.write_text("".join(f'import "{file}";\n' for file in FILES[process::PROCESSES]), "utf-8")
    bundle_tests(entries, folder)
    bundle([WORKBENCH], "--format=iife", *COMPONENTS, f"--outfile={folder}/workbench.js")
    (folder / "texts.json").write_text(json.dumps(texts()), "utf-8")
    return folder


@pytest.mark.parametrize("process", range(PROCESSES))
async def test_panels_show_what_is_recorded(made: Path, process: int) -> None:
    """Each case of the process' files holds; those that do not are named, with what differs."""
    async with serving() as site:
        await pass_in_node(made / f"{process}.cjs", SITE=site, MADE=f"{made}")
