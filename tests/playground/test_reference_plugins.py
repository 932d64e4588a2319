"""The reference page of v1.37's plugins: a row for each that the engine has, with its points and events."""

from __future__ import annotations

import re

from django.test import Client

from scheduler_core.schedulers.rule_history import history_of
from scheduler_core.schedulers.v1_37.config import IMPLEMENTED, multi_point
from scheduler_core.schedulers.v1_37.extender_calls import EXTENDER, SCORED_BY_NODE_INFO
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED, ROWS
from scheduler_core.schedulers.v1_37.quirks import QUIRKS
from scheduler_core.schedulers.v1_37.releases.v1_37 import DIALECT

PLACES = multi_point(DIALECT)


def test_every_plugin_of_the_engine_has_a_row(client: Client) -> None:
    """Those of the default profile, of the tables of filters and of hints; each says what it does."""
    listed = [row.key for row in DECLARED if row.text]
    waiting = {row.key for row in ROWS.values() if row.registrations} - {EXTENDER}
    assert set(listed) >= DIALECT.plugins.keys() | waiting | {name for name, _, gate in PLACES if not gate}
    assert ("GangScheduling", 0, "GenericWorkload") in PLACES
    text = client.get("/reference/plugins/").content.decode()
    assert re.findall(r'<tr id="(\w+)">', text) == listed
    assert 'href="/reference/plugins/" aria-current="page"' in text
    assert "NodeUpdateNodeLabel" in text
    assert all(sentence in text for name in listed for sentence in history_of(name))


def test_known_bugs_are_listed_with_their_issues(client: Client) -> None:
    """Each names the plugins that it changes, and where upstream has it."""
    text = client.get("/reference/plugins/").content.decode()
    (quirk,) = QUIRKS
    assert f'id="quirk-{quirk.id}"' in text
    assert all(reference.url in text for reference in quirk.upstream)
    assert all(name in quirk.does for name in SCORED_BY_NODE_INFO)


def test_words_agree_with_the_extension_points() -> None:
    """A plugin is said to filter where it does, and to score where it does, with its weight."""
    weights = {name: weight for name, weight, _ in PLACES}
    for row in (row for row in DECLARED if row.text):
        scores = row.key in IMPLEMENTED["score"]
        assert bool(row.filters) == (row.key in IMPLEMENTED["filter"]), row.key
        assert bool(row.prefers and row.formula) == scores, row.key
        assert row.default_weight == ((weights.get(row.key) or row.weight or 1) if scores else 0), row.key
