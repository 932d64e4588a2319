"""The reference page: both orders, every name, and links that lead somewhere."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from playground.reference import catalogue
from playground.views.reference import ROW, side_by_side, unlisted
from scheduler_core.schedulers.rule_history import history_of
from scheduler_core.schedulers.v1_11.policy.order import BUNDLES, ORDERS, keys_of
from scheduler_core.schedulers.v1_11.policy.providers import PROVIDERS
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile


@pytest.fixture
def text(client: Client) -> str:
    return client.get("/reference/predicates/").content.decode()


def test_both_orders_stand_side_by_side_with_all_their_names(text: str) -> None:
    """Each row of each order is there with its number, and what differs between them is said."""
    section = text[text.index('id="orders"') : text.index('id="predicates"')]
    shown = re.findall(r'place">(\d+)</span><a href="#(\w+)"><code>(\w+)</code>', section)
    rows = [*enumerate(ORDERS["v1.11"], 1), *enumerate(ORDERS["proposal"], 1)]
    assert shown == [(str(place), row.keys[0], row.name) for place, row in rows]
    assert section.count("not registered") == 3
    assert "stands for 3" in section
    assert "came after the proposal" in section


def test_lines_join_the_rows_that_stand_for_the_same() -> None:
    """Every key of the proposal has a line, from its place in the one order to that in the other."""
    drawn = side_by_side()
    assert len(drawn["lines"]) == sum(len(row.keys) for row in ORDERS["proposal"])
    first, last = drawn["lines"][0], drawn["lines"][-1]
    assert (first["path"], first["moved"]) == ("M0 15C50 15 50 15 100 15", False)
    assert last["path"] == f"M0 {21 * ROW - 15}C50 {21 * ROW - 15} 50 {16 * ROW - 15} 100 {16 * ROW - 15}"
    assert unlisted() == [{"key": "CheckNodePIDPressure", "after": "CheckNodeMemoryPressure"}]


def test_every_link_within_the_page_leads_to_a_row(text: str) -> None:
    """Matrix headers and the Policy tab link to rows by the key; so do the rows among themselves."""
    anchors = re.findall(r' id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= {*anchors, "main"}
    assert {row.name for row in ORDERS["v1.11"]} | set(PRIORITIES) | set(PROVIDERS) <= set(anchors)


def test_every_name_is_reported_with_the_key_that_it_stands_for(text: str) -> None:
    """A name of the proposal is in the row of each key, and a member names its bundle."""
    for row in ORDERS["proposal"]:
        for key in keys_of(row.name):
            body = text[text.index(f'<tr id="{key}"') :]
            body = body[: body.index("</tr>")]
            assert row.name == key or f"also <code>{row.name}</code>" in body
    for bundle, members in BUNDLES.items():
        for member in members:
            body = text[text.index(f'<tr id="{member}"') :]
            assert f'href="#{bundle}"' in body[: body.index("</tr>")]


def test_every_priority_has_its_kind_and_formula(text: str) -> None:
    """Function or Map/Reduce, the formula in words, and the arguments that make more of them."""
    rows = {row["name"]: row for row in catalogue.priorities()}
    assert {name for name, row in rows.items() if row["kind"] == "Function"} == {"InterPodAffinityPriority"}
    assert rows["SelectorSpreadPriority"]["steps"] == "map, then reduce"
    assert rows["EqualPriority"]["steps"] == "map"
    assert all(row["formula"] and row["text"] for row in rows.values())
    for kind, _, _ in catalogue.priority_arguments():
        assert f'id="{kind}"' in text
    assert "10,000" in text


def test_every_rule_says_what_became_of_it(text: str, client: Client) -> None:
    """In two sentences, with a link to the plugin that it is now."""
    rows = [key for key in (*PREDICATES, *PRIORITIES) if f'<tr id="{key}"' in text]
    assert {*PREDICATES, *PRIORITIES} - {*rows} == {"PodFitsPorts"}  # an alias, in the row of its rule
    for key in rows:
        assert all(sentence in text for sentence in history_of(key)), key
    plugins = client.get("/reference/plugins/").content.decode()
    for name in re.findall(r'href="/reference/plugins/#(\w+)"', text):
        assert f'<tr id="{name}">' in plugins


def test_the_second_provider_can_be_written_as_a_policy() -> None:
    """As the page advises: its priorities are names that a policy may use."""
    listed = [{"name": name, "weight": weight} for name, weight in PROVIDERS["ClusterAutoscalerProvider"]]
    profile = compile_profile({"priorities": listed})
    assert "MostRequestedPriority" in [priority.name for priority in profile.priorities]
    assert "LeastRequestedPriority" not in [priority.name for priority in profile.priorities]
