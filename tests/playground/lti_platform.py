"""A learning platform of the tests: it logs in, signs launches, gives tokens and keeps scores, over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
import msgspec
from jwcrypto.jwk import JWK

from playground.lti.platforms import Platform

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags"
ROLES = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
CLIENT, DEPLOYMENT = "client-1", "7"


@cache
def key(name: str = "platform") -> JWK:
    """An RSA key, made once for all tests of a process."""
    return JWK.generate(kty="RSA", size=2048, kid=name, alg="RS256", use="sig")


def pem(of: JWK) -> str:
    return str(of.export_to_pem(private_key=True, password=None).decode())


def registration(address: str) -> dict[str, Any]:
    """A platform at an address, as the operator's file has it."""
    return {
        "title": "Test school",
        "issuer": address,
        "client_id": CLIENT,
        "auth_login_url": f"{address}/auth",
        "auth_token_url": f"{address}/token",
        "key_set_url": f"{address}/keys",
        "deployment_ids": [DEPLOYMENT],
    }


class FakePlatform:
    """The platform's state: what it was asked, the scores it keeps, and how it misbehaves."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.scores: list[dict[str, Any]] = []
        self.tokens: list[dict[str, Any]] = []
        self.line_items: list[dict[str, Any]] = []
        self.deep_links: list[str] = []
        self.fails = 0  # scores that it refuses, before it takes one
        self.calls: list[str] = []
        self.statements: list[dict[str, Any]] = []  # of the record store at /xapi
        self.requests: list[dict[str, str]] = []  # their headers
        self.refuses: dict[str, int] = {}  # a status by the id of a statement
        self.page = ""  # an HTML page, for a browser
        self.claims: dict[str, Any] = {}  # of whom a browser launches

    @property
    def registered(self) -> Platform:
        return msgspec.convert(registration(self.address), Platform)

    def message(self, nonce: str, lesson: str = "first-cycle", **more: Any) -> dict[str, Any]:
        """The claims of a learner's launch; a claim of None is left out."""
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "sub": "person-1",
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            f"{CLAIM}message_type": "LtiResourceLinkRequest",
            f"{CLAIM}version": "1.3.0",
            f"{CLAIM}deployment_id": DEPLOYMENT,
            f"{CLAIM}target_link_uri": f"http://testserver/learn/{lesson}/",
            f"{CLAIM}resource_link": {"id": "link-1"},
            f"{CLAIM}roles": [f"{ROLES}Learner"],
            f"{AGS}/claim/endpoint": {
                "scope": [f"{AGS}/scope/score", f"{AGS}/scope/lineitem"],
                "lineitems": f"{self.address}/items",
                "lineitem": f"{self.address}/items/1",
            },
            **self.claims,
            **more,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def deep_linking(self, nonce: str, **settings: Any) -> dict[str, Any]:
        """The claims of a teacher who selects content."""
        return {
            **self.message(nonce),
            f"{CLAIM}message_type": "LtiDeepLinkingRequest",
            f"{CLAIM}roles": [f"{ROLES}Instructor"],
            "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings": {
                "deep_link_return_url": f"{self.address}/links",
                "accept_types": ["ltiResourceLink"],
                "accept_presentation_document_targets": ["iframe"],
                "data": "csrf-42",
                **settings,
            },
        }

    def sign(self, claims: Mapping[str, Any], by: JWK | None = None, **header: Any) -> str:
        signer = by or key()
        return jwt.encode(dict(claims), pem(signer), algorithm="RS256", headers={"kid": "platform", **header})


class _Handler(BaseHTTPRequestHandler):
    school: FakePlatform

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of the base class
        return

    def do_GET(self) -> None:
        school, parts = self.school, urlsplit(self.path)
        school.calls.append(parts.path)
        if parts.path == "/keys":
            self._json({"keys": [json.loads(key().export_public())]})
        elif parts.path == "/items":
            self._json(school.line_items)
        elif parts.path == "/auth":
            query = dict(parse_qsl(parts.query))
            token = school.sign(school.message(query["nonce"]))
            fields = "".join(
                f'<input type="hidden" name="{name}" value="{value}">'
                for name, value in (("state", query["state"]), ("id_token", token))
            )
            form = f'<form method="post" action="{query["redirect_uri"]}">{fields}</form>'
            self._page(f"{form}<script>document.forms[0].submit()</script>")
        elif parts.path == "/course":
            self._page(school.page)
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        school, body = self.school, self.rfile.read(int(self.headers["Content-Length"])).decode()
        path = urlsplit(self.path).path
        school.calls.append(path)
        if path == "/xapi/statements":
            found = json.loads(body)
            school.requests.append(dict(self.headers))
            status = next((school.refuses[one["id"]] for one in found if one["id"] in school.refuses), 0)
            if status or school.fails:
                school.fails -= not status
                self.send_error(status or 503)
            else:
                school.statements += found
                self._json([one["id"] for one in found])
        elif path == "/token":
            school.tokens.append(dict(parse_qsl(body)))
            self._json({"access_token": "token-1", "expires_in": 3600})
        elif path == "/links":
            school.deep_links.append(parse_qs(body)["JWT"][0])
            self._page("Added")
        elif path == "/items":
            item = {"id": f"{school.address}/items/9", **json.loads(body)}
            school.line_items.append(item)
            self._json(item)
        elif school.fails:
            school.fails -= 1
            self.send_error(503)
        else:
            school.scores.append({"path": path, **json.loads(body)})
            self._json({})

    def _json(self, answer: Any) -> None:
        self._send(json.dumps(answer).encode(), "application/json")

    def _page(self, text: str) -> None:
        self._send(f"<!doctype html><title>Course</title>{text}".encode(), "text/html; charset=utf-8")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def running(port: int = 0) -> Iterator[FakePlatform]:
    """Serve a platform on this machine."""

    class Handler(_Handler):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    Handler.school = FakePlatform(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield Handler.school
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def asked_of(location: str) -> dict[str, str]:
    """The query of a redirect to the platform."""
    return dict(parse_qsl(urlsplit(location).query))
