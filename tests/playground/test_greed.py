"""The page of the price of greed, and its call: who may ask, what is refused, what is shown."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from playground.views.greed import best_name, table
from tests.core.compare.test_greed import GREEDY, NODES, SETTINGS, pod
from tests.playground.test_two_sources import shared


@pytest.fixture
def name(db: None) -> str:
    """The id of a scenario in which greed costs a pod."""
    return shared(GREEDY)


def test_the_call_answers_optimum_proof_moves_and_schedulers(name: str) -> None:
    """With a bundle that makes the moves."""
    found = Client().get("/api/optimum", {"of": name, "objective": "most-pods,fewest-nodes"}).json()
    assert found["objectives"] == ["most-pods", "fewest-nodes"] and found["pending"] == 3
    assert [(one["value"], one["gap"], one["optimal"]) for one in found["optimum"]["proofs"]] == [
        (3, 0, True),
        (2, 0, True),
    ]
    assert [row["scheduler"] for row in found["rows"]] == [
        "optimum",
        "v1.11",
        "v1.37",
        "kube-batch",
        "Firmament",
    ]
    assert len(found["optimum"]["moves"]) == 3 and "createOperation" in found["bundle"]


REFUSED = {
    "no source": ({}, 400, "Say what is to look at"),
    "unknown source": ({"of": "x" * 11}, 404, "There is no scenario"),
    "objective": ({"objective": "cheapest"}, 400, "objective 'cheapest' is unknown: it is one of most-pods"),
    "seconds": ({"seconds": "600"}, 400, "seconds must be a whole number from 1 to 20."),
    "step": ({"step": "soon"}, 400, "step must be a whole number from 0 to 100,000."),
    "beyond the end": ({"step": "99"}, 400, "run ends after 3 cycles"),
    "evict": ({"evict": "perhaps"}, 400, "evict must be true or false."),
    "moves": ({"objective": "fewest-moves"}, 400, "Let running pods move too."),
    "move": ({"move": "perhaps"}, 400, "move must be true or false"),
}


@pytest.mark.parametrize(("query", "status", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_says_why_and_what_to_write(
    name: str, query: dict[str, str], status: int, said: str
) -> None:
    """In the call and on the page, which keeps what was typed."""
    asked = query if not query or "of" in query else {"of": name, **query}
    answer = Client().get("/api/optimum", asked)
    assert answer.status_code == status and said in answer.json()["errors"][0]["message"]
    if query.get("step") == "99":  # the page hears of it when it has it searched
        return
    page = Client().get("/greed/", asked)
    assert page.status_code == (status if asked else 200)
    if asked:
        assert said in unescape(page.content.decode())
        assert f'value="{asked["of"]}"' in page.content.decode()


def test_the_page_has_table_picture_and_moves(name: str) -> None:
    """The best of each line is marked, and the moves open as a draft."""
    client = Client()
    client.get("/api/optimum", {"of": name})
    text = client.get("/greed/", {"of": f"/s/{name}/"}).content.decode()
    line = text[text.index("pods placed, less those evicted</th>") :]
    cells = re.findall(r'<td class="num( best)?" data-label="[^"]+">(\d+)</td>', line[: line.index("</tr>")])
    assert cells[:4] == [(" best", "3"), ("", "2"), ("", "2"), (" best", "3")]
    assert text.count("the optimum is better") == 3 and text.count("which is proven") == 1
    assert text.count('<svg class="greed-picture"') == 5
    bundle = unescape(text[text.index("<textarea") : text.index("</textarea>")].partition(">")[2])
    made = client.post("/import/", {"text": bundle, "title": "to the optimum"})
    assert made.status_code == 302 and made["Location"].startswith("/p/")


def test_what_is_infeasible_is_explained(db: None) -> None:
    """With a remedy, and the schedulers beside it all the same."""
    name = shared("\n---\n".join((SETTINGS, NODES, *(pod(f"p{n}", "3", "n1") for n in range(3)))))
    Client().get("/api/optimum", {"of": name, "move": "true"})
    page = Client().get("/greed/", {"of": name, "move": "true"})
    assert page.status_code == 200
    assert "No placement satisfies the rules" in page.content.decode()
    assert "choose an earlier step" in page.content.decode()


def test_nothing_of_a_name_is_markup(db: None) -> None:
    """A title and an objective are text."""
    for of, status in (("<script>alert(1)</script>", 404), (shared(GREEDY), 400)):
        page = Client().get("/greed/", {"of": of, "objective": "<b>alert"})
        assert page.status_code == status
        assert "<script>alert" not in page.content.decode() and "<b>alert" not in page.content.decode()


def test_only_those_that_place_the_most_are_compared_by_their_nodes() -> None:
    """Who places nothing uses no node, which is no merit; a search without proof is no optimum."""

    def row(name: str, placed: int, nodes: int) -> dict[str, Any]:
        return {
            "scheduler": name,
            "figures": dict.fromkeys(("pending", "priorities", "share", "fragmentation", "evicted"), 0)
            | {"placed": placed, "nodes": nodes},
        }

    lines = dict(table([row("optimum", 3, 2), row("v1.11", 3, 3), row("kube-batch", 0, 0)], "best found"))
    assert [(name, best) for name, _, best in lines["nodes with a pod"]] == [
        ("best found", True),
        ("v1.11", False),
        ("kube-batch", False),
    ]
    proof: dict[str, Any] = {"proofs": [{"optimal": True}], "unsearched": []}
    assert best_name({"optimum": proof}) == "optimum"
    assert best_name({"optimum": {**proof, "unsearched": ["balance"]}}) == "best found"


@pytest.mark.django_db
def test_a_scenario_is_chosen_from_a_list() -> None:
    """Its address is the one to share; what is pasted counts before it, and nothing unknown is stored."""
    page = Client().get("/greed/").content.decode()
    assert '<option value="example:shop">' in page and "required" not in page
    sent = Client().get("/greed/", {"from": "example:shop", "of": "", "seconds": "2"})
    assert sent.status_code == 302 and sent["Location"].startswith("/greed/?of=scenario%3A")
    assert "seconds=2" in sent["Location"] and "from=" not in sent["Location"]
    both = Client().get("/greed/", {"from": "example:shop", "of": "abc"})
    assert both["Location"] == "/greed/?of=abc"
    unknown = Client().get("/greed/", {"from": "example:none"})
    assert unknown.status_code == 404
