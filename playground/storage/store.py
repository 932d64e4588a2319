"""Scenarios, shares, drafts and runs in the database; private links are in links.py."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from msgspec import Struct

from playground.limits import limit
from playground.models import (
    HEAVY,
    SHORT_ID,
    TITLE_LENGTH,
    AuthoredLesson,
    ComparedSide,
    Comparison,
    Draft,
    Link,
    Run,
    Scenario,
    Share,
    Sweep,
    draft_expiry,
    link_expiry,
    run_expiry,
    token_hash,
)
from playground.storage import audit, bundles, quotas, texts, withdrawals
from playground.visitors import caller
from scheduler_core.scenario import scenario as core

log = structlog.get_logger(__name__)

HOLDERS: tuple[Any, ...] = (
    Share,
    Link,
    Run,
    Sweep,
    ComparedSide,
)  # of a scenario, which goes with the last of them
_ID = re.compile(r"[A-Za-z0-9_-]+")
Dated = Draft | Link | Scenario | Run | Comparison | AuthoredLesson
EXTENDED_AGAIN = timedelta(days=1)  # after which opening a row extends its date again
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # PostgreSQL stores no NUL, SQLite no lone surrogate


def clean_title(title: str) -> str:
    """Return a title on one line, truncated, without characters that a database cannot store."""
    return " ".join(_UNSTORABLE.sub("", title).split())[:TITLE_LENGTH]


def is_id(text: str) -> bool:
    """Return whether ``text`` is a well-formed id, and so safe to look up in a database."""
    return _ID.fullmatch(text) is not None


def extended(row: Dated | Sweep, until: datetime) -> None:
    """Extend a row's expiry to ``until``, with at most one write a day. A row without expiry is unchanged."""
    if row.expires is None or until - row.expires < EXTENDED_AGAIN:
        return
    type(row).objects.filter(pk=row.pk, expires__lt=until).update(expires=until)
    row.expires = until


def opened(row: Dated | Sweep, until: datetime) -> None:
    """Extend the expiry of an opened row. If the database is not writable, the row is shown all the same."""
    try:
        extended(row, until)
    except DatabaseError as error:
        log.warning("an expiry was not extended", row=str(row), error=repr(error))


# --- scenarios ---------------------------------------------------------------------------------


def address_of(title: str, text: str) -> str:
    """Return the digest of a text with its title: base64url SHA-256 of the title, a NUL, and the text.

    A title contains no NUL, so no other title and text give the same bytes; digests from before this rule
    are of JSON, which contains none either.
    """
    digest = hashlib.sha256(f"{clean_title(title)}\0{text}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class GoneError(LookupError):
    """An operator has taken the scenario down; the text has the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"This was taken down: {reason}")


def check_withdrawn(row: Scenario | Comparison) -> None:
    """Raise GoneError for what was taken down."""
    if row.withdrawn:
        raise GoneError(row.withdrawn)


def keep_scenario(
    scenario: core.Scenario, text: str | None = None, owner: str = "", *, exact: bool = False
) -> Scenario:
    """Store ``text``, from which ``scenario`` was read, and return its row; reuse an existing row.

    Without a text its documents are written as one. A text that was stored when
    another release answered it has a row that keeps that release: a text that names today's is stored
    instead, unless the text must be ``exact``. Raises StorageFullError, and GoneError for a scenario that was
    taken down.
    """
    text = bundles.bundle_text(scenario) if text is None else texts.publishable(text, scenario)
    digest = address_of(scenario.title, text)
    known = Scenario.objects.filter(digest=digest).defer("text").first()
    if known is not None:
        check_withdrawn(known)
        content = bytes(known.content)
        answers = bundles.release_of(content, scenario), bundles.lives(content)
        if exact or answers == (scenario.release, scenario.lives):
            return known
        named = texts.answered_by(text, scenario.documents, scenario.release)
        return keep_scenario(scenario, named, owner, exact=True)
    content = bundles.pack(bundles.content_of(scenario))
    return _put(scenario, digest, content, bundles.pack(text.encode()), bundles.text_bytes(text), owner)


def keep_computed(scenario: core.Scenario, owner: str) -> Scenario:
    """Store a computed scenario, which nobody has sent, and return its row; reuse an existing row.

    It is addressed by its documents, and has no text until somebody asks for it. Raises StorageFullError, and
    GoneError for a scenario that was taken down.
    """
    content = bundles.content_of(scenario)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    known = Scenario.objects.filter(digest=digest).defer("text").first()
    if known is not None:
        check_withdrawn(known)
        return known
    return _put(scenario, digest, bundles.pack(content), None, len(content), owner)


def _put(
    scenario: core.Scenario, digest: str, content: bytes, text: bytes | None, size: int, owner: str
) -> Scenario:
    """Store a scenario under the shortest free id. Raises StorageFullError."""
    packed = len(content) + len(text or b"")
    quotas.check(owner, caller.address() if owner else "", packed + quotas.ROW_BYTES)
    nodes, pods, operations = bundles.counts(scenario)
    for length in range(SHORT_ID, len(digest) + 1):
        short = digest[:length]
        if Scenario.objects.filter(short=short).exclude(digest=digest).exists():
            continue
        try:
            with transaction.atomic():
                row, _ = Scenario.objects.get_or_create(
                    digest=digest,
                    defaults={
                        "short": short,
                        "title": clean_title(scenario.title),
                        "content": content,
                        "text": text,
                        "packed": packed,
                        "size": size,
                        "nodes": nodes,
                        "pods": pods,
                        "operations": operations,
                    },
                )
            return row
        except IntegrityError:
            continue  # another scenario was stored under this short id concurrently
    raise RuntimeError("no free short id: the whole digest is taken")


def find_scenario(short: str) -> Scenario | None:
    """Return the shared scenario whose digest begins with ``short`` (11 or more characters).

    Raises GoneError.
    """
    if not SHORT_ID <= len(short) <= 43 or not is_id(short):
        return None
    beginnings = [short[:length] for length in range(SHORT_ID, len(short) + 1)]
    shared = Exists(Share.objects.filter(scenario=OuterRef("pk")))
    candidates = Scenario.objects.filter(shared, short__in=beginnings).defer("content", "text")
    row = next((row for row in candidates if row.digest.startswith(short)), None)
    if row is not None:
        check_withdrawn(row)
        opened(row, link_expiry())
    return row


class Shared(Struct, frozen=True):
    """The result of sharing: the scenario and the only copy of the delete token."""

    scenario: Scenario
    delete_token: str


def share(
    scenario: core.Scenario,
    owner: str = "",
    *,
    text: str | None = None,
    exact: bool = False,
    lesson: AuthoredLesson | None = None,
) -> Shared:
    """Make ``scenario``, read from ``text``, accessible by its short id; ``exact`` as in keep_scenario.

    Without an owner it is a shipped example, and its link never expires. What is shared for the learners of a
    ``lesson`` goes with it. Raises StorageFullError.
    """
    token = secrets.token_urlsafe(24)
    address = caller.address() if owner else ""
    quotas.check(owner, address, quotas.ROW_BYTES)
    for last in (False, True):
        try:
            with transaction.atomic():
                row = keep_scenario(scenario, text, owner, exact=exact)
                Share.objects.create(
                    scenario=row, token=token_hash(token), owner=owner, address=address, lesson=lesson
                )
                _set_expiry(row, None if not owner else link_expiry())
            return Shared(row, token)
        except IntegrityError:
            # The last other share of this content was concurrently removed, and the row with it.
            if last:
                raise
    raise AssertionError("unreachable")


def _set_expiry(row: Scenario, until: datetime | None) -> None:
    if until is not None:
        extended(row, until)
    elif row.expires is not None:
        Scenario.objects.filter(pk=row.pk).update(expires=None)
        row.expires = None


def shared_by_nobody(scenario: core.Scenario, text: str) -> Scenario:
    """Return the row of a shipped example; share it without an owner on first use."""
    digest = address_of(scenario.title, text)
    row = Scenario.objects.filter(digest=digest, shares__owner="").defer("content", "text").first()
    if row is None:
        return share(scenario, text=text).scenario
    _set_expiry(row, None)
    return row


def unshare(row: Scenario, token: str) -> bool:
    """Delete the share that ``token`` belongs to; return whether it was one of this scenario.

    The content is deleted with the last share, unless a run refers to it; then only the link is deleted.
    """
    with transaction.atomic():
        removed, _ = Share.objects.filter(scenario=row, token=token_hash(token)).delete()
        if not removed:
            return False
        audit.record_visitor("delete link", row.short, why="by its delete token")
        withdrawals.note()
        forget_unreferenced(row)
    return True


def unshare_all(row: Scenario, owner: str) -> bool:
    """Delete all shares of a scenario by ``owner``; return whether there was one."""
    with transaction.atomic():
        removed, _ = Share.objects.filter(scenario=row, owner=owner, lesson=None).delete()
        if removed:
            audit.record_visitor("delete link", row.short, owner)
        forget_unreferenced(row)
    return bool(removed)


def forget_unreferenced(row: Scenario) -> None:
    """Delete a scenario if no share, link, run or comparison refers to it."""
    with transaction.atomic():
        if not any(model.objects.filter(scenario=row).exists() for model in HOLDERS):
            row.delete()


def load_scenario(row: Scenario) -> core.Scenario:
    """Return the engine's scenario of a row."""
    return bundles.restore(row.content)


def stored_text(row: Scenario) -> str:
    """Return a row's text byte for byte.

    One that was stored without a text has that of its sweep with its own documents in it, or else its
    documents as YAML.
    """
    if row.text is not None:
        return bundles.unpack(row.text).decode()
    documents = bundles.stored_documents(bytes(row.content))
    base = Scenario.objects.filter(sweeps__cells__run__scenario=row, text__isnull=False).first()
    made = None
    if base is not None:
        made = texts.spliced(scenario_text(base), load_scenario(base).documents, documents)
    return made or bundles.bundle_text(core.Scenario("", documents, ()))


def scenario_text(row: Scenario) -> str:
    """Return a row's text as :func:`load_scenario` reads it: it names the release if another would answer."""
    content = bytes(row.content)
    text, release = stored_text(row), bundles.implicit_release(content)
    return texts.answered_by(text, bundles.stored_documents(content), release) if release else text


# --- drafts ------------------------------------------------------------------------------------


class Origin(Struct, frozen=True):
    """The origin of a draft: its parent as ``kind:id``, the parent's family, the step, and the changes.

    ``presumed`` is the release that answers the parent, if its text names none; "" is the default.
    """

    parent: str
    family: str
    step: str = ""
    words: tuple[str, ...] = ()
    presumed: str = ""


class StaleError(Exception):
    """A draft has changed since the revision that an edit was based on; ``row`` is the newest."""

    def __init__(self, row: Draft) -> None:
        self.row = row
        super().__init__("The draft was changed elsewhere in the meantime.")


def find_draft(name: str, owner: str) -> Draft | None:
    """Return an owner's draft without its files; None if there is none or it has another owner."""
    if not owner or not is_id(name):
        return None
    row = Draft.objects.filter(pk=name[:32], owner=owner).defer("files").first()
    if row is not None:
        opened(row, draft_expiry())
    return row


def create_draft(
    owner: str, files: bundles.Files, title: str = "", based_on: str = "", origin: Origin | None = None
) -> Draft:
    """Store a draft; beyond the limit, delete the visitor's least recently changed one.

    One alone: who has more, because an account claimed them, keeps as many. Raises StorageFullError.
    """
    draft = Draft(owner=owner, address=caller.address(), title=clean_title(title), based_on=based_on)
    if origin is not None:
        draft.parent, draft.family, draft.branched_at = origin.parent, origin.family, origin.step
        draft.words = "\n".join(_UNSTORABLE.sub("", line) for line in origin.words)
        draft.presumed = origin.presumed or draft.presumed
    _set_files(draft, files)
    quotas.check(owner, draft.address, draft.packed + quotas.ROW_BYTES)
    with transaction.atomic():
        draft.save(force_insert=True)
        others = Draft.objects.filter(owner=owner).exclude(pk=draft.pk)
        if others.count() >= limit("DRAFTS_PER_OWNER"):
            oldest = others.order_by("updated").values_list("pk", flat=True)[:1]
            Draft.objects.filter(pk__in=list(oldest)).delete()
            withdrawals.note()
    return draft


def save_draft(
    draft: Draft,
    text: str | None = None,
    title: str | None = None,
    base: int | None = None,
    *,
    whole: bool = False,
) -> Draft:
    """Replace a draft's text, its title or both; return the updated row.

    ``base`` is the revision that the edit was based on: the replaced fields must not have changed since, and
    with ``whole`` no field at all. Without it the edit counts as based on the newest revision. An edit that
    was applied already is no conflict: a client that lost the response may send it again.

    Raises TooLargeError, StorageFullError, StaleError, and Draft.DoesNotExist.
    """
    check_size(text or "")
    with transaction.atomic():
        row = Draft.objects.select_for_update().get(pk=draft.pk)
        since = max(
            row.revision if whole else 0,
            row.text_revision if text is not None else 0,
            row.title_revision if title is not None else 0,
        )
        if base is not None and since > base:
            if _holds(row, text, title):
                return row
            raise StaleError(row)
        row.revision += 1
        row.updated = timezone.now()
        row.expires = draft_expiry()
        if title is not None:
            row.title = clean_title(title)
            row.title_revision = row.revision
        if text is not None:
            before = row.packed
            _set_files(row, [("", text)])
            quotas.check(row.owner, row.address, row.packed - before)
            row.text_revision = row.revision
        row.save()
    return row


def check_size(text: str) -> None:
    """Raise TooLargeError for a text that is too long for a draft."""
    size = len(text.encode(errors="surrogatepass"))
    if size > limit("DRAFT_BYTES"):
        raise bundles.TooLargeError(
            f"The text has {size:,} bytes; a draft may have {limit('DRAFT_BYTES'):,}."
        )


def _holds(row: Draft, text: str | None, title: str | None) -> bool:
    same = title is None or row.title == clean_title(title)
    return same and (text is None or _held_files(row) == [("", text)])


def delete_draft(draft: Draft, base: int | None = None) -> None:
    """Delete a draft; its branches become branches of its parent.

    Raises StaleError if it has changed since ``base``, which defaults to the newest revision.
    """
    with transaction.atomic():
        # Lock the whole family in a fixed order: the parent may be deleted concurrently.
        family = Q(pk=draft.pk) | Q(family=draft.family or f"draft:{draft.pk}")
        held = Draft.objects.select_for_update().filter(family, owner=draft.owner).defer("files")
        row = {row.pk: row for row in held.order_by("pk")}.get(draft.pk)
        if row is None:
            return
        if base is not None and row.revision > base:
            raise StaleError(row)
        Draft.objects.filter(owner=row.owner, parent=f"draft:{row.pk}").update(parent=row.parent)
        row.delete()
        audit.record_visitor("delete draft", draft.pk, draft.owner)
        withdrawals.note()


def draft_wire(draft: Draft) -> dict[str, Any]:
    """Return the notification of a changed draft: its revisions and its title."""
    return {
        "revision": draft.revision,
        "text": draft.text_revision,
        "titled": draft.title_revision,
        "title": draft.title,
    }


def draft_files(draft: Draft) -> bundles.Files:
    """Return a draft's files as (name, text); they name its release if another would answer them today.

    Raises StaleError if the row was loaded without them and they are of a later revision by now.
    """
    return texts.presumed(_held_files(draft), draft.presumed)


def _held_files(draft: Draft) -> bundles.Files:
    """Return a draft's files as they were saved.

    Raises StaleError if the row was loaded without them and they are of a later revision by now.
    """
    if "files" in draft.get_deferred_fields():
        row = Draft.objects.get(pk=draft.pk)
        if row.text_revision != draft.text_revision:
            raise StaleError(row)
        draft.files = row.files
    return [(name, text) for name, text in json.loads(bundles.unpack(draft.files))]


def load_draft(draft: Draft) -> core.Scenario:
    """Return the engine's scenario of a draft. Raises BundleError if it cannot be read (yet)."""
    return bundles.parse(draft_files(draft), draft.title)


def draft_text(draft: Draft) -> str:
    """Return a draft as one text: its file, or several joined by :func:`texts.joined`."""
    files = draft_files(draft)
    return files[0][1] if len(files) == 1 else texts.joined(files, load_draft(draft))


def _set_files(draft: Draft, files: bundles.Files) -> None:
    packed = json.dumps(files).encode()
    draft.files = bundles.pack(packed)
    draft.packed = len(draft.files)
    draft.size = sum(bundles.text_bytes(text) for _, text in files)


# --- runs --------------------------------------------------------------------------------------


def find_run(run_id: str) -> Run | None:
    """Return the run, without its samples and reasons. Raises GoneError if its scenario was taken down."""
    row = run_row(run_id)
    if row is not None:
        check_withdrawn(row.scenario)
        opened(row, run_expiry())
    return row


def run_row(run_id: str) -> Run | None:
    """Return a run without its samples and reasons; its expiry is not extended."""
    if len(run_id) > 32 or not is_id(run_id):
        return None
    return Run.objects.select_related("scenario").defer(*HEAVY).filter(pk=run_id).first()
