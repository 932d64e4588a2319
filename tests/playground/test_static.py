"""Static files: ours and Plotly's, from this host, part by part."""

from __future__ import annotations

import gzip
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import AsyncClient, Client

from playground.serving import built
from playground.serving.built import Output, digest, outputs
from playground.serving.static_storage import StaticFiles
from tests.parts import REPOSITORY

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/static/css/base.css", "/static/plotly/plotly.min.js"])
async def test_files_are_streamed(address: str) -> None:
    """They come whole, in more than one part where they are large, and without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer: Any = await AsyncClient().get(address)
        assert answer.status_code == 200
        assert answer.is_async
        parts = [part async for part in answer.streaming_content]
    assert sum(map(len, parts)) == int(answer.headers["Content-Length"])
    assert len(parts) > 1 or len(parts[0]) < 100_000
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_nothing_else_is_a_file() -> None:
    """Paths do not lead out of the folder."""
    for address in (
        "/static/../playground/settings.py",
        "/static/%2e%2e/manage.py",
        "/static/css/",
        "/static/no.js",
    ):
        assert Client().get(address).status_code == 404


PAGES = {"/": "js/pages/start.js", "/reference/cache/": "js/pages/rules.js"}
NAMED = re.compile(r'(?:href|src)="(/static/[^"]+[.](?:js|css))"')


def test_a_page_names_the_few_files_of_its_build() -> None:
    """All that it needs and nothing else of ours; each is there, packed, and kept for good by who has it."""
    made = built.make()  # as `make setup` does; nothing, where the sources have not changed since
    assert set(made) == {entry for entries, _ in built.BUILDS for entry in entries}
    assert all(len(made[entry].imports) < 10 for entry in built.ALONE)
    for address, entry in PAGES.items():
        named = NAMED.findall(Client().get(address).content.decode())
        assert f"/static/{made[entry].name}" in named
        assert {f"/static/{name}" for name in made[entry].imports} <= set(named) or address != "/"
        for one in set(named) - {"/static/js/theme-early.js"}:
            assert one.startswith("/static/built/")
            answer: Any = Client(headers={"Accept-Encoding": "gzip"}).get(one)
            size = len(b"".join(answer.streaming_content))
            assert answer.status_code == 200
            assert "immutable" in answer.headers["Cache-Control"]
            assert answer.headers.get("Content-Encoding") == "gzip" or size < built.PACKED


def test_a_build_of_other_sources_is_not_named(tmp_path: Path) -> None:
    """Whatever changed, came or went since; and what was broken off, or is not JSON, is no build."""
    static = tmp_path / "static"
    for name in ("js/a.js", "css/b.css", "built/made.json"):
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        (static / name).write_text("1")
    assert outputs(static) == {}
    made = {"of": digest(static), "outputs": {"js/a.js": {"name": "built/a-1.js", "imports": []}}}
    (static / "built/made.json").write_text(json.dumps(made))
    assert outputs(static) == {"js/a.js": Output("built/a-1.js", ())}
    (static / "css/b.css").write_text("2")
    assert outputs(static) == {}
    (static / "css/b.css").write_text("1")
    assert outputs(static)
    (static / "js/c.js").write_text("")
    assert outputs(static) == {}
    (static / "js/c.js").unlink()
    (static / "js/c.d.ts").write_text("")  # types, which `make setup` makes after it has built
    assert outputs(static)
    (tmp_path / built.LOCK_FILE).write_text("{}")  # other versions of npm's packages
    assert outputs(static) == {}


def test_a_changed_source_is_built_again_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Components are bundled with Preact in a file that both pages share; what esbuild refuses is named."""
    entries = ("js/one.tsx", "js/two.tsx")
    monkeypatch.setattr(built, "BUILDS", ((entries, built.SPLIT),))
    (tmp_path / "static/js").mkdir(parents=True)
    (tmp_path / "node_modules").symlink_to(REPOSITORY / "node_modules")
    for entry in entries:
        text = f'import {{ render }} from "preact";\nrender(<p>{entry}</p>, document.body);\n'
        (tmp_path / "static" / entry).write_text(text)
    one, two = (built.make(tmp_path / "static")[entry] for entry in entries)
    assert one.imports == two.imports
    assert len(one.imports) == 1
    assert "js/one.tsx" in (tmp_path / "static" / one.name).read_text()
    assert (tmp_path / "static" / one.name).stat().st_size < 500
    (tmp_path / "static/js/one.tsx").write_text("<p>")
    with pytest.raises(built.BuildError, match=r"one\.tsx:1:3"):
        built.make(tmp_path / "static")


def test_without_esbuild_the_remedy_is_named(tmp_path: Path) -> None:
    """A page cannot do without its build."""
    (tmp_path / "static").mkdir()
    with pytest.raises(built.BuildError, match="run `make setup`"):
        built.make(tmp_path / "static")


def test_a_build_that_is_replaced_is_kept_for_a_day(tmp_path: Path) -> None:
    """However old it is: a server that runs since then names it. What was replaced before that goes."""
    (tmp_path / "built").mkdir()
    last, before = (tmp_path / f"built/main-{name}.js" for name in ("LAST", "BEFORE"))
    for path in (last, before):
        path.write_text("1")
        os.utime(path, (0, 0))
    made = tmp_path / "built" / built.MADE
    made.write_text(json.dumps({"of": "", "outputs": {}, "files": ["built/gone.js", "built/main-LAST.js"]}))
    built._tidy(made.parent)
    assert list(made.parent.iterdir()) == [last]


def test_pages_are_packed_and_answers_are_not() -> None:
    """HTML is sent as gzip to who takes it; JSON and streams are as before."""
    headers = {"Accept-Encoding": "gzip"}
    page = Client(headers=headers).get("/")
    assert page.headers["Content-Encoding"] == "gzip"
    assert len(page.content) < 14_000
    assert b"Step through every decision" in gzip.decompress(page.content)
    assert "Content-Encoding" not in Client().get("/").headers
    assert "Content-Encoding" not in Client(headers=headers).get("/api/openapi.json").headers


def test_the_rules_of_plotly_are_its_own() -> None:
    """Each rule that plotly.min.js would write into the page is in css/plotly.css, in the same order."""
    script = Path(str(finders.find("plotly/plotly.min.js"))).read_text(encoding="utf-8")
    (table,) = re.findall(r"=\{(\"X,X div\":.*?)\};for\(", script)
    rule = r"""(?:"([^"]+)"|(\w+)):(?:"([^"]*)"|'([^']*)')(?:,|$)"""
    assert re.sub(rule, "", table) == ""
    written: list[str] = []
    for quoted, bare, *texts in re.findall(rule, table):
        selector = (quoted or bare).replace("X", ".js-plotly-plot .plotly").replace("Y", ".plotly-notifier")
        written.insert(0, f"{selector} {{ {''.join(texts)} }}")  # it adds each before the last
    ours = (built.STATIC / "css" / "plotly.css").read_text(encoding="utf-8").partition("*/\n")[2]
    assert ours.splitlines() == written


def test_what_is_collected_is_compressed_once(tmp_path: Path) -> None:
    """A start after another compresses what has changed; what came with a compressed form keeps it."""
    storage = StaticFiles(location=tmp_path)
    texts = {"a.js": b"a" * 2_000, "b.css": b"b" * 2_000, "c.js": b"c" * 2_000, "c.js.gz": b"as it came"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)

    def compressed() -> set[str]:
        return {name for name, *_ in storage.post_process({name: (storage, name) for name in texts})}

    assert compressed() == {"a.js", "b.css"}
    assert gzip.decompress((tmp_path / "a.js.gz").read_bytes()) == texts["a.js"]
    assert (tmp_path / "c.js.gz").read_bytes() == texts["c.js.gz"]
    assert compressed() == set()
    os.utime(tmp_path / "b.css", (0, 1_000_000_000.123_456_7))
    (tmp_path / "a.js.gz").write_bytes(b"cut off")
    assert compressed() == {"a.js", "b.css"}
    assert gzip.decompress((tmp_path / "a.js.gz").read_bytes()) == texts["a.js"]
    assert compressed() == set()


def test_an_older_file_replaces_a_collected_one(settings: Any, tmp_path: Path) -> None:
    """After a return to an earlier release, and from an image that was built before the last start."""
    source, collected = tmp_path / "source" / "a.js", tmp_path / "collected" / "a.js"
    source.parent.mkdir()
    settings.STATIC_ROOT, settings.STATICFILES_DIRS = collected.parent, [source.parent]
    for text, made in ((b"two " * 500, 1_200_000_000), (b"one " * 500, 1_000_000_000)):
        source.write_bytes(text)
        os.utime(source, (made, made))
        call_command("collectstatic", interactive=False, verbosity=0)
        assert collected.read_bytes() == text
        assert gzip.decompress(collected.with_name("a.js.gz").read_bytes()) == text
