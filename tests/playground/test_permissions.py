"""Who may do what in rooms, with comments, links and accounts: everything is tried by everybody.

The outcome is the table of docs/permissions.md. Where the two differ, the table as it should be is written to
var/permissions.md.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from playground.api.table import CALLS
from playground.lessons import classes
from playground.live.commands import COMMANDS
from playground.models import Account, Draft, Room, Run, Scenario, Share
from playground.storage import bundles, store
from playground.urls import urlpatterns
from playground.visitors import identity
from tests.parts import REPOSITORY
from tests.playground.conftest import DATA, Socket, connected, visitor_client
from tests.playground.rooms import post
from tests.playground.test_protocol_document import TEXT as PROTOCOL

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

DOCUMENT = REPOSITORY / "docs" / "permissions.md"
ROLES = ("owner", "leader", "viewer", "commenter", "stranger")
IN_ROOM = ("owner", "leader", "viewer")
LESSON, STOP = "first-cycle", "node"
DENIED = {"permission.denied", "source.not-found"}
REFUSED = {401, 403, 404}
FAMILIES = ("room.", "comment.", "link.")
PATHS = ("/api/rooms", "/comments", "/api/links")


@dataclass(slots=True)
class Scene:
    """A shared scenario with a room, a comment and a private link, and a connection of everybody."""

    scenario: dict[str, Any]
    room: dict[str, Any]
    comment: dict[str, Any]
    link: str = ""
    sockets: dict[str, Socket] = field(default_factory=dict)
    beside: dict[str, Socket] = field(default_factory=dict)  # outside the room, which has its own comments
    person: str = ""  # the viewer, as others see them

    @property
    def source(self) -> dict[str, Any]:
        return {"source": {"scenario": self.scenario["id"]}}

    @property
    def mine(self) -> dict[str, Any]:
        return {**self.source, "comment": self.comment["id"]}

    def token(self, role: str) -> str:
        tokens = {"owner": self.scenario["delete_token"], "commenter": self.comment["edit_token"]}
        return str(tokens.get(role, "guessed"))

    def of(self, name: str) -> dict[str, Socket]:
        """Return the connections on which a command is sent, or a frame pushed."""
        return self.beside if name.startswith("comment.") else self.sockets

    async def may(self, role: str, name: str, payload: Mapping[str, Any]) -> bool:
        """Send a command; return whether it was done."""
        kind, _, body = await self.of(name)[role].ask(name, payload)
        if kind == "error":
            assert body["code"] in DENIED, (role, name, body)
        return bool(kind == "success")

    async def asked(self, role: str, method: str, address: str, body: Any = None) -> bool:
        """Send a request with the cookie and the token of a role; return whether it was done."""
        client = Client(enforce_csrf_checks=True)
        client.cookies[settings.VISITOR_COOKIE] = identity.sign(visitor(role))
        headers = {"Authorization": f"Bearer {self.token(role)}"}
        answer = await sync_to_async(client.generic)(
            method, address, json.dumps(body), "application/json", headers=headers
        )
        assert answer.status_code < 300 or answer.status_code in REFUSED, (role, address, answer.content)
        return bool(answer.status_code < 300)


def visitor(role: str) -> str:
    return f"{role}-of-the-scene-12345"


@asynccontextmanager
async def staged(text: str, role: str) -> AsyncIterator[Scene]:
    """Set a scene. The owner leads, unless it is what the one who was handed the lead may do."""
    cache.clear()  # nobody is limited for what was tried before
    await Scenario.objects.all().adelete()
    shared = (await sync_to_async(post)("/api/scenarios", {"bundle": text})).json()
    await Share.objects.aupdate(owner=visitor("owner"))
    opened = (await sync_to_async(post)("/api/rooms", {"scenario": shared["id"]})).json()
    taught = await sync_to_async(classes.stop)(LESSON)
    assert taught is not None
    await Room.objects.aupdate(lesson={**taught.lesson, "veil": None}, owner=visitor("owner"))
    async with AsyncExitStack() as stack:
        scene = Scene(shared, opened, {})
        for name in ROLES:
            scene.sockets[name] = await stack.enter_async_context(connected(visitor(name)))
            scene.beside[name] = await stack.enter_async_context(connected(visitor(name)))
        scene.comment = await scene.sockets["commenter"].success(
            "comment.write", {**scene.source, "step": "1", "text": "Why?"}
        )
        scene.comment["edit_token"] = ""
        linked = await scene.sockets["owner"].success("link.create", scene.source)
        scene.link = linked["link"]
        owner = scene.sockets["owner"]
        token = {"lead_token": opened["lead_token"]}
        await owner.success("room.join", {"room": opened["id"], **token})
        people = {}
        for name in ("leader", "viewer"):
            joined = await scene.sockets[name].success("room.join", {"room": opened["id"], "name": name})
            people[name] = joined["person"]
        scene.person = people["viewer"]
        await owner.success("room.move", {"step": "end"})  # where a question hides nothing from anybody
        await owner.success("room.ask", {"kind": "choice", "choices": ["a", "b"]})
        if role == "leader":
            await owner.success("room.hand", {"to": people["leader"]})
            await scene.sockets["leader"].push("room.role")
        yield scene


# --- what is tried -------------------------------------------------------------------------------

Try = Callable[[Scene, str], Awaitable[bool]]


def command(name: str, payload: Callable[[Scene], Mapping[str, Any]] = lambda _: {}) -> Try:
    return lambda scene, role: scene.may(role, name, payload(scene))


def request(method: str, address: str, body: Callable[[Scene, str], Any] = lambda *_: None) -> Try:
    async def tried(scene: Scene, role: str) -> bool:
        names = {
            "{room}": scene.room["id"],
            "{scenario}": scene.scenario["id"],
            "{link}": scene.link,
            "{comment}": scene.comment["id"],
        }
        path = address
        for name, value in names.items():
            path = path.replace(name, value)
        if "{comment}" in address:  # a comment of the API: those of pages have no token that is reported
            written = await sync_to_async(post)(
                f"/api/scenarios/{scene.scenario['id']}/comments", {"step": "1", "text": "x"}
            )
            path = path.replace(scene.comment["id"], written.json()["id"])
            scene.comment["edit_token"] = written.json()["edit_token"]
        return await scene.asked(role, method, path, body(scene, role))

    return tried


def lead_token(scene: Scene, role: str) -> Any:
    return {"lead_token": scene.room["lead_token"] if role == "owner" else "guessed"}


COMMANDS_TRIED: dict[str, Try] = {
    "room.join": command("room.join", lambda scene: {"room": scene.room["id"]}),
    "room.leave": command("room.leave"),
    "room.move": command("room.move", lambda _: {"step": "2"}),
    "room.ask": command("room.ask", lambda _: {"kind": "choice", "choices": ["a", "b"]}),
    "room.vote": command("room.vote", lambda _: {"answer": "a"}),
    "room.reveal": command("room.reveal"),
    "room.travel": command("room.travel", lambda scene: {"scenario": scene.room["scenario"]}),
    "room.stop": command("room.stop", lambda _: {"stop": STOP}),
    "room.place": command("room.place", lambda _: {"step": "1"}),
    "room.again": command("room.again", lambda _: {}),
    "room.close": command("room.close"),
    "room.people": command("room.people"),
    "room.hand": command("room.hand", lambda scene: {"to": scene.person}),
    "room.take": command("room.take"),
    "comment.watch": command("comment.watch", lambda scene: scene.source),
    "comment.write": command("comment.write", lambda scene: {**scene.source, "step": "2", "text": "x"}),
    "comment.edit": command("comment.edit", lambda scene: {**scene.mine, "text": "x"}),
    "comment.resolve": command("comment.resolve", lambda scene: scene.mine),
    "comment.remove": command("comment.remove", lambda scene: scene.mine),
    "link.create": command("link.create", lambda scene: scene.source),
    "link.check": command("link.check", lambda scene: {"link": scene.link}),
    "link.rename": command("link.rename", lambda scene: {"link": scene.link, "title": "x"}),
    "link.revoke": command("link.revoke", lambda scene: {"link": scene.link}),
}


async def lists(scene: Scene, role: str) -> bool:
    """Return whether a role's list has the link: everybody has a list, of their own."""
    found = await scene.sockets[role].success("link.list", {})
    return scene.link in {row["link"] for row in found["links"]}


COMMANDS_TRIED["link.list"] = lists

REQUESTS_TRIED: dict[str, Try] = {
    "POST /api/rooms": request("POST", "/api/rooms", lambda scene, _: {"scenario": scene.scenario["id"]}),
    "GET /api/rooms/{room}": request("GET", "/api/rooms/{room}"),
    "GET /api/rooms/{room}/class": request("GET", "/api/rooms/{room}/class"),
    "GET /api/rooms/{room}/answers.csv": request("GET", "/api/rooms/{room}/answers.csv"),
    "GET /api/rooms/{room}/statements": request("GET", "/api/rooms/{room}/statements"),
    "POST /api/rooms/{room}/end": request("POST", "/api/rooms/{room}/end", lead_token),
    "GET /api/scenarios/{scenario}/comments": request("GET", "/api/scenarios/{scenario}/comments"),
    "POST /api/scenarios/{scenario}/comments": request(
        "POST", "/api/scenarios/{scenario}/comments", lambda *_: {"step": "1", "text": "x"}
    ),
    "PATCH /api/scenarios/{scenario}/comments/{comment} text": request(
        "PATCH", "/api/scenarios/{scenario}/comments/{comment}", lambda *_: {"text": "x"}
    ),
    "PATCH /api/scenarios/{scenario}/comments/{comment} resolved": request(
        "PATCH", "/api/scenarios/{scenario}/comments/{comment}", lambda *_: {"resolved": True}
    ),
    "DELETE /api/scenarios/{scenario}/comments/{comment}": request(
        "DELETE", "/api/scenarios/{scenario}/comments/{comment}"
    ),
    "GET /api/links/{link}": request("GET", "/api/links/{link}"),
    "DELETE /api/scenarios/{scenario}": request("DELETE", "/api/scenarios/{scenario}"),
    "page /r/{room}/": request("GET", "/r/{room}/"),
    "page /r/{room}/class/": request("GET", "/r/{room}/class/"),
    "page /l/{link}/": request("GET", "/l/{link}/"),
    "page /s/{scenario}/": request("GET", "/s/{scenario}/"),
}


async def act(scene: Scene) -> None:
    """Have every frame pushed once, to whoever gets it."""
    owner, leader = scene.sockets["owner"], scene.sockets["leader"]
    for role in ROLES:
        await scene.beside[role].success("comment.watch", scene.source)
    await scene.beside["commenter"].success("comment.edit", {**scene.mine, "text": "Why not?"})
    await owner.success("room.move", {"step": "1"})
    await scene.sockets["viewer"].success("room.vote", {"answer": "a"})
    for role in IN_ROOM:  # votes are counted a moment later: the question must not be over before
        scene.sockets[role].pushed.append(["room.tally", None, await scene.sockets[role].push("room.tally")])
    await owner.success("room.reveal", {})
    found = (await owner.success("room.people", {}))["people"]
    other = {"bundle": "# another\n" + (DATA / "web.yaml").read_text()}
    elsewhere = (await sync_to_async(post)("/api/scenarios", other)).json()["id"]
    await owner.success("room.travel", {"scenario": elsewhere})
    await owner.success("room.stop", {"stop": STOP})
    await owner.success("room.hand", {"to": next(one for one, name in found if name == "leader")})
    await leader.success("room.move", {"step": "2"})
    for role in IN_ROOM:  # who watches is counted a moment after they came: the room must not end before
        counted = await scene.sockets[role].push("room.people")
        scene.sockets[role].pushed.append(["room.people", None, counted])
    await sync_to_async(post)(f"/api/rooms/{scene.room['id']}/end", {"lead_token": scene.room["lead_token"]})


SPENT = {
    "room.join",
    "room.leave",
    "room.reveal",
    "room.travel",
    "room.stop",
    "room.again",
    "room.close",
    "room.hand",
    "room.take",
    "comment.remove",
    "link.revoke",
}
"""After these, as after an end or a deletion, what else may be tried needs another scene."""

FRAMES = {
    "room.state": IN_ROOM,
    "room.position": IN_ROOM,
    "room.tally": IN_ROOM,
    "room.people": IN_ROOM,
    "room.role": ("owner", "leader"),
    "room.ended": IN_ROOM,
    "comment.changed": ROLES,
}
"""Who is waited for; whether anybody else gets a frame is looked at once those have it."""


# --- what came of it -----------------------------------------------------------------------------


async def tried(text: str, role: str) -> dict[str, bool]:
    """Try everything as one role."""
    found: dict[str, bool] = {}
    rest = [*COMMANDS_TRIED.items(), *REQUESTS_TRIED.items()]
    while rest:
        async with staged(text, role) as scene:
            spent = False
            while rest and not spent:
                name, attempt = rest.pop(0)
                found[name] = await attempt(scene, role)
                spent = found[name] and (name in SPENT or name.startswith("DELETE") or name.endswith("/end"))
    return found


async def received(text: str) -> dict[str, set[str]]:
    """Return who gets each frame."""
    found: dict[str, set[str]] = {name: set() for name in FRAMES}
    async with staged(text, "viewer") as scene:
        await act(scene)
        for name, roles in FRAMES.items():
            for role in roles:
                await scene.of(name)[role].push(name)
                found[name].add(role)
        for role, socket in (*scene.sockets.items(), *scene.beside.items()):
            await socket.success("session.hello", {})
            for name, *_ in socket.pushed:
                found.setdefault(name, set()).add(role)
    return found


def rendered(found: Mapping[str, set[str]], columns: tuple[str, ...] = ROLES) -> str:
    """Return rows of the document: who may, or gets it."""
    rows = [f"| | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}"]
    for name, roles in found.items():
        marks = " | ".join("yes" if role in roles else "" for role in columns)
        rows.append(f"| `{name}` | {marks} |")
    return "\n".join(rows)


async def test_the_document_says_who_may_do_what(web: str) -> None:
    """Every command, request and pushed frame, by each of the five."""
    columns = {role: await tried(web, role) for role in ROLES}
    allowed = {name: {role for role in ROLES if columns[role][name]} for name in columns["owner"]}
    sections = {
        "## Commands": {name: allowed[name] for name in COMMANDS_TRIED},
        "## Requests": {name: allowed[name] for name in REQUESTS_TRIED},
        "## Pushed frames": await received(web),
    }
    made = "\n\n".join(f"{title}\n\n{rendered(rows)}" for title, rows in sections.items()) + "\n"
    text = DOCUMENT.read_text() if DOCUMENT.exists() else ""
    if made not in text:
        (REPOSITORY / "var").mkdir(exist_ok=True)
        (REPOSITORY / "var" / "permissions.md").write_text(made)
    assert text[text.find("## Commands") :] == made


# --- accounts ------------------------------------------------------------------------------------

BROWSERS = ("holder", "device", "ended", "stranger")
NAME, FIRST, PASSWORD, NEXT = "ada.l", "four words of mine", "four other words", "yet another four"
WITH = {"username": NAME, "password": PASSWORD, "new": NEXT}
GUESS = {**WITH, "password": "a wrong guess"}


def filled(client: Client, name: str, fields: Mapping[str, str]) -> bool:
    """Fill in a form of /account/; return whether it was done."""
    answer = client.post(f"/account/{name}", fields)
    return answer.status_code == 302 and "done=" in answer.headers["Location"]


def signing(name: str, fields: Mapping[str, str]) -> Callable[[Client, Draft, Run], bool]:
    return lambda client, *_: filled(client, name, fields)


BROWSED: dict[str, Callable[[Client, Draft, Run], bool]] = {
    "page /account/": lambda client, *_: client.get("/account/").status_code == 200,
    "page /p/{draft}/": lambda client, draft, _: client.get(f"/p/{draft.pk}/").status_code == 200,
    "POST /stored/draft/{draft}/delete": lambda client, draft, _: (
        client.post(f"/stored/draft/{draft.pk}/delete").status_code == 302
    ),
    "POST /runs/{run}/cancel": lambda client, _, run: (
        client.post(f"/runs/{run.pk}/cancel").status_code == 302
    ),
    "POST /account/sign-up of the same name": signing("sign-up", WITH),
    "POST /account/sign-in": signing("sign-in", WITH),
    "POST /account/sign-in with a guess": signing("sign-in", GUESS),
    "POST /account/sign-out": signing("sign-out", {}),
    "POST /account/sign-out-elsewhere": signing("sign-out-elsewhere", {}),
    "POST /account/password": signing("password", WITH),
    "POST /account/password with a guess": signing("password", GUESS),
    "POST /account/delete": signing("delete", WITH),
    "POST /account/delete with a guess": signing("delete", GUESS),
}


def browsing(text: str, role: str) -> tuple[Client, Draft, Run]:
    """Make an account that holds a draft and a run; return the browser of a role."""
    cache.clear()
    Account.objects.all().delete()
    clients = {name: visitor_client(visitor(name)) for name in BROWSERS}
    assert filled(clients["holder"], "sign-up", {"username": NAME, "password": FIRST})
    assert filled(clients["ended"], "sign-in", {"username": NAME, "password": FIRST})
    assert filled(clients["holder"], "password", {"password": FIRST, "new": PASSWORD})
    assert filled(clients["device"], "sign-in", {"username": NAME, "password": PASSWORD})
    owner = Account.objects.get().owner
    scenario = store.keep_scenario(bundles.parse([("", text)]))
    run = Run.objects.create(scenario=scenario, owner=owner)
    return clients[role], store.create_draft(owner, [("", text)]), run


def test_the_document_says_who_may_do_what_with_an_account(web: str, settings: Any) -> None:
    """Every form of its page, and what it holds, by each of four browsers; with a guess, by none."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    found = {
        name: {role for role in BROWSERS if attempt(*browsing(web, role))}
        for name, attempt in BROWSED.items()
    }
    assert not any(roles for name, roles in found.items() if name.endswith("a guess"))
    made = rendered(found, BROWSERS)
    if made not in DOCUMENT.read_text():
        (REPOSITORY / "var").mkdir(exist_ok=True)
        (REPOSITORY / "var" / "permissions-accounts.md").write_text(f"{made}\n")
    assert f"{made}\n" in DOCUMENT.read_text()


def test_no_form_of_the_account_is_left_out() -> None:
    """Each address below /account/ has a row."""
    routes = {str(one.pattern) for one in urlpatterns if str(one.pattern).startswith("account/")}
    assert {f"/{route}" for route in routes} == {
        name.split()[1] for name in BROWSED if name.split()[1].startswith("/account/")
    }


def test_nothing_is_left_out() -> None:
    """Whatever command, route or frame of rooms, comments and links there is has a row."""
    assert set(COMMANDS_TRIED) == {name for name in COMMANDS if name.startswith(FAMILIES)}
    routes = {(row.method, row.address.count("{")) for row in CALLS if any(p in row.address for p in PATHS)}
    made = {(name.split()[0], name.split()[1].count("{")) for name in REQUESTS_TRIED if "/api/" in name}
    assert routes <= made
    pushed = {line.split('"')[1] for line in PROTOCOL.splitlines() if line.startswith('- `["')}
    assert set(FRAMES) == {name for name in pushed if name.startswith(FAMILIES)}
