"""The reference page of releases: all that their modules declare, each with a link to its source."""

from __future__ import annotations

from django.test import Client
from django.utils.html import escape

from scheduler_core.schedulers.v1_37.releases import DIALECTS


def test_every_difference_is_listed_with_its_source(client: Client) -> None:
    """And the page says which release it is from, what each does, and what is not recorded."""
    text = client.get("/reference/releases/").content.decode()
    listed = [(dialect, one) for dialect in DIALECTS.values() for one in dialect.differences]
    assert len(listed) > 30
    for dialect, one in listed:
        assert f'id="{dialect.name}"' in text
        assert escape(one.here) in text
        assert escape(one.there) in text
        assert f'href="{dialect.source_of(one)}"' in text
    assert 'href="/reference/releases/" aria-current="page"' in text
    assert "<td>off</td><td>on</td><td>on</td>" in text, "NodeDeclaredFeatures"


def test_the_page_of_v1_37_is_not_taken_for_that_of_releases(client: Client) -> None:
    """Each page of the reference marks itself alone."""
    text = client.get("/reference/plugins/").content.decode()
    assert 'href="/reference/releases/" aria-current' not in text
    assert text.count("aria-current") == client.get("/reference/releases/").content.decode().count(
        "aria-current"
    )
