"""The cache's reference page: every row of the engine's table, in words, under its id."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from playground.reference import cache_texts
from playground.views.reference_cache import lacking, resources
from scheduler_core.schedulers.v1_11.equivalence.classes import fields_of
from scheduler_core.schedulers.v1_11.equivalence.conditions import ALWAYS, InvalidatedNodes
from scheduler_core.schedulers.v1_11.equivalence.row import MODES, InvalidationRow
from scheduler_core.schedulers.v1_11.equivalence.rules import TABLE
from scheduler_core.settings.settings import CACHE_MODES, EQUIVALENCE_CLASSES, STALE_WRITES


@pytest.fixture
def text(client: Client) -> str:
    return client.get("/reference/cache/").content.decode()


def reported(text: str, row: InvalidationRow) -> str:
    """Return what the page says in a row, without its tags."""
    body = text[text.index(f'<tr id="{row.id}"') :]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body[: body.index("</tr>")])).split())


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_every_row_of_the_table_is_reported_in_words(text: str, row: InvalidationRow) -> None:
    """Resource, operations, condition, reason and, for every mode, its scope or that it does not apply."""
    said = reported(text, row)
    assert row.condition is ALWAYS or row.condition.text
    assert f"{row.resource} {', '.join(row.operations)} : {row.condition.text or 'always'}" in said
    assert row.why in said
    for name in row.predicates or ("all of them",):
        assert name in said
    for scope in row.scopes.values():
        assert scope.value in said
    assert said.count("does not apply") == len(MODES) - len(row.scopes)


def test_every_anchor_is_there_once_and_every_link_leads_somewhere(text: str, client: Client) -> None:
    """A Cycle names rows by id, and the Cache tab links to them; predicates lead to the other page."""
    anchors = re.findall(r' id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert {row.id for row in TABLE} <= set(anchors)
    assert set(re.findall(r'href="#([^"]+)"', text)) <= {*anchors, "main"}
    other = client.get("/reference/predicates/").content.decode()
    keys = set(re.findall(r'href="/reference/predicates/#([^"]+)"', text))
    assert keys
    assert keys <= set(re.findall(r' id="([^"]+)"', other))


def test_the_pages_of_the_reference_lead_to_each_other(text: str, client: Client) -> None:
    """Both have the same two links on top, and the one that is open is marked."""
    other = client.get("/reference/predicates/").content.decode()
    assert 'href="/reference/cache/" aria-current="page"' in text
    assert 'href="/reference/predicates/" aria-current="page"' in other
    assert 'href="/reference/cache/">Equivalence cache' in other


def test_rows_that_the_proposal_lacks_are_marked(text: str) -> None:
    """A plus where mode designed has no row and the proposal no section; forms of v1.11 are apart."""
    rows = {row.id: row for row in TABLE}
    assert lacking(rows["pod-add-affinity"])
    assert not lacking(rows["pod-add-general-key"])
    assert "the proposal lacks this row" in reported(text, rows["pod-add-affinity"])
    assert "own form of a row of the proposal" in reported(text, rows["pod-add-general-key"])
    assert "proposal lacks" not in reported(text, rows["pod-add-general"])
    assert f"marks the {sum(map(lacking, TABLE))} rows" in unescape(re.sub(r"<[^>]+>", "", text)).replace(
        "+ ", ""
    )


def test_every_resource_is_a_choice_of_the_filter(text: str) -> None:
    """The table's resources are the filter's, in the table's order, and no row is lost between them."""
    form = text[text.index("data-rule-filter") : text.index("data-rule-count")]
    offered = re.findall(r"<option>(\w+)</option>", form[: form.index("</select>")])
    assert offered == list(dict.fromkeys(row.resource for row in TABLE))
    assert sum(len(resource["rows"]) for resource in resources()) == len(TABLE)


def test_what_can_be_set_is_reported(text: str) -> None:
    """Modes, definitions with all of their fields, and remedies are those that the settings may name."""
    assert tuple(cache_texts.MODES) == CACHE_MODES
    assert tuple(cache_texts.DEFINITIONS) == EQUIVALENCE_CLASSES
    assert tuple(name for name, *_ in cache_texts.REMEDIES) == STALE_WRITES
    assert set(cache_texts.FIELDS) == {*fields_of("controller"), *fields_of("attributes")}
    for known in (*cache_texts.MODES, *cache_texts.FIELDS, *STALE_WRITES):
        assert f"<code>{known}</code>" in text


def test_every_issue_that_a_row_names_is_a_link(text: str) -> None:
    """The source of a row is followed with one click, and the list of issues says what each is about."""
    named = {int(number) for row in TABLE for number in re.findall(r"#(\d+)", row.source)}
    known = {upstream.number: upstream for upstream in cache_texts.UPSTREAM}
    assert named <= set(known)
    for upstream in known.values():
        assert f'href="{upstream.url}"' in text


def test_every_scope_has_words() -> None:
    """No two scopes read alike, so that a row's reach is known from the page alone."""
    assert len({scope.value for scope in InvalidatedNodes}) == len(InvalidatedNodes)
    assert all(scope.value for scope in InvalidatedNodes)
