"""Links of a database from before the packages of both apps were moved open as they did.

``data/links.sqlite3.gz`` was written by the server of commit a0a97fe: examples, shared bundles, dumps,
drafts, branches, runs with stored results, embeds and views. ``data/links.json`` lists them, with a digest of
the decisions that the engine of that commit made for each. Where it decides otherwise since, the digest is of
today's decisions, and ``changed`` says from which cycle on and why.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.settings.release import V1_11, V1_37
from tests.rows import each_row

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
GOLDEN = json.loads((DATA / "links.json").read_text())
LINKS: list[dict[str, Any]] = GOLDEN["links"]

pytestmark = pytest.mark.xdist_group("stored links")  # one process opens them all

OPEN = """
import hashlib, json, sys
import django
django.setup()
from django.conf import settings
from django.core.management import call_command
from django.test import Client

call_command("migrate", verbosity=0)
settings.ALLOWED_HOSTS = ["*"]

from playground.models import Run, RunChunk
from playground.playback import sources
from playground.visitors import identity
from scheduler_core.settings import release
from scheduler_core.kubernetes.plain import plain
from scheduler_core.run.trace import trace_cycle

golden = json.load(open(sys.argv[1]))
release.DEFAULT_RELEASE = sys.argv[2]
client = Client()
client.cookies[settings.VISITOR_COOKIE] = identity.sign(golden["owner"])
FIELDS = ("step", "pod", "result", "node", "message", "feasible", "lastNodeIndex", "nominated", "preemption")


def decisions(playback):
    for index in range(1, 61):
        while len(playback) < index and playback.advance(1.0):
            pass
        if len(playback) < index:
            return
        cycle = plain(trace_cycle(playback.cycle(index)))
        yield [*(cycle[name] for name in FIELDS), cycle.get("moves")]


for link in golden["links"]:
    found = {"status": client.get(link["page"]).status_code}
    if "source" in link:
        playback = sources.open_playback(sources.find(link["source"], golden["owner"]))
        if "run" in link["source"]:  # its decisions are there before anything is computed
            run = Run.objects.get(pk=link["source"]["run"])
            found["stored"] = [run.state, run.cycles == len(playback)]
        lines = list(decisions(playback))
        found["cycles"] = len(lines)
        found["digest"] = hashlib.sha256(json.dumps(lines, sort_keys=True).encode()).hexdigest()
    print(json.dumps(found))
"""


@pytest.fixture(scope="module", params=(V1_11, V1_37))
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each link is today, in the database as it was, after migration.

    Whatever release answers a bundle that says nothing: these were answered by v1.11 and the framework.
    """
    folder = tmp_path_factory.mktemp("before")
    (folder / "podstep.sqlite3").write_bytes(gzip.decompress((DATA / "links.sqlite3.gz").read_bytes()))
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(DATA / "links.json"), request.param],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "PLAYGROUND_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_there_are_links_of_every_kind() -> None:
    """Twenty, among them what only a stored row holds."""
    kinds = {"example", "scenario", "dump", "draft", "broken draft", "branch", "run", "embed", "view"}
    assert len(LINKS) == 20
    assert {link["kind"] for link in LINKS} == kinds | {"step of a run"}


@each_row("place", range(len(LINKS)), lambda place: LINKS[place]["page"])
def test_a_link_opens_with_the_same_decisions(opened: list[dict[str, Any]], place: int) -> None:
    """Its page answers, and every cycle is decided as it was, whether it was stored or is computed again."""
    link, found = LINKS[place], opened[place]
    assert found["status"] == 200
    assert (found.get("cycles"), found.get("digest")) == (link.get("cycles"), link.get("digest"))
    if "run" in link.get("source", {}):
        assert found["stored"] == ["done", True]
