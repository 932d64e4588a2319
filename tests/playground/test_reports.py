"""Reports: one file that needs nothing else, in which whatever people wrote is text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from playground.comparisons import differences
from playground.reports import markup
from playground.storage import store
from scheduler_core.schedulers.rule_history import history_of
from tests.playground.conftest import OWNER
from tests.playground.test_two_sources import LEAST, MOST, bundle, shared

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test compared is computed again."""
    monkeypatch.setattr(differences, "answers", type(differences.answers)(9, 10**6))


class Fetched(HTMLParser):
    """Collects what a page would run or fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note scripts, what has an address that is fetched, and listeners."""
        if tag in {"script", "link", "iframe", "object", "embed", "img", "form", "input", "base"}:
            self.found.append(tag)
        self.found += [f"{tag} {name}" for name, _ in attrs if name.startswith("on") or name == "src"]
        self.found += [f"{tag} {value}" for name, value in attrs if name == "href" and not _is_web(value)]


def _is_web(address: str | None) -> bool:
    return (address or "").startswith(("http://", "https://"))


def asked(client: Client, left: str, right: str = "", status: int = 200, **fields: str) -> str:
    """Return the report that a form asks for."""
    answer = client.post("/report", {"left": left, "right": right, "format": "html", **fields})
    assert answer.status_code == status, answer.content
    return answer.content.decode()


def comment(scenario: str, text: str, **fields: Any) -> dict[str, Any]:
    """Write a comment over the API."""
    answer = Client().post(
        f"/api/scenarios/{scenario}/comments",
        json.dumps({"step": "1", "text": text, **fields}),
        content_type="application/json",
    )
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def test_a_comparison_with_its_comments_and_a_verdict() -> None:
    """Who decided what and when, the first difference, tables, pictures, and the threads of both sides."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    thread = comment(left, "Why **a**?", name="Ada", node="a")
    comment(left, "It is empty.", name="Bob", parent=thread["id"])
    comment(right, "Packed.")
    page = asked(Client(), left, right, verdict="needs-work", name="Grace", note="See `a`.")
    assert "<strong>Needs work</strong> by Grace" in page and "<code>a</code>" in page
    assert "First different decision: cycle 1" in page and "<code>LeastRequestedPriority</code>" in page
    assert all(sentence in page for sentence in history_of("LeastRequestedPriority"))
    assert page.count("<figure>") == 4 and page.count("Comments on") == 2
    assert "Why <b>a</b>?" in page and "It is empty." in page and "Packed." in page
    assert "step 1 · a (default/web-0 went to a)" in page
    assert f'href="http://testserver/s/{left}/?step=1&amp;node=a#comment-{thread["id"]}"' in page
    assert "Pods that end on another node: 2" in page and "pods without a controller" in page


def test_nothing_runs_and_nothing_is_fetched() -> None:
    """Whatever titles, names, notes and comments hold; the file says so to the browser, too."""
    text = bundle(MOST)
    title = f"{SCRIPT} @team #1 ![x](http://x/)"
    answer = Client().post(
        "/api/scenarios", json.dumps({"bundle": text, "title": title}), content_type="application/json"
    )
    name = answer.json()["id"]
    comment(name, f"{SCRIPT} [x](javascript:alert(1)) <img src=x onerror=alert(1)>", name=SCRIPT)
    fields = {"verdict": "approve", "name": SCRIPT, "note": f"{SCRIPT}\n```\n{SCRIPT}\n```\n- {SCRIPT}"}
    page = asked(Client(), shared(bundle(LEAST)), name, 200, **fields)
    seen = Fetched()
    seen.feed(page)
    assert seen.found == []
    assert "default-src &#x27;none&#x27;" in page and SCRIPT not in page and "&lt;script&gt;" in page
    reported = asked(Client(), shared(bundle(LEAST)), name, 200, **{**fields, "format": "markdown"})
    assert "<script" not in reported and "<img" not in reported
    assert not re.search(r"@\w|(?<!\\)#\d|(?<!\\)!\[", reported), reported


def test_markdown_for_a_pull_request() -> None:
    """The same as tables and quotations; comments mention nobody and close nothing."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    thread = comment(left, "closes #12, @ada", name="a|b")
    reported = asked(Client(), left, right, format="markdown", verdict="approve", name="Grace")
    assert "**Approved** by Grace" in reported
    assert "## First different decision: cycle 1, decided by LeastRequestedPriority" in reported
    assert "The priority became a score plugin of its own with the framework" in reported
    assert "| node | a | b |" in reported and "| default/web-1 | a | b |" in reported
    assert f"(http://testserver/s/{left}/?step=1#comment-{thread['id']})** (open)" in reported
    assert "> closes #\u200b12, @\u200bada" in reported and "a\\|b, 20" in reported


def test_one_scenario() -> None:
    """Without a right side only the one is reported, with the cluster at its end."""
    left = shared(bundle(LEAST))
    comment(left, "Good.")
    page = asked(Client(), left)
    assert "The cluster at the end" in page and page.count("<figure>") == 1 and "No verdict" in page
    assert "different decision" not in page and "pods elsewhere" not in page and "Good." in page
    reported = asked(Client(), left, format="markdown")
    assert "- Scenario: " in reported and "| metric | value |" in reported and "change" not in reported


def test_comments_are_under_the_title_of_their_scenario() -> None:
    """Of one that was shared without a title, under Untitled."""
    for title, shown in (("Packing", "Packing"), ("", "Untitled")):
        body = json.dumps({"bundle": bundle(LEAST), "title": title})
        name = Client().post("/api/scenarios", body, content_type="application/json").json()["id"]
        comment(name, "Why a?")
        assert f"Comments on {shown}: 1 open" in asked(Client(), name)


def test_a_report_of_a_draft_is_its_owners(owner: Client, stranger: Client) -> None:
    """Nobody else gets one; a private scenario's comments are in no report of another."""
    draft = store.create_draft(OWNER, [("", bundle(MOST))], "Mine")
    left = shared(bundle(LEAST))
    comment(left, "On the left.")
    page = asked(owner, left, f"draft:{draft.pk}")
    assert "Mine" in page and "On the left." in page
    assert "On the left." not in asked(owner, f"draft:{draft.pk}")
    asked(stranger, left, f"draft:{draft.pk}", 404)
    asked(stranger, f"draft:{draft.pk}", status=404)


def test_a_branch_brings_the_comments_of_its_origin(owner: Client) -> None:
    """Those of the shared scenario, once, though both sides have them."""
    left = shared(bundle(LEAST))
    comment(left, "Of the origin.")
    origin = store.Origin(f"scenario:{left}", f"scenario:{left}", "1")
    draft = store.create_draft(OWNER, [("", bundle(MOST))], "Branch", "", origin)
    page = asked(owner, left, f"draft:{draft.pk}")
    assert page.count("Of the origin.") == page.count("Comments on") == 1
    assert "Of the origin." in asked(owner, f"draft:{draft.pk}")


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"verdict": "perfect"}, 400),
        ({"format": "pdf"}, 400),
        ({"note": "x" * 4_001}, 400),
        ({"left": ""}, 400),
        ({"left": "AAAAAAAAAAA"}, 404),
    ],
)
def test_what_is_refused(fields: dict[str, str], status: int) -> None:
    """An unknown verdict or format, too long a note, nothing to report on."""
    asked(Client(), **{"left": shared(bundle(LEAST)), "status": status, **fields})  # type: ignore[arg-type]


def test_how_it_is_sent() -> None:
    """As a file with a safe name, once the form's token is right, and only by POST."""
    text, title = bundle(LEAST), '../Ä "x"\r\n: Policy'
    body = json.dumps({"bundle": text, "title": title})
    left = Client().post("/api/scenarios", body, content_type="application/json").json()["id"]
    answer = Client().post("/report", {"left": left, "format": "html"})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="review-x-policy.html"'
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert Client().get("/report").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/report", {"left": left}).status_code == 403


def test_only_so_much_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows beyond the bounds are counted."""
    for name in ("PLACEMENTS", "DIFFERENCES", "THREADS"):
        monkeypatch.setattr(f"playground.reports.report.{name}", 1)
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    comment(left, "One.")
    comment(left, "Two.")
    page = asked(Client(), left, right)
    assert page.count("and 1 more") == 3 and "Two." not in page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\n\nc", "<p>a<br>b</p><p>c</p>"),
        ("- a\n* `b`\nc", "<ul><li>a</li><li><code>b</code></li></ul><p>c</p>"),
        ("```go\n<a>\n\n*b*\n```\nc", "<pre>&lt;a&gt;\n\n*b*</pre><p>c</p>"),
        ("```\nno end", "<pre>no end</pre>"),
        ("**a** *b*", "<p><b>a</b> <em>b</em></p>"),
        (
            "[a](https://x/?a&b) http://y/",
            (
                '<p><a href="https://x/?a&amp;b" rel="noopener nofollow">a</a> '
                '<a href="http://y/" rel="noopener nofollow">http://y/</a></p>'
            ),
        ),
        ("[a](javascript:b)", "<p>[a](javascript:b)</p>"),
        ('http://y/"x', '<p><a href="http://y/&quot;x" rel="noopener nofollow">http://y/&quot;x</a></p>'),
        ("", ""),
    ],
)
def test_the_markdown_of_comments(text: str, shown: str) -> None:
    """As the pages show it."""
    assert markup.html(text) == shown
