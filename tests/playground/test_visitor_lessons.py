"""Lessons that visitors write: made in the workbench, changed by two tabs, and seen by whom."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from playground.accounts import ownership
from playground.courseware import lesson, text_of, validation
from playground.courseware.archives import packed, unpacked
from playground.courseware.catalogue import _HERE, _texts
from playground.lessons import author_jobs, computations, lookup, stop_pages
from playground.models import AuthoredLesson, Scenario, Share
from playground.pool import offload
from playground.pool.cpu_budget import Spending, SpentError
from playground.storage import quotas, retention, visitor_lessons
from tests.playground.conftest import OWNER, STRANGER, connected

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = dict(_texts(_HERE.joinpath("01-first-cycle")))


def upload(client: Client, data: bytes, status: int = 302) -> str:
    """Import an archive; return the lesson's id, or the page that refuses it."""
    answer = client.post("/learn/author/import", {"lesson": SimpleUploadedFile("a.zip", data)})
    assert answer.status_code == status, answer.content
    return answer.headers["Location"].split("/")[3] if status == 302 else answer.content.decode()


@pytest.fixture
def mine(owner: Client) -> str:
    """A lesson of the owner: the first that is shipped, imported."""
    return upload(owner, packed("07-my-cycle", FIRST))


def state(client: Client, name: str) -> Any:
    return client.get(f"/learn/author/{name}/state").json()


def change(client: Client, name: str, status: int = 200, **wanted: Any) -> Any:
    answer = client.post(f"/learn/author/{name}/change", json.dumps(wanted), content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def value(
    client: Client, name: str, path: list[Any], was: Any, now: Any, status: int = 200, **more: Any
) -> Any:
    return change(client, name, status, kind="value", path=path, was=was, now=now, **more)


def publish(client: Client, name: str, status: int = 200) -> Any:
    answer = client.post(f"/learn/author/{name}/publish")
    assert answer.status_code == status, answer.content
    return answer.json()


def problems(client: Client, name: str) -> list[dict[str, Any]]:
    return list(client.get(f"/learn/author/{name}/problems").json()["problems"])


# --- import, export


def test_what_is_imported_is_exported_again(owner: Client, mine: str) -> None:
    """Byte for byte the folder that came, under its own name."""
    answer = owner.get(f"/learn/author/{mine}/export")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="07-my-cycle.zip"'
    assert unpacked(answer.content) == ("07-my-cycle", FIRST)
    assert problems(owner, mine) == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a ZIP archive"),
        (b"no archive", "not a ZIP archive"),
        (packed("01-a", {"../lesson.yaml": "x"}), "unsafe path"),
        (packed("01-a", {"lesson.yaml": "0" * 3_000_000}), "unpacks to more than"),
    ],
    ids=["empty", "text", "path", "bomb"],
)
def test_a_hostile_archive_stores_nothing(owner: Client, data: bytes, words: str) -> None:
    """The page says what would be right."""
    assert words in upload(owner, data, 422)
    assert not AuthoredLesson.objects.exists()


def test_an_unsound_lesson_comes_in_with_its_problems(owner: Client) -> None:
    """Its author mends it in the browser; nobody else can play it meanwhile."""
    stop = "stops/03-node.md"
    text = FIRST[stop].replace("The filter is over:", "2 nodes: <script>alert()</script>")
    name = upload(owner, packed("evil <b>", {**FIRST, stop: text}))
    [found] = problems(owner, name)
    assert found["file"] == stop and "the number 2 is written by hand" in found["message"]
    assert text.splitlines()[found["line"] - 1].startswith("2 nodes")
    assert state(owner, name)["folder"] == "01-your-first-scheduling-cycle"
    assert publish(owner, name, 422)["problems"] == [found]
    page = owner.get(f"/learn/author/{name}/").content.decode()
    assert "<script>alert()" not in page


def test_a_problem_that_playing_shows_has_its_line(owner: Client) -> None:
    """The tests' own check, with the place of the field or of the fact."""
    stop = "stops/03-node.md"
    shows = FIRST[stop].replace("phase: predicates", "phase: assume")
    text = f'{FIRST[stop]}\n\nThen {{{{ free("nobody", "cpu") }}}}.'
    [found] = problems(owner, upload(owner, packed("01-a", {**FIRST, stop: text})))
    assert "there is no node 'nobody'" in found["message"]
    assert "nobody" in text.splitlines()[found["line"] - 1]
    found, *_ = problems(
        owner, upload(owner, packed("01-a", {**FIRST, stop: shows.replace(".node\n", ".feasible[1]\n")}))
    )
    assert found["file"] == stop and found["line"] > 1


def test_lessons_are_bounded(owner: Client, mine: str, limits: Callable[..., None]) -> None:
    """In number, in bytes of one, and in bytes of all that a visitor stores."""
    limits(LESSONS_PER_OWNER=1)
    assert "You have 1 lessons of your own" in upload(owner, packed("01-a", FIRST), 409)
    assert owner.post("/learn/author/new").status_code == 409
    limits(LESSONS_PER_OWNER=9, LESSON_BYTES=4_000)
    assert "a lesson may have 4,000" in upload(owner, packed("01-a", FIRST), 422)
    assert (
        "may have 4,000" in value(owner, mine, ["notes.md"], FIRST["notes.md"], "x" * 5_000, 422)["message"]
    )
    limits(LESSON_BYTES=10**6, STORAGE_PER_OWNER=100)
    assert "What you have stored" in upload(owner, packed("01-a", FIRST), 413)
    limits(LESSON_CHANGES_PER_MINUTE=1)
    assert value(owner, mine, ["title"], "", "x", 429)["message"].startswith("Too many changes")


# --- who sees it


def test_nobody_else_reaches_a_lesson_that_is_written(owner: Client, stranger: Client, mine: str) -> None:
    """To a stranger it is not there: not its page, nor what the page asks, nor anything it does."""
    other = Client()
    for client in (stranger, other):
        for part in ("", "state", "problems", "export"):
            assert client.get(f"/learn/author/{mine}/{part}").status_code == 404
        for part in ("change", "publish", "withdraw", "delete"):
            assert client.post(f"/learn/author/{mine}/{part}").status_code == 404
        assert client.get(f"/learn/{mine}/").status_code == 404
        assert client.get(f"/learn/{AuthoredLesson.objects.get().link}/").status_code == 404
        assert "Your first scheduling cycle" not in client.get("/learn/author/").content.decode()
    assert state(owner, mine)["stops"][0]["key"] == "cluster"


def test_a_published_lesson_is_played_by_who_has_its_address(owner: Client, mine: str) -> None:
    """With the player of all lessons; what its author changes later is not seen until it is published."""
    link = publish(owner, mine)["link"]
    learner = Client()
    page = learner.get(link)
    assert page.status_code == 200 and b"The cluster" in page.content
    address = f"/api/lessons/{link.split('/')[2]}/node/answer"
    verdict = learner.post(address, json.dumps({"answer": "n3"}), content_type="application/json").json()
    assert verdict["right"] and verdict["receipt"]
    assert learner.get(f"{link}done/").status_code == 200
    assert learner.get(f"{link}handout/").status_code == 200
    value(owner, mine, ["title"], "The cluster", "Changed since", stop="cluster")
    assert b"Changed since" not in learner.get(link).content
    publish(owner, mine)
    assert b"Changed since" in learner.get(link).content
    gallery = learner.get("/learn/").content.decode()
    assert link not in gallery, "an address that is listed is no secret"


def test_what_is_withdrawn_or_deleted_is_gone(owner: Client, mine: str) -> None:
    """With its address, the scenarios that its learners saw, and all of its bytes."""
    first = publish(owner, mine)["link"]
    Client().get(first)
    [share] = Share.objects.filter(lesson=mine)
    frame = f"/e/{share.scenario.short}/"
    assert Client().get(frame).status_code == 200
    owner.post(f"/learn/author/{mine}/withdraw")
    assert Client().get(first).status_code == 404 and Client().get(frame).status_code == 404
    second = publish(owner, mine)["link"]
    assert second != first
    Client().get(second)
    answer = owner.post(f"/learn/author/{mine}/delete")
    assert answer.status_code == 302
    assert Client().get(second).status_code == 404
    assert (
        not AuthoredLesson.objects.exists() and not Share.objects.exists() and not Scenario.objects.exists()
    )
    assert quotas.used_by_owner(OWNER) == 0


def test_stored_lists_and_deletes_lessons(owner: Client, mine: str) -> None:
    """With what else a visitor has stored; its scenarios are no links of theirs."""
    Client().get(publish(owner, mine)["link"])
    page = owner.get("/stored/").content.decode()
    assert f"/learn/author/{mine}/" in page and page.count('<td data-label="kind">') == 1
    owner.post(f"/stored/lesson/{mine}/delete")
    assert not AuthoredLesson.objects.exists()


def test_a_preview_is_its_authors(owner: Client, stranger: Client, mine: str) -> None:
    """What is written is played before it is published; only its author's page has that address."""
    preview = state(owner, mine)["stops"][2]["preview"]
    assert owner.get(preview).status_code == 200
    name = preview.split("/")[2]
    assert lookup.lesson_at(name) is not None
    for guess in (mine, f"{mine}{'0' * 24}", f"{name[:-1]}x"):
        assert stranger.get(f"/learn/{guess}/node/").status_code == 404
    value(owner, mine, ["step"], "1.1", "9.9", stop="node")
    page = owner.get(preview)
    assert page.status_code == 409 and "there is no step" in page.content.decode()
    head = FIRST["lesson.yaml"].partition("\n")[0].removeprefix("title: ")
    value(owner, mine, ["level"], "beginner", "wizard")
    assert owner.get(preview).status_code == 409
    assert (
        Client()
        .post(f"/api/lessons/{name}/node/hint", '{"number": 1}', content_type="application/json")
        .status_code
        == 409
    )
    assert state(owner, mine)["head"]["title"] == head


def test_a_huge_scenario_is_not_played_in_a_web_process(
    owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests of lessons refuse it with its size, and it is never published."""
    monkeypatch.setattr("playground.lessons.checks.CELLS", 2)
    name = upload(owner, packed("01-a", FIRST))
    assert "3 nodes and 1 cycles" in problems(owner, name)[0]["message"]
    publish(owner, name, 422)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The jobs that go to the pool: whose turn each takes, and what it computes."""
    found: list[tuple[str, str]] = []

    def compute(visitor: str, function: Any, *args: Any, long: bool = False, expects: float = 1.0) -> Any:
        name = args[1] if function is computations._within else function
        found.append((visitor, name.__name__))
        time.sleep(0.02)
        return pickle.loads(pickle.dumps(function(*pickle.loads(pickle.dumps(args)))))

    monkeypatch.setattr(offload, "enabled", lambda: True)
    monkeypatch.setattr(offload, "compute", compute)
    cache.clear()
    lookup._read.cache_clear()
    return found


def test_a_lesson_is_computed_beside_the_web_process(
    owner: Client, mine: str, jobs: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read, played and rendered in the pool when it is published; a view needs none of it."""
    link = publish(owner, mine)["link"]
    assert {visitor for visitor, _ in jobs} == {f"{OWNER} lessons"}
    assert [name for _, name in jobs] == ["checked", "read", "_pages", "_pages"]
    jobs.clear()
    monkeypatch.setattr("playground.courseware.playthrough.play", None)  # nothing is played here
    for stop in ("cluster", "node", "why"):
        assert Client().get(f"{link}{stop}/").status_code == 200
    assert not jobs
    cache.clear()
    monkeypatch.undo()


def test_many_who_open_a_lesson_have_it_computed_once(
    owner: Client, mine: str, jobs: list[tuple[str, str]]
) -> None:
    """By one of them, and what took too long is not tried again at once."""
    of = lookup.lesson_at(publish(owner, mine)["link"].split("/")[2])
    assert of is not None
    cache.clear()
    jobs.clear()

    def look() -> None:
        computations.kept(of, stop_pages.StopPage, stop_pages.stop_page, "node")
        connection.close()

    threads = [threading.Thread(target=look) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(jobs) == 1 and not computations._turns


def test_an_author_pays_for_their_lessons_alone(
    owner: Client, mine: str, jobs: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the share of an author spends is the author's, and who has spent it learns when to come back."""
    spending = Spending()
    spending.charge(author_jobs.share_of(OWNER), 400)
    with pytest.raises(SpentError):
        spending.check(OWNER)
    spending.check(author_jobs.share_of("another"))

    def spent(*_: Any, **__: Any) -> None:
        raise SpentError("Come back in 9 seconds.", 9)

    monkeypatch.setattr(offload, "compute", spent)
    for answer in (
        owner.post(f"/learn/author/{mine}/publish"),
        owner.get(state(owner, mine)["stops"][0]["preview"]),
    ):
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "9")


def test_a_page_has_one_budget(
    owner: Client, jobs: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty searches are cut off together, are refused in words, and are not begun again by the next view."""
    monkeypatch.setattr(computations, "PAGE_SECONDS", 0.005)
    monkeypatch.setattr(validation, "PAGE_SECONDS", 0.005)
    text_of.cache_clear()
    many = "\n".join(f'{{{{ smallest_change("web", "n{number % 3 + 1}") }}}}' for number in range(50))
    name = upload(
        owner, packed("01-a", {**FIRST, "stops/04-why.md": f"{FIRST['stops/04-why.md']}\n{many}\n"})
    )
    preview = state(owner, name)["stops"][3]["preview"]
    page = owner.get(preview)
    assert (
        page.status_code == 409
        and "make the scenario smaller, or compute fewer facts" in page.content.decode()
    )
    jobs.clear()
    assert Client().get(preview).status_code == 409
    assert not jobs
    publish(owner, name, 422)
    assert "takes longer than" in problems(owner, name)[0]["message"]


def test_an_account_takes_lessons_along(owner: Client, mine: str) -> None:
    """As every row with an owner."""
    Client().get(publish(owner, mine)["link"])
    ownership.move(OWNER, "an-account-of-somebody-1")
    assert visitor_lessons.find(mine, OWNER) is None
    assert {row.owner for row in Share.objects.all()} == {"an-account-of-somebody-1"}
    assert visitor_lessons.find(mine, "an-account-of-somebody-1") is not None


def test_what_nobody_opens_expires(owner: Client, mine: str) -> None:
    """A year after it was last opened, with its scenarios."""
    Client().get(publish(owner, mine)["link"])
    AuthoredLesson.objects.update(expires=timezone.now() - timedelta(days=1))
    removed = retention.remove_expired()
    assert (removed["lessons"], removed["scenarios"]) == (1, 1)


# --- changes


def test_two_tabs_change_what_they_like(owner: Client, mine: str) -> None:
    """Each value has what its page showed; only the same value is a conflict, and nothing is lost by it."""
    value(owner, mine, ["title"], "The cluster", "Mine", stop="cluster")
    value(owner, mine, ["task", "question"], "Which node gets `web`?", "Which one?", stop="node")
    reported = value(owner, mine, ["title"], "The cluster", "Other", 409, stop="cluster")
    assert reported["current"] == "Mine" and "Nothing of yours is lost" in reported["message"]
    assert (
        value(owner, mine, ["title"], "Mine", "Other", stop="cluster")["stops"][0]["head"]["title"] == "Other"
    )
    again = value(owner, mine, ["title"], "Mine", "Other", stop="cluster")
    assert again["revision"] == 4, "sent again, it is no change"


def test_stops_are_moved_removed_and_come_back(owner: Client, mine: str) -> None:
    """An undone removal is as if nothing had been, files of its solution included."""
    keys = [stop["key"] for stop in state(owner, mine)["stops"]]
    moved = [*keys[1:], keys[0]]
    after = change(owner, mine, kind="order", was=keys, now=moved)
    assert [stop["key"] for stop in after["stops"]] == moved
    change(owner, mine, 409, kind="order", was=keys, now=keys[::-1])
    change(owner, mine, kind="order", was=moved, now=keys)
    gone = change(owner, mine, kind="remove", stop="other-node")
    assert "solution.yaml" not in visitor_lessons.files_of(AuthoredLesson.objects.get())
    change(owner, mine, **gone["undo"])
    assert visitor_lessons.files_of(AuthoredLesson.objects.get()) == FIRST
    change(owner, mine, 409, **gone["undo"])
    change(owner, mine, 422, kind="remove", stop="nobody")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("[", 400),
        ('{"kind": "explode"}', 400),
        ('{"kind": "value", "path": [], "was": 1, "now": 2}', 400),
        ('{"kind": "value", "path": ["a","b","c","d","e","f","g"], "was": 1, "now": 2}', 400),
        ('{"kind": "value", "path": ["title", "x"], "was": null, "now": 2, "stop": "node"}', 422),
        ('{"kind": "value", "path": ["outcomes", "x"], "was": null, "now": 2}', 422),
        ('{"kind": "value", "path": ["outcomes", 3], "was": null, "now": 2}', 422),
        ('{"kind": "value", "path": ["text"], "was": "", "now": 2, "stop": "nobody"}', 422),
        ('{"kind": "order", "was": [], "now": []}', 409),
        ('{"kind": "restore", "stop": "../x", "place": 0, "text": "x"}', 422),
        ('{"kind": "restore", "stop": "x", "place": 0, "text": "x", "files": {"/etc/passwd": "x"}}', 422),
        (json.dumps({"kind": "value", "path": ["notes.md"], "was": "", "now": "x" * 700_000}), 413),
    ],
    ids=range(12),
)  # fmt: skip
def test_a_change_of_any_other_shape_is_refused(owner: Client, mine: str, body: str, status: int) -> None:
    """And nothing of the lesson is changed by it."""
    answer = owner.post(f"/learn/author/{mine}/change", body, content_type="application/json")
    assert answer.status_code == status and answer.json()["message"]
    assert visitor_lessons.files_of(AuthoredLesson.objects.get()) == FIRST


# --- the workbench


async def test_a_view_becomes_a_stop(web: str) -> None:
    """Of a new lesson, and of that lesson: the scenario is stored once, and names its release."""
    async with connected() as socket:
        source = {
            "draft": (await socket.success("bundle.open", {"text": web, "title": "Three fit"}))["draft"]
        }
        stop = {"title": "The cluster", "step": "1.1", "phase": "queue", "views": ["queue", "nonsense"]}
        made = await socket.success("authoring.add", {"source": source, "stop": stop})
        listed = await socket.success("authoring.lessons", {})
        assert [one["title"] for one in listed["lessons"]] == ["Three fit"]
        asked = {"source": source, "step": "1.1", "place": {"kind": "cycle"}}
        proposed = (await socket.success("authoring.propose", asked))["proposals"]
        question = {name: part for name, part in proposed[0].items() if name != "label"}
        again = await socket.success(
            "authoring.add", {"source": source, "lesson": made["id"], "stop": question}
        )
        assert (again["id"], again["revision"]) == (made["id"], 2)
    row = await AuthoredLesson.objects.aget()
    files = visitor_lessons.files_of(row)
    assert sorted(files) == [
        "lesson.yaml", "notes.md", "scenario.yaml", "stops/01-the-cluster.md", f"stops/02-{again['stop']}.md",
    ]  # fmt: skip
    assert "scheduler: v1." in files["scenario.yaml"] and "nonsense" not in files["stops/01-the-cluster.md"]


async def test_what_a_workbench_may_not_add(web: str) -> None:
    """Another's lesson or draft, what is no stop, and what is too large."""
    async with connected() as socket, connected(STRANGER) as other:
        source = {"draft": (await socket.success("bundle.open", {"text": web, "title": "x"}))["draft"]}
        made = await socket.success("authoring.add", {"source": source, "stop": {"title": "x"}})
        theirs = {"draft": (await other.success("bundle.open", {"text": web, "title": "x"}))["draft"]}
        for payload, code in (
            ({"source": source, "stop": {"title": "x"}}, "source.not-found"),
            ({"source": theirs, "lesson": made["id"], "stop": {"title": "x"}}, "lesson.invalid"),
            ({"source": theirs, "stop": {"title": 5}}, "payload.invalid"),
            ({"source": theirs, "stop": {"title": "x", "more": 1}}, "payload.invalid"),
            ({"source": theirs, "stop": {"text": "x" * 20_000}}, "payload.invalid"),
        ):
            assert (await other.error("authoring.add", payload))["code"] == code
        place = {"source": theirs, "place": {"kind": "moon"}}
        assert (await other.error("authoring.propose", place))["code"] == "payload.invalid"
        large = web + "".join(f"# {'x' * 1_000}\n" for _ in range(300))
        big = {"draft": (await other.success("bundle.open", {"text": large, "title": "x"}))["draft"]}
        refused = await other.error("authoring.add", {"source": big, "stop": {"title": "x"}})
        assert "at most 256 KiB" in refused["message"]
    async with connected("") as nobody:
        assert (await nobody.error("authoring.lessons", {}))["code"] == "permission.denied"


def test_the_shipped_lessons_have_the_same_door() -> None:
    """Pages, calls and rooms find any lesson by its address."""
    assert lookup.lesson_at("first-cycle") is lesson("first-cycle")
    assert lookup.author_of(lookup.lesson_at("first-cycle")) is None  # type: ignore[arg-type]
    assert lookup.lesson_at("no-such-lesson") is None
