"""The reference page of v1.37's plugins: a row for each that the engine has, with its points and events."""

from __future__ import annotations

import re

from django.test import Client

from scheduler_core.schedulers.rule_history import history_of
from scheduler_core.schedulers.v1_37.config import GATED, IMPLEMENTED, MULTI_POINT, NOT_DEFAULT
from scheduler_core.schedulers.v1_37.extending import EXTENDER, SCORED_BY_NODE_INFO
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED, PLUGINS
from scheduler_core.schedulers.v1_37.quirks import QUIRKS
from scheduler_core.schedulers.v1_37.registrations import REGISTRATIONS


def test_every_plugin_of_the_engine_has_a_row(client: Client) -> None:
    """Those of the default profile, of the tables of filters and of hints; each says what it does."""
    names = {name for name, _ in MULTI_POINT} | {"GangScheduling"} | NOT_DEFAULT
    listed = [row.key for row in DECLARED if row.text]
    assert names == set(listed) >= PLUGINS.keys() | REGISTRATIONS.keys() - {EXTENDER}
    assert GATED["GenericWorkload"] == (("GangScheduling", 0),)
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
    weights = dict(MULTI_POINT)
    for row in (row for row in DECLARED if row.text):
        scores = row.key in IMPLEMENTED["score"]
        assert bool(row.filters) == (row.key in IMPLEMENTED["filter"]), row.key
        assert bool(row.prefers and row.formula) == scores, row.key
        assert row.default_weight == ((weights[row.key] or 1) if scores else 0), row.key
