"""What the documents name is there, works, and nothing is kept that none of them names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.parts import REPOSITORY

DOCUMENTS = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *(REPOSITORY / "docs").rglob("*.md")]
NAMED = re.compile(r"((?:`[\w.]+`(?:, | and | or )?)+)\s(?:of|in)\s`([\w/-]+\.(?:py|tsx?))`")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
SOURCES = ("scheduler_core", "playground", "static/js", "tests")
MOST_PICTURES = 12


def linked() -> set[Path]:
    """Return the files that the documents link to."""
    return {
        (document.parent / name).resolve()
        for document in DOCUMENTS
        for name in LINK.findall(document.read_text())
    }


def test_every_link_leads_somewhere() -> None:
    """Documents, pictures and sources that a document links to exist."""
    assert [path for path in linked() if not path.exists()] == []


def test_what_a_file_is_said_to_have_is_there() -> None:
    """Where a document names a function, class or table of a file, one of that path has it."""
    named = [one for document in DOCUMENTS for one in NAMED.findall(document.read_text())]
    assert len(named) > 20
    for names, path in named:
        whole = [REPOSITORY / path] if path.startswith(SOURCES) else []
        files = whole or [file for root in SOURCES for file in (REPOSITORY / root).rglob(path)]
        texts = [file.read_text() for file in files]
        for name in re.findall(r"\w+(?=`)", names):
            assert any(name in text for text in texts), f"{name} of {path}"


def test_every_picture_is_shown() -> None:
    """Each picture is in a document, and there are few: each weighs on every clone."""
    pictures = set((REPOSITORY / "docs" / "screenshots").glob("*.png"))
    assert pictures <= linked()
    assert len(pictures) <= MOST_PICTURES


def test_the_map_names_every_package() -> None:
    """docs/architecture.md has each package and module at the top of both applications, and no other."""
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    drawn = text[text.index("## The map") : text.index("## One pod")]
    for application in ("scheduler_core", "playground"):
        for path in sorted((REPOSITORY / application).iterdir()):
            if not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").exists()):
                assert re.search(rf"\b{path.stem}\b", drawn), f"{application}/{path.name}"


def test_the_way_of_a_pod_names_files() -> None:
    """Each file that one pod's way passes through is where the document says."""
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    way = text[text.index("## One pod") : text.index("## Where to add")]
    names = re.findall(r"`((?:playground/|static/)?[a-z_]+/[\w/*.]+?)/?`", way)
    assert len(names) > 15
    for name in names:
        roots = (REPOSITORY / "scheduler_core", REPOSITORY)
        assert any(list(root.glob(name)) for root in roots), name


def test_pictures_and_figures_can_be_taken() -> None:
    """`make screenshots` and `make measure` start without a test session, which sets Django up."""
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-c", "import tests.browser.measure, tests.browser.screenshots"]
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, timeout=120)
