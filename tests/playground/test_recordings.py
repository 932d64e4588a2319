"""Recordings: a run as one HTML file, and scenarios that links and pictures carry."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import sys
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from playground.pictures.scenario_payload import MOST, PREFIX, carrying, fragment
from playground.storage import store
from scheduler_core.__main__ import main
from tests.parts import REPOSITORY
from tests.playground.conftest import OWNER
from tests.playground.test_two_sources import LEAST, bundle, shared

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "</script><script>alert(1)</script><template><!--"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {token: hunter2}\n"


class Read(HTMLParser):
    """A page's elements: scripts that run, templates by their attribute, and what refers to another file."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.held: dict[str, list[str]] = {}
        self.refers: list[str] = []
        self.policy = ""
        self._into: list[str] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        if tag in ("link", "img", "script", "iframe"):
            self.refers += [value for name in ("src", "href") if (value := given.get(name)) is not None]
        if (tag == "script" and "type" not in given) or tag == "template":
            self._into = self.scripts if tag == "script" else self.held.setdefault(next(iter(given)), [])

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data)
            self._into = None

    def text(self, name: str) -> str:
        """Return what the only template of a name holds."""
        [packed] = self.held[name]
        return gzip.decompress(base64.b64decode(packed)).decode()


def asked(source: str, **query: str) -> str:
    """Return the file of a source."""
    answer = Client().get("/recording", {"source": source, **query})
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def unpacked(held: str) -> dict[str, str]:
    """Return what a fragment holds, as the start page reads it."""
    packed = held.partition(PREFIX)[2]
    text = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -zlib.MAX_WBITS)
    found: dict[str, str] = json.loads(text)
    return found


def test_a_file_refers_to_nothing_and_runs_its_own_scripts_alone() -> None:
    """No address but data; every script that runs, also one that is unpacked first, is named by its hash."""
    page = Read(asked(shared(bundle(LEAST))))
    assert [one for one in page.refers if not one.startswith(("data:", "#"))] == []
    assert "default-src 'none'" in page.policy and "unsafe" not in page.policy
    for script in (*page.scripts, page.text("data-script")):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page.policy
    assert len(page.scripts) == 2


def test_texts_of_users_end_no_element() -> None:
    """A title, a comment at the head and an annotation with markup leave the elements as they are."""
    text = f"# {HOSTILE}\n{bundle(LEAST)}".replace(
        "name: a", f'name: a\n  annotations: {{x: "{HOSTILE}"}}', 1
    )
    body = {"bundle": text, "title": HOSTILE}
    name = Client().post("/api/scenarios", body, content_type="application/json").json()["id"]
    page = Read(asked(name))
    assert len(page.scripts) == 2
    assert json.loads(page.text("data-bundle"))["text"] == text


def test_each_answer_is_kept_once() -> None:
    """What a page asks of each step is in the record, and equal answers are one text of it."""
    page = Read(asked(shared(bundle(LEAST))))
    head = json.loads(page.text("data-record"))
    texts = page.text("data-chunk").split("\n")
    assert len(texts) == len(set(texts)) and head["starts"] == [0]
    assert {json.loads(key)[0] for key in head["answers"]} >= {
        "scenario.open",
        "timeline.get",
        "cycles.window",
    }
    assert head["steps"] == ["1.1", "1.2"]
    story = json.loads(texts[head["answers"]['["cycles.window",{"count":2,"from":1}]']])
    assert [light["node"] for light in story["cycles"]] == [0, 0]
    first, second = head["parts"]["kueue"]
    assert first == second and "why" in json.loads(texts[first])


def test_a_run_beyond_the_bounds_is_refused(limits: Callable[..., None]) -> None:
    """With the numbers, and what would fit."""
    name = shared(bundle(LEAST))
    for bounds, words in (
        ({"RECORDING_CELLS": 2}, "at most 1 cycles of 2 nodes"),
        ({"RECORDING_CYCLES": 1}, "at most 1 cycles of 2 nodes"),
    ):
        limits(**{"RECORDING_CELLS": 2_000_000, "RECORDING_CYCLES": 5_000, **bounds})
        answer = Client().get("/recording", {"source": name})
        assert answer.status_code == 422 and words in answer.content.decode()


def test_a_draft_is_its_owners_and_keeps_its_secrets(owner: Client, stranger: Client) -> None:
    """Nobody else has its file; a Secret is not in it, nor what its owner leaves out."""
    text = f"{bundle(LEAST)}\n---\n{SECRET}"
    query = {"source": f"draft:{store.create_draft(OWNER, [('', text)]).pk}", "without": "annotations"}
    assert stranger.get("/recording", query).status_code == 404
    page = Read(owner.get("/recording", query).content.decode())
    assert "hunter2" not in page.text("data-bundle") + "".join(map(_unpacked, page.held["data-chunk"]))


def _unpacked(packed: str) -> str:
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_the_command_line_writes_the_same_file_each_time(tmp_path: Path, capsys: Any) -> None:
    """``export --to html`` and ``simulate --html``, with the file's own text."""
    file, out = tmp_path / "least.yaml", tmp_path / "run.html"
    file.write_text(f"# Said of it\n{bundle(LEAST)}")
    assert main(["export", str(file), "--to", "html"]) == 0
    page = capsys.readouterr().out
    assert main(["simulate", str(file), "--html", str(out)]) == 0
    assert out.read_text() == page
    held = json.loads(Read(page).text("data-bundle"))
    assert (held["text"], held["title"]) == (file.read_text(), "least")


def test_a_lesson_keeps_what_its_questions_hide() -> None:
    """The stage of an open question is recorded as far as it shows; the verdicts are the engine's."""
    page = Client().get("/learn/first-cycle/file/?lang=de").content.decode()
    lesson = json.loads(_unpacked(re.search(r"<template data-lesson>([^<]+)", page)[1]))  # type: ignore[index]
    held = page.split("<template data-recording>")[1:]
    stage = lesson["stops"]["node"]["player"]["stage"]
    opened, shown = (
        json.loads(_unpacked(re.search(r"<template data-record>([^<]+)", held[place])[1]))  # type: ignore[index]
        for _, place in (lesson["stages"][stage[name]] for name in ("open", "shown"))
    )
    assert opened["found"] == {} != shown["found"]
    assert not [key for key in opened["answers"] if "scores.explain" in key or "why.ask" in key]
    verdicts = dict(lesson["answers"]["node"]["verdicts"])
    assert [verdicts[node]["right"] for node in ("n1", "n2", "n3")] == [False, False, True]
    assert "short by 250m" in verdicts["n1"]["sentence"]
    assert "Zurück" in lesson["stops"]["node"]["main"]
    assert Client().get("/learn/no-such-lesson/file/").status_code == 404


def test_the_engine_alone_says_what_an_html_file_needs(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the application is not installed: exit 2, and a line with the package to install."""
    file = tmp_path / "least.yaml"
    file.write_text(bundle(LEAST))
    monkeypatch.setitem(sys.modules, "playground.recordings.command", None)
    assert main(["export", str(file), "--to", "html"]) == 2
    assert "package podstep" in capsys.readouterr().err


def test_the_command_line_writes_a_lesson_in_a_language(capsys: Any) -> None:
    """``--lang de``; a language that lessons do not have, or of a cluster, is refused."""
    assert main(["export", "first-cycle", "--to", "html", "--lang", "de"]) == 0
    assert '<html lang="de"' in capsys.readouterr().out
    assert main(["export", "first-cycle", "--to", "html", "--lang", "fr"]) == 2
    assert "--lang fr: lessons are in en and de" in capsys.readouterr().err
    assert main(["export", "cluster.yaml", "--to", "html", "--lang", "de"]) == 2
    assert "--lang is for a lesson" in capsys.readouterr().err


def test_a_png_carries_its_scenario(owner: Client) -> None:
    """With its step and release; not where it is asked for bare, and without a draft's Secrets."""
    name = shared(bundle(LEAST))
    query = {"source": name, "step": "2", "format": "png"}
    png = Client().get("/picture", query).content
    held = re.search(rb"tEXtpodstep\0(#scenario=[\w-]+)", png)
    assert held is not None
    found = unpacked(held[1].decode())
    assert found["text"] == bundle(LEAST) and found["query"] == "step=2" and found["release"] == "v1.11"
    bare = Client().get("/picture", {**query, "bare": "on"}).content
    assert PREFIX.encode() not in bare and len(bare) < len(png)
    draft = store.create_draft(OWNER, [("", f"{bundle(LEAST)}\n---\n{SECRET}")])
    png = owner.get("/picture", {**query, "source": f"draft:{draft.pk}"}).content
    held = re.search(rb"tEXtpodstep\0(#scenario=[\w-]+)", png)
    assert held is not None and "hunter2" not in unpacked(held[1].decode())["text"]
    assert carrying(png, "#" * (MOST + 1)) == png


def test_the_documented_generator_makes_what_a_link_holds(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That in Python runs as it stands, and packs what podstep packs; that in Go uses the same encodings."""
    document = (REPOSITORY / "docs" / "recordings.md").read_text()
    python, go = (re.search(rf"```{name}\n(.*?)```", document, re.DOTALL) for name in ("python", "go"))
    assert python is not None and go is not None
    made: dict[str, Any] = {"__name__": "link"}
    exec(python[1], made)
    link = made["link"]("https://x", bundle(LEAST), title="t", release="v1.37")
    assert unpacked(link) == unpacked(fragment(bundle(LEAST), "t", release="v1.37"))
    assert (
        link.startswith("https://x/#scenario=")
        and "base64.RawURLEncoding" in go[1]
        and "compress/flate" in go[1]
    )
