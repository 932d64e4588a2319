"""LTI 1.3: launches of a platform, what of them is refused, and the scores that it gets."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from jwcrypto.jwk import JWK
from msgspec.structs import replace

from playground.courseware import Lesson
from playground.lessons import lookup, receipts
from playground.lti import launches, login, platforms, scores
from playground.models import LtiLaunch, UsedState
from playground.serving import data_folder
from playground.serving.faults import StartError
from playground.storage import retention
from tests.core.lessons.data import right_answer
from tests.playground.lti_platform import (
    AGS,
    CLAIM,
    CLIENT,
    DEPLOYMENT,
    ROLES,
    FakePlatform,
    asked_of,
    key,
    pem,
    running,
)

pytestmark = pytest.mark.django_db(transaction=True)

LESSON = "first-cycle"
DL = "https://purl.imsglobal.org/spec/lti-dl/claim"


@pytest.fixture(scope="module")
def server() -> Iterator[FakePlatform]:
    with running() as found:
        yield found


@pytest.fixture
def school(server: FakePlatform, settings: Any) -> Iterator[FakePlatform]:
    """A registered platform that was asked nothing yet."""
    cache.clear()
    server.__init__(server.address)  # type: ignore[misc]
    settings.LTI_PLATFORMS = (server.registered,)
    settings.LTI_KEY = pem(key("tool"))
    yield server
    cache.clear()


def begun(client: Client, school: FakePlatform, **more: str) -> dict[str, str]:
    """Ask for a login as the platform's page does; return what the platform is asked."""
    given = {"iss": school.address, "login_hint": "person-1", "client_id": CLIENT, **more}
    answer: Any = client.post("/lti/login/", given)
    if answer.headers["Location"].endswith("tried=1"):
        answer = client.get(answer.headers["Location"])
    assert answer.status_code == 302 and answer.headers["Location"].startswith(f"{school.address}/auth?")
    return asked_of(answer.headers["Location"])


def launch(client: Client, school: FakePlatform, token: str | None = None, **claims: Any) -> Any:
    """Launch, as the platform's page does with what it was asked."""
    asked = begun(client, school)
    token = token or school.sign(school.message(asked["nonce"], **claims))
    return client.post("/lti/launch/", {"state": asked["state"], "id_token": token})


def launched(client: Client, school: FakePlatform, **claims: Any) -> str:
    """Return the address of a lesson that was launched."""
    answer = launch(client, school, **claims)
    assert answer.status_code == 303, answer.content.decode()
    return str(answer.headers["Location"])


def refusal(answer: Any) -> str:
    """Return why a launch was refused."""
    assert answer.status_code == 400
    return str(answer.context["message"])


def lesson() -> Lesson:
    found = lookup.lesson_at(LESSON)
    assert found is not None
    return found


def answered(client: Client, address: str, key: str, answer: Any = None) -> Any:
    """Answer a question of a launched lesson over the API, right without an answer."""
    stop = next(one for one in lesson().stops if one.key == key)
    answer = right_answer(lesson(), stop) if answer is None else answer
    body = json.dumps({"answer": answer, "launch": address.split("/")[3]})
    return client.post(f"/api/lessons/{LESSON}/{key}/answer", body, content_type="application/json")


def passes(address: str, most: int = 100) -> None:
    """Pass the questions of a launched lesson, as their right answers do."""
    for one in receipts.asked(lesson())[:most]:
        launches.note(address.split("/")[3], lesson(), one)


# Off, and registered


def test_without_a_platform_nothing_of_it_is_served(client: Client, settings: Any) -> None:
    """Every address answers 404, also to what a platform would send."""
    settings.LTI_PLATFORMS = ()
    for path in ("jwks/", "login/?iss=a&login_hint=b", "at/abc/", "at/abc/done/", "at/abc/cluster/"):
        assert client.get(f"/lti/{path}").status_code == 404
    for path in ("login/", "launch/", "pick/"):
        assert client.post(f"/lti/{path}", {"id_token": "x", "state": "y"}).status_code == 404


def test_the_operators_file_is_read_or_says_what_is_wrong(tmp_path: Path) -> None:
    """Each platform with its fields; a mistake is named with the platform's number."""
    file = tmp_path / "lti.yaml"
    row = """
  - issuer: https://school.example.org
    client_id: 12
    auth_login_url: https://school.example.org/mod/lti/auth.php
    auth_token_url: https://school.example.org/mod/lti/token.php
    key_set_url: https://school.example.org/mod/lti/certs.php
    deployment_ids: [1, "2"]
"""
    file.write_text(f"platforms:{row}    origins: [https://courses.example.org]\n")
    (found,) = platforms.read(str(file))
    assert (found.client_id, found.deployment_ids, found.name) == ("12", ("1", "2"), "school.example.org")
    assert found.allows("https://courses.example.org/x") and found.allows("https://school.example.org:443/")
    for url in (
        "https://school.example.org.evil.net/",
        "http://school.example.org/",
        "https://school.example.org@evil.net/",
        "https://evil.net\\@school.example.org/",
        "//school.example.org/",
        "javascript:alert(1)",
        "",
        None,
    ):
        assert not found.allows(url)
    for text, problem in (
        (f"platforms:{row}{row}", "same issuer and client_id"),
        (f"platforms:{row}    secret: x\n", "platform 1: Object contains unknown field"),
        (f"platforms:{row.replace('https', 'http')}", "platform 1: auth_login_url has to be an https://"),
        (f"platforms:{row}    origins: [https://a.example/x]\n", "is not an origin"),
        ("platforms: []", "a list of 1 to 100"),
        ("a: [", "is not YAML"),
    ):
        file.write_text(text)
        with pytest.raises(platforms.PlatformError, match=problem):
            platforms.read(str(file))
    with pytest.raises(platforms.PlatformError, match="No such file"):
        platforms.read(str(tmp_path / "none"))


def test_the_key_is_made_once_and_published_without_its_private_part(
    client: Client, school: FakePlatform, tmp_path: Path
) -> None:
    """Only its owner reads the file; a damaged one ends the start; platforms get the public part."""
    path = tmp_path / "lti-key.pem"
    made = data_folder.private_key(path)
    assert path.stat().st_mode & 0o077 == 0 and data_folder.private_key(path) == made
    path.write_text(made[:300])
    with pytest.raises(StartError, match="no private RSA key"):
        data_folder.private_key(path)
    answer = client.get("/lti/jwks/")
    (published,) = answer.json()["keys"]
    assert set(published) == {"kty", "n", "e", "kid", "alg", "use"} and published["alg"] == "RS256"
    assert "podstep_visitor" not in answer.cookies


# The login


def test_a_login_leads_to_the_registered_address_alone(client: Client, school: FakePlatform) -> None:
    """With a state and a nonce of its own each time, and back to the launch, whatever link was asked for."""
    first = begun(client, school, target_link_uri="https://evil.example/", lti_message_hint="m")
    second = begun(client, school)
    assert first["redirect_uri"] == "http://testserver/lti/launch/"
    assert first["response_mode"] == "form_post" and first["prompt"] == "none"
    assert first["lti_message_hint"] == "m"
    assert first["state"] != second["state"] and first["nonce"] != second["nonce"]
    assert UsedState.objects.count() == 0  # who only asks stores nothing


def test_a_login_that_is_not_of_a_registered_platform_says_so(client: Client, school: FakePlatform) -> None:
    """An unknown issuer, another client ID, a missing hint, and far too much text."""
    for given, problem in (
        ({"iss": "https://other.example", "login_hint": "a"}, "is not registered here"),
        ({"iss": school.address, "login_hint": "a", "client_id": "x"}, "another client ID is registered"),
        ({"iss": school.address}, "Open the lesson from your course"),
        ({"iss": school.address, "login_hint": "a" * 9_000}, "more than a login"),
    ):
        assert problem in refusal(client.post("/lti/login/", given))


def test_a_browser_that_keeps_no_cookie_is_offered_a_tab(school: FakePlatform) -> None:
    """The page leads to the same login, and only the platform may frame it."""
    client = Client()
    answer = client.post("/lti/login/", {"iss": school.address, "login_hint": "a"})
    client.cookies.clear()
    page = client.get(answer.headers["Location"])
    text = page.content.decode()
    assert 'target="_blank"' in text and "/lti/login/?iss=http%3A%2F%2F127.0.0.1" in text
    assert f"frame-ancestors {school.address};" in page.headers["Content-Security-Policy"] + ";"
    assert "X-Frame-Options" not in page.headers


def test_the_cookie_is_for_frames_of_other_sites_over_tls(school: FakePlatform) -> None:
    """A browser sends it in a frame only with SameSite=None, and keeps it apart with Partitioned."""
    answer = Client().post("/lti/login/", {"iss": school.address, "login_hint": "a"}, secure=True)
    cookie = answer.cookies["podstep_lti"].OutputString()
    for part in ("SameSite=None", "Secure", "HttpOnly", "Partitioned"):
        assert part in cookie
    plain = Client().post("/lti/login/", {"iss": school.address, "login_hint": "a"})
    assert "SameSite" not in plain.cookies["podstep_lti"].OutputString()


# The launch


def test_a_learner_plays_a_launched_lesson_and_the_score_arrives(
    client: Client, school: FakePlatform
) -> None:
    """Right answers count in the launch; the last one hands it in, and a worker sends it once."""
    address = launched(client, school)
    page = client.get(address)
    text = page.content.decode()
    policy = page.headers["Content-Security-Policy"]
    assert f"frame-ancestors {school.address}" in policy and "X-Frame-Options" not in page.headers
    assert "Launched by Test school" in text and 'class="topbar"' not in text
    assert f'href="{address}feasible/"' in text and f'href="/learn/{LESSON}/feasible/"' not in text
    first, *others = receipts.asked(lesson())
    total = 1 + len(others)
    assert answered(client, address, first, []).json()["right"] is False
    assert LtiLaunch.objects.get().passed == []
    assert answered(client, address, first).json()["right"] is True
    assert LtiLaunch.objects.get().passed == [first]
    assert scores.deliver() == 0
    passes(address)
    done = client.get(f"{address}done/")
    assert done.context["state"] == "sending" and 'http-equiv="refresh"' in done.content.decode()
    assert (scores.deliver(), scores.deliver()) == (1, 0)
    (score,) = school.scores
    assert score["path"] == "/items/1/scores" and score["userId"] == "person-1"
    assert (score["scoreGiven"], score["scoreMaximum"]) == (total, total)
    assert (score["activityProgress"], score["gradingProgress"]) == ("Completed", "FullyGraded")
    assert client.get(f"{address}done/").context["state"] == "sent"
    (asked,) = school.tokens
    claims = jwt.decode(
        asked["client_assertion"],
        JWK.from_json(key("tool").export_public()).export_to_pem().decode(),
        algorithms=["RS256"],
        audience=f"{school.address}/token",
    )
    assert claims["iss"] == claims["sub"] == CLIENT


def test_what_is_open_can_be_handed_in_and_improved(client: Client, school: FakePlatform) -> None:
    """The score is of what is right; a launch from another browser goes on with it."""
    address = launched(client, school)
    passes(address, 1)
    assert client.get(f"{address}done/").context["state"] == "open"
    assert client.post(f"{address}done/").status_code == 303
    scores.deliver()
    other = Client()
    assert launched(other, school) == address
    assert len(other.get(address).context["player"]["passed"]) == 1
    passes(address)
    scores.deliver()
    given = [one["scoreGiven"] for one in school.scores]
    assert given[0] == 1 and given[-1] == school.scores[-1]["scoreMaximum"]
    assert client.get(address).status_code == 200  # the first browser is still welcome


def test_a_launch_is_of_its_browser(client: Client, school: FakePlatform) -> None:
    """A copied address shows nothing and counts nothing, nor does a launch of another lesson."""
    address = launched(client, school)
    stranger = Client()
    begun(stranger, school)
    for one in (stranger, Client()):
        assert "launched in another browser" in refusal(one.get(address))
        assert "launched in another browser" in refusal(one.post(f"{address}done/"))
        assert answered(one, address, "node").status_code == 403
    other = launched(client, school, lesson="reading-the-message")
    assert other != address or LtiLaunch.objects.get().lesson == "reading-the-message"
    assert answered(client, other, "node").status_code == 403
    assert not any(LtiLaunch.objects.values_list("passed", flat=True))


def test_teachers_and_links_without_a_column_are_not_graded(client: Client, school: FakePlatform) -> None:
    """The page says so, and nothing is sent."""
    for claims in (
        {f"{CLAIM}roles": [f"{ROLES}Instructor"]},
        {f"{AGS}/claim/endpoint": None, "sub": "person-2"},
        {
            f"{AGS}/claim/endpoint": {
                "scope": [f"{AGS}/scope/score"],
                "lineitem": "https://evil.example/items/1",
            },
            "sub": "person-3",
        },
    ):
        address = launched(client, school, **claims)
        passes(address)
        assert client.get(f"{address}done/").context["state"] == "teacher"
    assert scores.deliver() == 0 and not school.tokens


def test_a_link_names_its_lesson_by_what_was_picked_or_by_its_address(
    client: Client, school: FakePlatform
) -> None:
    """A custom field comes first; a link without either is reported how to get one."""
    uri, custom = f"{CLAIM}target_link_uri", f"{CLAIM}custom"
    launched(client, school, **{custom: {"lesson": "idle-or-full"}})
    assert LtiLaunch.objects.get().lesson == "idle-or-full"
    for claims, problem in (
        ({uri: "http://testserver/lti/launch/"}, "names no lesson"),
        ({uri: None}, "names no lesson"),
        ({custom: {"lesson": "../../etc"}}, "is not on this server"),
        ({uri: "http://testserver/learn/%00/"}, "is not on this server"),
        ({f"{CLAIM}message_type": "LtiSubmissionReviewRequest"}, "Open the lesson"),
    ):
        assert problem in refusal(launch(client, school, **claims))


# What is refused


def forged(school: FakePlatform, nonce: str) -> dict[str, tuple[str, str]]:
    """Return messages that are not taken, and why."""
    now = int(time.time())
    good = school.message(nonce)
    stranger = JWK.generate(kty="RSA", size=2048, kid="platform")
    head, _, signature = school.sign(good).split(".")

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    public = json.loads(key().export_public())
    unsigned = jwt.encode(good, "", algorithm="none", headers={"kid": "platform"})
    shared = jwt.encode(good, public["n"], algorithm="HS256", headers={"kid": "platform"})
    return {
        "another key": (school.sign(good, stranger), "signature of the launch does not verify"),
        "another person": (f"{head}.{part({**good, 'sub': 'x'})}.{signature}", "does not verify"),
        "no signature": (unsigned, "Unable to find public key"),
        "a shared secret": (shared, "Unable to find public key"),
        "an unknown key": (school.sign(good, kid="other"), "Unable to find public key"),
        "a key in the message": (school.sign(good, stranger, jwk=public, kid="z"), "Unable to find public"),
        "another nonce": (school.sign(school.message("x" * 64)), "nonce"),
        "no nonce": (school.sign({**good, "nonce": None}), "nonce"),
        "another issuer": (school.sign({**good, "iss": "https://evil.example"}), "an issuer other than"),
        "an issuer that is a list": (
            f"{head}.{part({**good, 'iss': [1]})}.{signature}",
            "an issuer other than",
        ),
        "another audience": (school.sign({**good, "aud": "other"}), "another client"),
        "several audiences": (school.sign({**good, "aud": [CLIENT, "other"]}), "another client"),
        "authorized for another": (school.sign({**good, "azp": "other"}), "authorized for another"),
        "expired": (school.sign({**good, "exp": now - 120}), "has expired"),
        "no end": (school.sign({k: v for k, v in good.items() if k != "exp"}), '"exp" claim'),
        "from the future": (school.sign({**good, "iat": now + 600}), "dated in the future"),
        "another deployment": (school.sign(school.message(nonce, **{f"{CLAIM}deployment_id": "8"})), "'8'"),
        "no person": (school.sign({k: v for k, v in good.items() if k != "sub"}), "sub"),
        "another version": (school.sign(school.message(nonce, **{f"{CLAIM}version": "1.1"})), "1.3.0"),
        "oversized": (school.sign(school.message(nonce, padding="x" * 70_000)), "longer than 65,536"),
        "a list": (f"{head}.{part([1])}.{signature}", "not a JSON object"),
        "no JSON": ("a.b.c", "can't be decoded"),
        "two parts": ("a.b", "3 parts"),
        "nothing": ("", "id_token"),
    }


def test_forged_launches_are_refused_and_open_nothing(client: Client, school: FakePlatform) -> None:
    """Each with its reason; the state stays good for the true one, once."""
    asked = begun(client, school)
    for name, (token, problem) in forged(school, asked["nonce"]).items():
        answer = client.post("/lti/launch/", {"state": asked["state"], "id_token": token})
        assert problem in refusal(answer), name
    assert (LtiLaunch.objects.count(), UsedState.objects.count()) == (0, 0)
    assert school.calls.count("/keys") <= 2  # of unknown keys it is asked once a minute
    true = {"state": asked["state"], "id_token": school.sign(school.message(asked["nonce"]))}
    assert client.post("/lti/launch/", true).status_code == 303
    assert "was used before" in refusal(client.post("/lti/launch/", true))
    again = {**true, "id_token": school.sign(school.message(asked["nonce"], sub="person-2"))}
    assert "was used before" in refusal(client.post("/lti/launch/", again))


def test_a_state_is_of_one_browser_and_platform_for_ten_minutes(
    client: Client, school: FakePlatform, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch that somebody else began, or with no cookie, or that is too late, opens nothing."""
    asked = begun(client, school)
    form = {"state": asked["state"], "id_token": school.sign(school.message(asked["nonce"]))}
    other = Client()
    begun(other, school)
    assert "another browser" in refusal(other.post("/lti/launch/", form))
    assert "did not send podstep's cookie" in refusal(Client().post("/lti/launch/", form))
    assert "no state" in refusal(client.post("/lti/launch/", {**form, "state": ""}))
    for state in ("x", asked["state"][:-1] + "_", asked["state"] * 40):
        assert "did not issue the state" in refusal(client.post("/lti/launch/", {**form, "state": state}))
    twin = replace(school.registered, issuer="https://twin.example")
    settings.LTI_PLATFORMS = (school.registered, twin)
    borrowed = school.sign(school.message(asked["nonce"], iss="https://twin.example"))
    assert "an issuer other than" in refusal(client.post("/lti/launch/", {**form, "id_token": borrowed}))
    settings.LTI_PLATFORMS = (twin,)
    assert "no longer registered here" in refusal(client.post("/lti/launch/", form))
    settings.LTI_PLATFORMS = (school.registered,)
    monkeypatch.setattr(login, "STATE_SECONDS", -1)
    assert "longer than" in refusal(client.post("/lti/launch/", form))


def test_clocks_may_differ_by_a_minute(client: Client, school: FakePlatform) -> None:
    """A platform's clock is not this server's."""
    now = int(time.time())
    launched(client, school, iat=now + 30, exp=now + 330)
    launched(client, school, iat=now - 330, exp=now - 30)


def test_a_platform_whose_keys_are_not_to_be_had_is_named(
    client: Client, school: FakePlatform, settings: Any
) -> None:
    """The learner is reported to try again; nothing is trusted meanwhile."""
    settings.LTI_PLATFORMS = (replace(school.registered, key_set_url="http://127.0.0.1:9/keys"),)
    for _ in range(2):  # the second is not kept waiting
        assert "keys could not be fetched" in refusal(launch(client, school))
    assert client.post("/lti/launch/", {"id_token": "x" * 300_000}).status_code == 413


def test_a_platform_that_refuses_the_login_is_quoted(client: Client, school: FakePlatform) -> None:
    """As text, whatever it says."""
    answer = client.post("/lti/launch/", {"error": "login_required", "error_description": "<b>no</b>"})
    assert "login_required. <b>no</b>" in refusal(answer)
    assert "<b>no</b>" not in answer.content.decode()


def test_forms_of_other_sites_reach_only_what_is_signed(school: FakePlatform) -> None:
    """A platform's page posts the login and the launch; another site's page hands nothing in."""
    client = Client(headers={"Sec-Fetch-Site": "cross-site"})
    address = launched(client, school)
    assert client.post(f"{address}done/").status_code == 403
    assert client.post("/lti/pick/", {"ticket": "x"}).status_code == 403
    assert "podstep_visitor" not in client.cookies  # a visitor's own is not replaced


# Deep links


def ticket(client: Client, school: FakePlatform, **settings: Any) -> Any:
    asked = begun(client, school)
    token = school.sign(school.deep_linking(asked["nonce"], **settings))
    return client.post("/lti/launch/", {"state": asked["state"], "id_token": token})


def test_a_teacher_picks_a_lesson_and_the_platform_gets_a_signed_link(
    client: Client, school: FakePlatform
) -> None:
    """With the lesson's address, its column, and what the platform wants back."""
    page = ticket(client, school)
    assert page.status_code == 200 and f'value="{LESSON}"' in page.content.decode()
    form = {"ticket": page.context["ticket"], "lesson": LESSON}
    answer = client.post("/lti/pick/", form)
    text, policy = answer.content.decode(), answer.headers["Content-Security-Policy"]
    assert f'action="{school.address}/links"' in text and f"form-action 'self' {school.address}" in policy
    claims = jwt.decode(
        answer.context["message"],
        JWK.from_json(key("tool").export_public()).export_to_pem().decode(),
        algorithms=["RS256"],
        audience=school.address,
    )
    (item,) = claims[f"{DL}/content_items"]
    of = lesson()
    assert (item["type"], item["title"], item["custom"]) == ("ltiResourceLink", of.title, {"lesson": LESSON})
    assert item["url"] == f"http://testserver/learn/{LESSON}/"
    assert item["lineItem"]["scoreMaximum"] == len(receipts.asked(of))
    assert (claims["iss"], claims[f"{DL}/data"]) == (CLIENT, "csrf-42")
    assert claims[f"{CLAIM}deployment_id"] == DEPLOYMENT
    unscored = client.post(
        "/lti/pick/", {**form, "ticket": ticket(client, school, accept_lineitem=False).context["ticket"]}
    )
    reported = jwt.decode(unscored.context["message"], options={"verify_signature": False})
    assert "lineItem" not in reported[f"{DL}/content_items"][0]


def test_a_link_goes_to_its_platform_alone(client: Client, school: FakePlatform) -> None:
    """Not to another site, not out of another browser, and not for a lesson that there is not."""
    for back in ("https://evil.example/", "javascript:alert(1)", None, f"{school.address}.evil.example/"):
        assert "not among the origins" in refusal(ticket(client, school, deep_link_return_url=back))
    assert "more than a link can hold" in refusal(ticket(client, school, data="x" * 20_000))
    found = ticket(client, school).context["ticket"]
    stranger = Client()
    begun(stranger, school)
    assert "another browser" in refusal(stranger.post("/lti/pick/", {"ticket": found, "lesson": LESSON}))
    assert "No lesson" in refusal(client.post("/lti/pick/", {"ticket": found, "lesson": "nothing"}))
    assert "open for too long" in refusal(
        client.post("/lti/pick/", {"ticket": f"{found}x", "lesson": LESSON})
    )


# Scores


def test_a_column_is_found_by_its_tag_or_made(client: Client, school: FakePlatform) -> None:
    """For a link without a column of its own, once."""
    endpoint = {
        f"{AGS}/claim/endpoint": {
            "scope": [f"{AGS}/scope/score", f"{AGS}/scope/lineitem"],
            "lineitems": f"{school.address}/items",
        }
    }
    for person in ("person-1", "person-2"):
        address = launched(client, school, sub=person, **endpoint)
        passes(address)
        scores.deliver()
    assert [one["tag"] for one in school.line_items] == [LESSON]
    assert [one["path"] for one in school.scores] == ["/items/9/scores"] * 2


def test_a_score_that_is_not_taken_is_tried_again_and_given_up(
    client: Client, school: FakePlatform, settings: Any
) -> None:
    """Later each time; after the last try the learner and the operator are reported, and can have it sent."""
    address = launched(client, school)
    passes(address)
    school.fails = 2
    now = timezone.now()
    assert scores.deliver(now) == 0
    row = LtiLaunch.objects.get()
    assert row.tries == 1 and "503" in row.trouble and row.due is not None and row.due > now
    assert scores.deliver(now) == 0  # not due
    settings.PLAYGROUND = {**settings.PLAYGROUND, "LTI_TRIES": 2}
    assert scores.deliver(now + timedelta(hours=1)) == 0
    row.refresh_from_db()
    assert 'podstep_deliveries{kind="score",state="failed"} 1.0' in client.get("/metrics").content.decode()
    assert row.due is None and client.get(f"{address}done/").context["state"] == "failed"
    client.post(f"{address}done/")
    client.post(f"{address}done/")  # it is on its way
    assert scores.deliver() == 1 and client.get(f"{address}done/").context["state"] == "sent"


def test_what_is_over_is_forgotten(client: Client, school: FakePlatform) -> None:
    """Launches that nobody opened for long, and states that no launch can come with any more."""
    launched(client, school)
    later = timezone.now() + timedelta(days=400)
    removed = retention.remove_expired(later)
    assert (removed["launches"], removed["states"]) == (1, 1)
