"""Who may do what with a lesson that a platform launched: the table of docs/permissions.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from playground.lessons import answer_links
from playground.models import LtiLaunch
from tests.parts import REPOSITORY
from tests.playground.lti_platform import CLAIM, ROLES, FakePlatform, key, pem, running
from tests.playground.test_lti import LESSON, launched
from tests.playground.test_permissions import rendered

pytestmark = pytest.mark.django_db(transaction=True)

WHO = ("learner", "device", "mate", "teacher", "stranger")


@pytest.fixture(scope="module")
def server() -> Iterator[FakePlatform]:
    with running() as found:
        yield found


@dataclass(frozen=True, slots=True)
class Scene:
    """The learner's launched lesson, and somebody's browser, with the launch of its own, "" without one."""

    client: Client
    launch: str
    own: str

    def answers(self, launch: str) -> Any:
        body = json.dumps({"answer": "n3", "launch": launch})
        return self.client.post(f"/api/lessons/{LESSON}/node/answer", body, content_type="application/json")


def of_learner(scene: Scene) -> LtiLaunch:
    return LtiLaunch.objects.get(pk=scene.launch)


def counts(scene: Scene) -> bool:
    """Return whether an answer counts for the learner."""
    scene.answers(scene.launch)
    return of_learner(scene).passed == ["node"]


def hands_in(scene: Scene) -> bool:
    scene.client.post(f"/lti/at/{scene.launch}/done/")
    return of_learner(scene).handed is not None


def is_offered_answers(scene: Scene) -> bool:
    """Return whether the last page of the browser's own launch has a link that opens the answers."""
    page = scene.client.get(f"/lti/at/{scene.own}/done/").content.decode() if scene.own else ""
    _, found, rest = page.partition("handout/?answers=")
    link = f"/learn/{LESSON}/handout/?answers={rest.partition(chr(34))[0]}"
    return bool(found) and scene.client.get(link).status_code == 200


TRIED: dict[str, Callable[[Scene], bool]] = {
    "page /lti/at/{launch}/": lambda scene: scene.client.get(f"/lti/at/{scene.launch}/").status_code == 200,
    "page /lti/at/{launch}/done/": lambda scene: (
        scene.client.get(f"/lti/at/{scene.launch}/done/").status_code == 200
    ),
    "POST /lti/at/{launch}/done/": hands_in,
    "POST /api/lessons/…/answer with the launch": counts,
    "GET /learn/…/handout/?answers=1": lambda scene: (
        scene.client.get(f"/learn/{LESSON}/handout/?answers=1").status_code == 200
    ),
    "GET /learn/…/file/": lambda scene: scene.client.get(f"/learn/{LESSON}/file/").status_code == 200,
    "the link to the answers on the last page": is_offered_answers,
    "GET /learn/…/handout/ with that link": lambda scene: (
        scene.client.get(f"/learn/{LESSON}/handout/?answers={answer_links.signed(LESSON)}").status_code == 200
    ),
}


def staged(who: str, school: FakePlatform) -> Scene:
    """Let a learner launch a lesson; return it as somebody sees it."""
    cache.clear()
    LtiLaunch.objects.all().delete()
    clients = {name: Client() for name in WHO}
    more: dict[str, Any] = {
        "learner": {},
        "device": {},
        "mate": {"sub": "person-2"},
        "teacher": {"sub": "person-3", f"{CLAIM}roles": [f"{ROLES}Instructor"]},
    }
    own = {name: launched(clients[name], school, **claims).split("/")[3] for name, claims in more.items()}
    return Scene(clients[who], own["learner"], own.get(who, ""))


def test_the_document_says_who_may_do_what_with_a_launch(server: FakePlatform, settings: Any) -> None:
    """Everything is tried by the learner, on two devices, by others of the course, and by somebody else."""
    settings.LTI_PLATFORMS, settings.LTI_KEY = (server.registered,), pem(key("tool"))
    found = {name: {who for who in WHO if tried(staged(who, server))} for name, tried in TRIED.items()}
    made = rendered(found, WHO)
    document = (REPOSITORY / "docs" / "permissions.md").read_text()
    if made not in document:
        (REPOSITORY / "var").mkdir(exist_ok=True)
        (REPOSITORY / "var" / "permissions-launches.md").write_text(f"{made}\n")
    assert f"{made}\n" in document
