"""The database models: scenarios, drafts, lessons, runs, rooms, accounts, and the workers that are alive.

A run's row is the source of truth; the broker only delivers its id. Large texts are stored compressed, and
every size is checked against :mod:`playground.limits` before it is stored.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils import timezone

from playground.limits import limit
from playground.queues import LONG, QUEUES, all_queues
from scheduler_core.settings.release import default_release

SHORT_ID = 11  # characters of a scenario's digest in a link; more if two digests share this prefix
TITLE_LENGTH = 200
ACCOUNT_NAME = 40  # characters

QUEUED, RUNNING, CANCELLING = "queued", "running", "cancelling"
DONE, CANCELLED, FAILED = "done", "cancelled", "failed"
UNFINISHED = (QUEUED, RUNNING, CANCELLING)
STATES = (*UNFINISHED, DONE, CANCELLED, FAILED)

HEAVY = (
    "scenario__content",
    "scenario__text",
    "samples",
    "unplaced",
)  # columns of a run that lists and its progress do not need
CLAIM_SECONDS = 30  # a running run without a heartbeat for longer is taken over
WORKER_SECONDS = 15  # a worker without a heartbeat for longer counts as dead


CODE_LETTERS = "ABCDEFGHKLMNPRSTUVWXYZ"  # no I, J, O, Q: taken for others in a lecture hall
CODE_LENGTH = 6


def new_draft_id() -> str:
    """Return a draft's id; only its owner can use it."""
    return _unguessable(12)


def new_run_id() -> str:
    """Return an unguessable id: anyone who has it may view the run."""
    return _unguessable(16)


def new_room_id() -> str:
    """Return an unguessable id: anyone who has it may watch the room, and nobody else."""
    return _unguessable(12)


def new_room_code() -> str:
    """Return six letters that are read out, and typed on a phone, without a mistake."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


def _unguessable(size: int) -> str:
    """Return ``size`` random bytes as base64url without a leading "-", which looks like an option."""
    while (made := secrets.token_urlsafe(size)).startswith("-"):
        pass
    return made


def draft_expiry() -> datetime:
    """Return the expiry of a draft that is created, saved or opened now."""
    return timezone.now() + timedelta(days=limit("DRAFT_DAYS"))


def link_expiry() -> datetime:
    """Return the expiry of a link that is created or opened now."""
    return timezone.now() + timedelta(days=limit("LINK_DAYS"))


def run_expiry() -> datetime:
    """Return the expiry of a run that is started or opened now."""
    return timezone.now() + timedelta(days=limit("RUN_DAYS"))


def new_comment_id() -> str:
    """Return a comment's id."""
    return _unguessable(8)


def new_link_id() -> str:
    """Return an unguessable id: anyone who has it may see what the link shows, and nobody else."""
    return _unguessable(12)


def new_lesson_id() -> str:
    """Return an unguessable id of an authored lesson: of its author's page, or of the page to play it at."""
    return _unguessable(12)


def lesson_expiry() -> datetime:
    """Return the expiry of an authored lesson that is created, changed or opened now."""
    return timezone.now() + timedelta(days=limit("LESSON_DAYS"))


def new_launch_id() -> str:
    """Return the id of a lesson that a platform launched."""
    return _unguessable(16)


def launch_expiry() -> datetime:
    """Return when a launch that is opened or changed now is forgotten."""
    return timezone.now() + timedelta(days=limit("LTI_DAYS"))


def progress_expiry() -> datetime:
    """Return the expiry of an account's progress that is changed or read now."""
    return timezone.now() + timedelta(days=limit("PROGRESS_DAYS"))


def room_expiry() -> datetime:
    """Return when a room that is opened now ends by itself."""
    return timezone.now() + timedelta(seconds=limit("ROOM_SECONDS"))


def token_hash(token: str) -> str:
    """Return the hash of a secret token that is stored in its place."""
    return hashlib.sha256(token.encode()).hexdigest()


class Scenario(models.Model):
    """Immutable content, stored once, addressed by its digest.

    Accessible at ``/s/<short>/`` while a :class:`Share` refers to it; otherwise only through its runs.
    """

    digest = models.CharField(max_length=43, unique=True)
    short = models.CharField(max_length=43, unique=True)
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    content = models.BinaryField()  # zstd of storage.bundles.content_of(scenario)
    text = models.BinaryField(null=True)  # zstd of the text byte for byte; null: addressed by its documents
    size = models.PositiveBigIntegerField()  # bytes of the text, or of Scenario.canonical() without one
    nodes = models.PositiveIntegerField()
    pods = models.PositiveIntegerField()
    operations = models.PositiveIntegerField(default=0)
    packed = models.PositiveBigIntegerField(default=0)  # bytes of content and text as stored
    created = models.DateTimeField(default=timezone.now)
    expires = models.DateTimeField(null=True, default=link_expiry)  # of its link; null: never (examples)
    withdrawn = models.TextField(blank=True)  # why an operator has taken it down; "": not taken down

    class Meta:
        """Quotas sum ``packed``, retention filters by ``expires``: neither query may read the contents."""

        indexes: ClassVar = [
            models.Index(fields=["packed"], name="scenario_packed"),
            models.Index(fields=["expires"], name="scenario_expires"),
        ]

    def __str__(self) -> str:
        return self.short


class AuthoredLesson(models.Model):
    """A lesson that a visitor writes; its files are visible to its owner alone.

    ``published`` is what was last published, played at ``/learn/<link>/`` by whoever has that address; null:
    it is not published.
    """

    id = models.CharField(primary_key=True, max_length=32, default=new_lesson_id, editable=False)
    link = models.CharField(max_length=32, unique=True, default=new_lesson_id, editable=False)
    owner = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, blank=True)  # for quotas
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    folder = models.CharField(max_length=60)  # NN-slug, as it is exported
    files = models.BinaryField()  # zstd of the JSON object of names and texts
    published = models.BinaryField(null=True)  # the same of what was published
    packed = models.PositiveBigIntegerField(default=0)  # bytes of files and published as stored
    revision = models.PositiveIntegerField(default=1)  # incremented by each change
    published_revision = models.PositiveIntegerField(default=0)  # which is published; 0: none
    created = models.DateTimeField(default=timezone.now)
    updated = models.DateTimeField(default=timezone.now, db_index=True)
    expires = models.DateTimeField(default=lesson_expiry)

    class Meta:
        """Quotas sum ``packed``, retention filters by ``expires``: neither query may read the files."""

        indexes: ClassVar = [
            models.Index(fields=["owner", "packed"], name="lesson_owner_packed"),
            models.Index(fields=["address", "packed"], name="lesson_address_packed"),
            models.Index(fields=["expires"], name="lesson_expires"),
        ]

    def __str__(self) -> str:
        return self.id


class Share(models.Model):
    """One act of sharing. Its token, of which only the hash is stored, deletes it.

    That of a ``lesson`` lets its learners see a scenario of it, and goes with the lesson.
    """

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="shares")
    lesson = models.ForeignKey(AuthoredLesson, null=True, on_delete=models.CASCADE, related_name="shares")
    token = models.CharField(max_length=64, unique=True)  # token_hash() of the delete token
    owner = models.CharField(max_length=64, blank=True, db_index=True)  # "": a shipped example
    address = models.CharField(max_length=64, blank=True, db_index=True)  # for quotas
    created = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"share {self.pk} of {self.scenario_id}"


class Link(models.Model):
    """A visitor's link to a view of a scenario, which is visible to nobody else by it.

    It keeps what decided when it was made: ``pinned``, and the decisions themselves.
    """

    id = models.CharField(primary_key=True, max_length=32, default=new_link_id, editable=False)
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="links")
    owner = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, blank=True)  # for quotas
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    query = models.CharField(max_length=1_500, blank=True)  # of the address: what is on screen
    pinned = models.JSONField(default=dict)  # see playground.playback.pins
    decisions = models.BinaryField()  # zstd JSON, see playground.playback.pins
    packed = models.PositiveBigIntegerField(default=0)  # bytes of decisions as stored
    fixed = models.BooleanField(default=False)  # whether opening it leaves its date as it is
    created = models.DateTimeField(default=timezone.now)
    expires = models.DateTimeField(default=link_expiry)

    class Meta:
        """Quotas sum ``packed``, retention filters by ``expires``: neither query may read the decisions."""

        indexes: ClassVar = [
            models.Index(fields=["owner", "packed"], name="link_owner_packed"),
            models.Index(fields=["address", "packed"], name="link_address_packed"),
            models.Index(fields=["expires"], name="link_expires"),
        ]

    def __str__(self) -> str:
        return self.id


class Comparison(models.Model):
    """Two sides and what comparing them came to: immutable, stored once, addressed by a digest of the sides.

    Accessible at ``/compare/<short>/`` while a :class:`ComparisonShare` refers to it.
    """

    digest = models.CharField(max_length=43, unique=True)
    short = models.CharField(max_length=43, unique=True)
    title = models.CharField(max_length=2 * TITLE_LENGTH + 5, blank=True)
    answer = models.BinaryField()  # zstd JSON of the comparison, see playground.comparisons.snapshots
    packed = models.PositiveBigIntegerField(default=0)  # bytes of the answer as stored
    created = models.DateTimeField(default=timezone.now)
    expires = models.DateTimeField(default=link_expiry)
    withdrawn = models.TextField(blank=True)  # why an operator has taken it down; "": not taken down

    class Meta:
        """Quotas sum ``packed``, retention filters by ``expires``: neither query may read the answers."""

        indexes: ClassVar = [
            models.Index(fields=["packed"], name="comparison_packed"),
            models.Index(fields=["expires"], name="comparison_expires"),
        ]

    def __str__(self) -> str:
        return self.short


class ComparedSide(models.Model):
    """A side of a comparison: a scenario whose text names its release, and the run that computed it.

    ``scheduler`` is the release of a text that cannot be read under it, as its operations need another's
    controllers.
    """

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="sides")
    name = models.CharField(max_length=5, choices=[("left", "left"), ("right", "right")])
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="sides")
    run = models.ForeignKey("Run", null=True, on_delete=models.SET_NULL, related_name="sides")
    release = models.CharField(max_length=16)  # the kube-scheduler that answers it
    scheduler = models.CharField(max_length=16, blank=True)  # under which the scenario is put; "": its own

    class Meta:
        """A comparison has each side once."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["comparison", "name"], name="one_side_per_name"),
        ]

    def __str__(self) -> str:
        return f"{self.comparison_id} {self.name}"


class ComparisonShare(models.Model):
    """One act of sharing a comparison. Its token, of which only the hash is stored, deletes it."""

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="shares")
    token = models.CharField(max_length=64, unique=True)  # token_hash() of the delete token
    owner = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, blank=True, db_index=True)  # for quotas
    created = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"share {self.pk} of {self.comparison_id}"


class Draft(models.Model):
    """A visitor's editable bundle, visible only to its owner."""

    id = models.CharField(primary_key=True, max_length=32, default=new_draft_id, editable=False)
    owner = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, blank=True)  # for quotas
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    files = models.BinaryField()  # zstd of the JSON list [[name, text], …]
    size = models.PositiveBigIntegerField(default=0)
    packed = models.PositiveBigIntegerField(default=0)  # bytes of files as stored
    revision = models.PositiveIntegerField(default=1)  # incremented by each change of text or title
    text_revision = models.PositiveIntegerField(default=1)  # of the last change of the text
    title_revision = models.PositiveIntegerField(default=1)  # of the last change of the title
    based_on = models.CharField(max_length=64, blank=True)  # "scenario:<short>" or "run:<id>"
    parent = models.CharField(max_length=64, blank=True)  # its source: as based_on, or "draft:<id>"
    family = models.CharField(max_length=64, blank=True, db_index=True)  # the root ancestor; "": itself
    branched_at = models.CharField(max_length=24, blank=True)  # the step of the parent, or ""
    words = models.TextField(blank=True)  # the changes, one per line, as last computed
    presumed = models.CharField(max_length=16, default=default_release)  # answers if the text names none
    created = models.DateTimeField(default=timezone.now)
    updated = models.DateTimeField(default=timezone.now, db_index=True)
    expires = models.DateTimeField(default=draft_expiry)

    class Meta:
        """Quotas sum ``packed``, retention filters by ``expires``: neither query may read the files."""

        indexes: ClassVar = [
            models.Index(fields=["owner", "packed"], name="draft_owner_packed"),
            models.Index(fields=["address", "packed"], name="draft_address_packed"),
            models.Index(fields=["expires"], name="draft_expires"),
        ]

    def __str__(self) -> str:
        return self.id


class Run(models.Model):
    """A simulation that a worker computes: queued, running, then done, cancelled or failed.

    ``claim`` names the worker process that owns the run while it computes. Every write of a worker is
    conditional on it, so a worker that was presumed dead cannot disturb its successor.
    """

    id = models.CharField(primary_key=True, max_length=32, default=new_run_id, editable=False)
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="runs")
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    owner = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, blank=True, db_index=True)  # for limits
    sweep = models.ForeignKey("Sweep", null=True, on_delete=models.CASCADE, related_name="runs")
    code = models.CharField(max_length=64, blank=True, default="")  # of the engine that computed it
    request_id = models.CharField(max_length=100, blank=True, default="")  # of the request that started it
    cancel_token = models.CharField(max_length=64, blank=True)  # hash; for runs started over the API
    state = models.CharField(max_length=12, default=QUEUED, choices=[(s, s) for s in STATES], db_index=True)
    queue = models.CharField(max_length=8, default=LONG, choices=[(q, q) for q in QUEUES])
    claim = models.CharField(max_length=120, blank=True)
    attempts = models.PositiveIntegerField(default=0)

    cycles = models.PositiveIntegerField(default=0)
    expected = models.PositiveIntegerField(null=True)  # expected minimum number of cycles
    placed = models.PositiveIntegerField(default=0)
    pending = models.PositiveIntegerField(default=0)
    unschedulable = models.PositiveIntegerField(default=0)
    outcomes = models.JSONField(default=dict)  # result -> cycles
    cache = models.JSONField(null=True)  # equivalence cache, see playground.runs.cache_figures
    samples = models.JSONField(default=dict)  # see playground.runs.metrics
    unplaced = models.JSONField(default=list)  # see playground.runs.unplaced_pods
    seconds = models.FloatField(default=0)  # spent on scheduling, over all attempts
    peak_mib = models.FloatField(default=0)
    packed = models.PositiveBigIntegerField(default=0)  # bytes of its chunks and checkpoints as stored
    error = models.TextField(blank=True)

    created = models.DateTimeField(default=timezone.now, db_index=True)
    queued = models.DateTimeField(default=timezone.now)  # when it was last queued
    enqueued = models.DateTimeField(default=timezone.now)  # last announced to the broker
    claimed = models.DateTimeField(null=True, db_index=True)  # last claim, that is its visitor's last turn
    started = models.DateTimeField(null=True)
    heartbeat = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    expires = models.DateTimeField(default=run_expiry)

    class Meta:
        """Quotas sum ``packed``, retention filters by ``expires``: neither query may read the samples."""

        indexes: ClassVar = [
            models.Index(fields=["owner", "packed"], name="run_owner_packed"),
            models.Index(fields=["address", "packed"], name="run_address_packed"),
            models.Index(fields=["expires"], name="run_expires"),
        ]

    def __str__(self) -> str:
        return self.id


class Sweep(models.Model):
    """One scenario under every combination of a grid's values; each cell is a run.

    Each cell that ends decrements ``left``; the one that reaches zero begins the next rung or ends the sweep.
    """

    id = models.CharField(primary_key=True, max_length=32, default=new_run_id, editable=False)
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="sweeps")
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    owner = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, blank=True, db_index=True)  # for limits
    cancel_token = models.CharField(max_length=64)  # hash
    body = models.JSONField()  # the grid, the sample, the halving and the prices, as sent
    axes = models.JSONField()  # [[name, [value…]]…], in the order in which values are applied
    state = models.CharField(max_length=12, default=RUNNING, choices=[(s, s) for s in STATES], db_index=True)
    left = models.PositiveIntegerField()  # cells of this rung that have not ended
    whole = models.PositiveBigIntegerField()  # cells of the whole grid, of which a sample may run
    queue = models.CharField(max_length=8, default=LONG)  # of its runs
    expected = models.PositiveIntegerField(default=0)  # cycles of a run, until its scenario is known
    request_id = models.CharField(max_length=64, blank=True)  # which started it, in the logs
    created = models.DateTimeField(default=timezone.now, db_index=True)
    finished = models.DateTimeField(null=True)
    expires = models.DateTimeField(default=run_expiry, db_index=True)

    def __str__(self) -> str:
        return self.id


class SweepCell(models.Model):
    """One combination of values, its run, and the figures that the run ended with.

    The run is another sweep's, or was started by itself, if it had been computed before.
    """

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="cells")
    number = models.PositiveIntegerField()
    rung = models.PositiveSmallIntegerField(default=0)  # of a sweep with halving
    values = models.JSONField()  # of the axes, in their order
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="cells")
    ended = models.BooleanField(default=False)
    metrics = models.JSONField(null=True)  # see scheduler_core.studies.sweep.figures
    optimum = models.JSONField(null=True)  # what was found on request, see scheduler_core.compare.optimum
    error = models.TextField(blank=True)

    class Meta:
        """A cell is written once."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sweep", "number"], name="one_cell_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.sweep_id}[{self.number}]"


class RunChunk(models.Model):
    """Consecutive decisions of a run: cycles ``first`` to ``first + count - 1``."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    first = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    data = models.BinaryField()  # zstd JSON, see playground.playback.chunks
    messages = models.BinaryField(null=True)  # zstd JSON [[cycle, message]…] of failed cycles

    class Meta:
        """A worker that lost its claim cannot write a chunk a second time."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="one_chunk_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}[{self.first}:{self.first + self.count}]"


class RunCheckpoint(models.Model):
    """A run's simulation after a cycle, from which a process of the same code continues."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    cycle = models.PositiveIntegerField()
    data = models.BinaryField()  # signed and compressed, see playground.playback.packed_runs

    class Meta:
        """As of chunks, none is stored twice."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "cycle"], name="one_checkpoint_per_cycle"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}@{self.cycle}"


class Worker(models.Model):
    """A worker; alive if its last heartbeat is at most :data:`WORKER_SECONDS` old.

    Web servers and beat have rows too, without queues, for :mod:`playground.serving.deployment` to compare.
    """

    name = models.CharField(primary_key=True, max_length=200)
    seen = models.DateTimeField(default=timezone.now)
    started = models.DateTimeField(default=timezone.now)
    queues = models.JSONField(default=all_queues)  # names of the playground.queues that it serves
    service = models.CharField(max_length=20, default="worker")
    settings = models.JSONField(default=dict)  # fingerprints of playground.serving.deployment

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def alive(now: datetime | None = None) -> models.QuerySet[Worker]:
        """Return the workers with a recent heartbeat."""
        since = (now or timezone.now()) - timedelta(seconds=WORKER_SECONDS)
        return Worker.objects.filter(service="worker", seen__gte=since)

    @staticmethod
    def serving() -> set[str]:
        """Return the queues served by workers that are alive."""
        return {queue for queues in Worker.alive().values_list("queues", flat=True) for queue in queues}


class Comment(models.Model):
    """A comment on a shared scenario; the first of a thread has the anchor and whether it is resolved.

    What is written in a ``room`` is that room's: the scenario's own page does not have it.
    """

    id = models.CharField(primary_key=True, max_length=32, default=new_comment_id, editable=False)
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="comments")
    room = models.ForeignKey("Room", null=True, on_delete=models.CASCADE, related_name="comments")
    thread = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="replies")
    step = models.CharField(max_length=24, blank=True)
    node = models.CharField(max_length=253, blank=True)
    pod = models.CharField(max_length=600, blank=True)
    rule = models.CharField(max_length=100, blank=True)
    about = models.JSONField(null=True)  # what the step decided, see playground.playback.anchors
    text = models.TextField(blank=True)
    name = models.CharField(max_length=40, blank=True)
    owner = models.CharField(max_length=64, blank=True, db_index=True)
    address = models.CharField(max_length=64, blank=True)
    token = models.CharField(max_length=64, blank=True)  # token_hash() of the edit token
    resolved = models.BooleanField(default=False)
    removed = models.BooleanField(default=False)
    created = models.DateTimeField(default=timezone.now)
    edited = models.DateTimeField(null=True)
    updated = models.DateTimeField(default=timezone.now)

    class Meta:
        """What has changed since is asked for every moment."""

        indexes: ClassVar = [models.Index(fields=["scenario", "updated"], name="comment_updated")]

    def __str__(self) -> str:
        return f"{self.id} on {self.scenario_id}"


class Room(models.Model):
    """A scenario that a leader presents to those who have the room's link.

    Its state has three counters, of which none ever falls: ``seq`` counts moves, ``scene`` the times it went
    elsewhere (another scenario or stop, or the answer of a stop), and ``changed`` everything but moves. A
    position belongs to a scene.
    """

    id = models.CharField(primary_key=True, max_length=32, default=new_room_id, editable=False)
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="rooms")
    code = models.CharField(max_length=12, blank=True, default=new_room_code)  # "" once over
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    token = models.CharField(max_length=64)  # token_hash() of the token that leads
    owner = models.CharField(max_length=64, blank=True, db_index=True)
    address = models.CharField(max_length=64, blank=True, db_index=True)  # for limits
    leader = models.CharField(max_length=32, blank=True)  # the person who was handed the lead; "": the token
    position = models.JSONField(default=dict)
    seq = models.PositiveBigIntegerField(default=0)
    scene = models.PositiveBigIntegerField(default=0)
    lesson = models.JSONField(null=True)  # that is taught, and its stop: playground.lessons.classes
    visits = models.JSONField(default=list)  # [[stop, when the room came to it]…]
    question = models.JSONField(null=True)  # see playground.rooms.questions
    asked = models.PositiveIntegerField(default=0)  # questions
    history = models.JSONField(default=list)  # those that were revealed, with their results
    changed = models.PositiveBigIntegerField(default=0)
    created = models.DateTimeField(default=timezone.now)
    ended = models.DateTimeField(null=True)
    expires = models.DateTimeField(default=room_expiry, db_index=True)

    class Meta:
        """A code names one room at a time."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["code"], condition=~models.Q(code=""), name="one_room_per_code"),
        ]

    def __str__(self) -> str:
        return self.id


class RoomVote(models.Model):
    """A person's answer to a room's question."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="votes")
    question = models.PositiveIntegerField()
    voter = models.CharField(max_length=32)
    answer = models.TextField()  # see playground.rooms.questions
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        """Whoever votes again changes their answer."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["room", "question", "voter"], name="one_vote_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.room_id} {self.question} {self.voter}"


class RoomAudience(models.Model):
    """How many watch a room over one web process, and those who gave a name."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="audiences")
    process = models.CharField(max_length=64)
    watching = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)  # of these, who cannot follow
    people = models.JSONField(default=list)  # [[person, name]…]
    seen = models.DateTimeField(default=timezone.now)

    class Meta:
        """A process has one row for each room."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["room", "process"], name="one_audience_per_process"),
        ]

    def __str__(self) -> str:
        return f"{self.room_id} {self.process}: {self.watching}"


class RoomPerson(models.Model):
    """Somebody who followed a room: the name that they gave, and where they were last."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="followers")
    person = models.CharField(max_length=32)
    name = models.CharField(max_length=80, blank=True)
    place = models.CharField(max_length=24, blank=True)  # the step of who went elsewhere; "": the room's
    lost = models.CharField(max_length=120, blank=True)  # why their page cannot follow
    seen = models.DateTimeField(default=timezone.now)

    class Meta:
        """A person has one row for each room."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["room", "person"], name="one_row_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.room_id} {self.person}"


class Account(AbstractBaseUser):
    """A visitor with a name and a password: who signs in gets the cookie of ``owner``.

    ``owner`` is never a name that an anonymous visitor had, and changes with the password.
    """

    username = models.CharField(max_length=ACCOUNT_NAME, unique=True)  # in small letters
    owner = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(default=timezone.now)

    objects: ClassVar = BaseUserManager()
    USERNAME_FIELD = "username"

    class Meta:
        """Retention filters by the last sign-in."""

        indexes: ClassVar = [models.Index(fields=["last_login"], name="account_last_login")]

    def __str__(self) -> str:
        return self.username


class LearnerProgress(models.Model):
    """How far an account's holder is with the lessons; goes with the account."""

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="progress"
    )
    content = models.BinaryField(default=bytes)  # zstd of playground.lessons.progress.packed; b"": nothing
    packed = models.PositiveBigIntegerField(default=0)  # bytes of the content as stored
    lessons = models.PositiveIntegerField(default=0)  # how many it is about
    revision = models.PositiveIntegerField(default=0)  # incremented by each change
    expires = models.DateTimeField(default=progress_expiry, db_index=True)

    def __str__(self) -> str:
        return f"progress of {self.account_id}"


class EndedSession(models.Model):
    """A browser's session with an account that was signed out, see playground.visitors.sessions."""

    session = models.CharField(primary_key=True, max_length=32)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="ended")
    created = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.session


class Recall(models.Model):
    """A visitor's name that a browser has just exchanged for another one, see playground.accounts.recalls."""

    visitor = models.CharField(max_length=64)
    owner = models.CharField(max_length=64, blank=True)  # who claims what is stored under it a moment later
    created = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return self.visitor


class Ban(models.Model):
    """An address or an owner whose requests are refused."""

    subject = models.CharField(max_length=64, unique=True)
    until = models.DateTimeField(null=True)  # null: until lifted
    created = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.subject


class AuditEntry(models.Model):
    """An action of an operator by a management command, or of a visitor, see playground.storage.audit."""

    created = models.DateTimeField(default=timezone.now, db_index=True)
    who = models.CharField(max_length=100)  # the operating system's user, or the visitor and their address
    what = models.CharField(max_length=40)  # the command
    subject = models.CharField(max_length=100)
    why = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.what} {self.subject}"


class LtiLaunch(models.Model):
    """A lesson that a learning platform launched for one of its people: what was answered, and the score.

    One for each person and link of a course: who launches it again goes on. The id is its address, which
    opens only in a browser that the platform launched it in.
    """

    id = models.CharField(primary_key=True, max_length=32, default=new_launch_id, editable=False)
    place = models.CharField(max_length=64, unique=True)  # digest of platform, deployment, link and person
    platform = models.CharField(max_length=32)  # playground.lti.platforms.Platform.key
    person = models.CharField(max_length=255)  # as the platform names who launched it: no name of a human
    lesson = models.CharField(max_length=80)  # its address below /learn/
    graded = models.BooleanField(default=False)  # whether the platform takes a score of this person
    teaches = models.BooleanField(default=False)  # whether the platform says so of this person
    service = models.JSONField(default=dict)  # its Assignment and Grade Services, as it offered them
    browsers = models.JSONField(default=list)  # those that it was launched in, the last one last
    passed = models.JSONField(default=list)  # keys of the stops that were answered right
    handed = models.DateTimeField(null=True)  # when it was completed, or handed in as it was
    sent = models.PositiveIntegerField(null=True)  # right answers of the score that the platform has
    due = models.DateTimeField(null=True, db_index=True)  # when the score is sent; null: nothing to send
    tries = models.PositiveIntegerField(default=0)  # to send it, that failed
    trouble = models.TextField(blank=True)  # why it failed the last time
    created = models.DateTimeField(default=timezone.now)
    expires = models.DateTimeField(default=launch_expiry, db_index=True)

    def __str__(self) -> str:
        return self.pk


class WaitingStatement(models.Model):
    """An xAPI statement that waits to be sent to the operator's record store."""

    id = models.CharField(primary_key=True, max_length=36)
    statement = models.JSONField()
    alone = models.BooleanField(default=False)  # whether it is sent by itself: a batch with it was refused
    tries = models.PositiveIntegerField(default=0)
    due = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return self.pk


class UsedState(models.Model):
    """A state of an LTI login that was used up: no launch comes with it again."""

    state = models.CharField(primary_key=True, max_length=64)  # digest
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.pk
