"""The catalogues of ``playground/locale``: which messages pages and scripts have, and the compiled files.

``make translations`` compiles them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.template import engines
from django.template.base import Node, NodeList
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

from playground.courseware import misconceptions
from playground.courseware.edits import MOVES
from playground.lessons import catalogue
from tests.parts import REPOSITORY

Message = str | tuple[str, str]

TEMPLATES = (
    "base", "language", "learn", "lesson", "lesson_code", "lesson_done", "lesson_file", "lesson_file_done",
    "lesson_handout", "lesson_kind", "lesson_level", "lesson_player", "lesson_review", "lesson_teach",
    "room_class", "lti_done", "lti_grade",
)  # fmt: skip
SCRIPTS = REPOSITORY / "static" / "js" / "lesson"
CLASS = SCRIPTS.parent / "pages" / "class.tsx"
RECORDED = SCRIPTS.parent / "recorded" / "lesson.ts"
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_ONE = re.compile(rf"\bgettext\(\s*{_TEXT}")
_TWO = re.compile(rf"\bngettext\(\s*{_TEXT},\s*{_TEXT}")
_SAID = re.compile(rf"\bsay\(\s*{_TEXT}")
REPLIES = REPOSITORY / "playground" / "courseware"
_PYTHON = re.compile(rf"\bgettext\({_TEXT}\)")


def sources() -> list[Path]:
    """Return the catalogues that translators write."""
    return sorted((REPOSITORY / "playground" / "locale").glob("*/LC_MESSAGES/*.po"))


def read(path: Path) -> Catalog:
    """Return a catalogue as it is written."""
    with path.open("rb") as file:
        return read_po(file, abort_invalid=True)


def compiled(path: Path) -> bytes:
    """Return a catalogue as gettext reads it, the same for the same source."""
    file, catalog = io.BytesIO(), read(path)
    catalog.creation_date = catalog.revision_date = datetime(2026, 1, 1, tzinfo=UTC)  # Babel writes today's
    write_mo(file, catalog)
    return file.getvalue()


def of_templates() -> Iterator[Message]:
    """Yield what templates, and the data that pages translate, have to say."""
    for name in TEMPLATES:
        template = engines["django"].get_template(f"{name}.html")
        yield from _of_nodes(template.template.nodelist)  # type: ignore[attr-defined]
    for track in catalogue.tracks():
        yield from (track.title, track.about)
    yield from (move.words for move in MOVES.values())
    yield from misconceptions().values()
    for path in REPLIES.glob("*.py"):
        yield from _SAID.findall(path.read_text())
    for path in (REPOSITORY / "playground" / "lessons").glob("*.py"):
        yield from _PYTHON.findall(path.read_text())


def _of_nodes(nodes: NodeList) -> Iterator[Message]:
    for node in nodes.get_nodes_by_type(Node):
        if isinstance(node, TranslateNode):
            yield str(node.filter_expression.var.literal)
        elif isinstance(node, BlockTranslateNode):
            one = node.render_token_list(node.singular)[0]
            yield (one, node.render_token_list(node.plural)[0]) if node.plural else one


def of_scripts() -> Iterator[Message]:
    """Yield what the scripts of lessons say."""
    for path in (*SCRIPTS.glob("*.ts*"), CLASS, RECORDED):
        text = path.read_text()
        yield from _TWO.findall(text)
        yield from _ONE.findall(text)


if __name__ == "__main__":
    for source in sources():
        source.with_suffix(".mo").write_bytes(compiled(source))
