"""What became of the rules between the releases: one table, complete, in two sentences each."""

from __future__ import annotations

import re

from scheduler_core.schedulers.rule_history import HISTORY, history_of
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_37.config import IMPLEMENTED
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED
from tests.core.v1_37.parts import UPSTREAM
from tests.rows import each_row

RELEASE = re.compile(r"v1\.(\d+)\b")
PLUGINS = {row.key for row in DECLARED if row.text and row.key in UPSTREAM}
SOURCE = re.compile(r"KEP-\d{3,4}\b|#\d{5,6}\b")


def test_every_rule_has_a_history() -> None:
    """Predicates and priorities of v1.11, and plugins of v1.37; nothing else is in the table."""
    rules = {*PREDICATES, *PRIORITIES, *PLUGINS}
    assert rules <= set(HISTORY)
    assert set(HISTORY) - rules == {"CheckServiceAffinity", "CheckNodeLabelPresence"}


@each_row("rule", HISTORY)
def test_a_history_is_two_sentences_with_releases_and_sources(rule: str) -> None:
    """Each ends once, names a release between v1.9 and v1.37, and the two name where that can be read."""
    sentences = history_of(rule)
    assert len(sentences) == 2
    for sentence in sentences:
        assert sentence.endswith(".") and not re.search(r"\.\s+[A-Z]", sentence), sentence
        assert sentence[0].isupper() or sentence.startswith("v1")
        releases = [int(minor) for minor in RELEASE.findall(sentence)]
        assert releases and min(releases) >= 9 and max(releases) <= 37, sentence
    assert SOURCE.search(sentences[0]) or SOURCE.search(sentences[1])


def test_the_plugin_that_a_rule_became_is_one_of_the_framework() -> None:
    """Or "" where nothing is left of it."""
    known = set().union(*IMPLEMENTED.values()) | PLUGINS
    assert {one.plugin for one in HISTORY.values()} - known == {""}


def test_other_rules_have_none() -> None:
    """Rules that a Policy names itself, plugins of others, and no rule."""
    assert history_of("MyOwnLabels") == history_of("Coscheduling") == history_of(None) == ()
