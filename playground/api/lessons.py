"""Lessons over HTTP: the list, answers and hints, completion codes, and when predictions come back."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from playground.api.answers import ApiError, answer
from playground.api.bodies import body_of
from playground.api.payloads.payload import Payload, sent
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, UNREAD, route
from playground.calls.faults import RequestFieldError
from playground.courseware import AnswerVerdict, Lesson, LessonError, Stop, hint, lessons
from playground.courseware.variants import has_variants
from playground.lessons import (
    catalogue,
    computations,
    lookup,
    operator_lessons,
    receipts,
    reviews,
    statements,
    verdicts,
)
from playground.lti import browsers, launches
from playground.models import LtiLaunch
from playground.serving.languages import asked_of

RATE = "LESSON_ANSWERS_PER_MINUTE"
LANGUAGE = (("lang", "string", "Of the lesson's own words, such as de; English if it is not translated"),)
_REFUSED = {400: ("The answer has another form; the error says which", Errors), 413: UNREAD[413]}


class LessonStop(Payload):
    """One stop of a lesson."""

    key: str
    title: str
    url: str
    task: Annotated[str | None, Meta(description="look, predict, find, explain, do, repair, build, contract")]
    form: Annotated[str | None, Meta(description="The form of its answer, such as node, number or edit")]


class LessonCard(Payload):
    """One lesson."""

    number: int
    slug: str
    url: str
    title: str
    question: str
    level: str
    minutes: int
    outcomes: list[str]
    prerequisites: Annotated[list[str], Meta(description="Slugs")]
    tracks: list[str]
    stops: list[LessonStop]


class Lessons(Payload):
    """All lessons in order, and the tracks."""

    lessons: list[LessonCard]
    tracks: Annotated[dict[str, str], Meta(description="Titles by key")]


class LessonAnswer(Payload, forbid_unknown_fields=True):
    """An answer to a stop's question."""

    answer: Annotated[
        Any,
        Meta(description="A text, a number, yes or no, a list of texts, or the text of the edited bundle"),
    ]
    sure: Annotated[bool | UnsetType | None, Meta(description="Whether the learner was sure, or guessed")] = (
        UNSET
    )
    seed: Annotated[
        Annotated[int, Meta(ge=1, le=reviews.SEEDS)] | UnsetType,
        Meta(description="Of a variant with other numbers, as in a review"),
    ] = UNSET
    card: Annotated[
        reviews.ReviewCard | UnsetType, Meta(description="The prediction's card, as returned last time")
    ] = UNSET

    launch: Annotated[
        Annotated[str, Meta(max_length=43)] | UnsetType,
        Meta(description="What a learning platform launched for this browser: a right answer counts there"),
    ] = UNSET


class LessonVerdict(Payload):
    """The verdict, in the engine's words."""

    right: bool
    sentence: str
    misconception: str
    answer: Annotated[Any, Meta(description="The right answer; null while it is not given, and for edits")]
    edits: Annotated[int | None, Meta(description="Fields and list items that an edit changed")]
    par: Annotated[int | None, Meta(description="The fewest edits known")]
    why: Annotated[
        str,
        Meta(description="The end of the sentence that is not the engine's, in the lesson's language"),
    ] = ""
    receipt: Annotated[str | UnsetType, Meta(description="Proves the right answer; for a code")] = UNSET
    card: Annotated[
        reviews.ReviewCard | UnsetType, Meta(description="Of a prediction: when to ask it again")
    ] = UNSET


class LessonHintRequest(Payload, forbid_unknown_fields=True):
    """The number of a hint: 1 says where to look, 2 the rule, 3 the computed fact."""

    number: Annotated[int, Meta(ge=1, le=3)]
    seed: Annotated[int, Meta(ge=1, le=reviews.SEEDS)] | UnsetType = UNSET


class LessonHint(Payload):
    """A hint, as Markdown."""

    text: str


class LessonReceipts(Payload, forbid_unknown_fields=True):
    """The receipts of all right answers of a lesson, and the name to put on its code."""

    receipts: Annotated[list[Annotated[str, Meta(max_length=receipts.LONGEST)]], Meta(max_length=100)]
    name: Annotated[str, Meta(max_length=receipts.NAME)] | UnsetType = UNSET


class LessonCode(Payload):
    """A signed completion code, and the page that verifies it."""

    code: str
    url: str


@route("GET", "/api/lessons", "List the lessons", {200: ("All lessons", Lessons)})
def get_lessons(_request: HttpRequest) -> HttpResponse:
    """Answer all lessons."""
    titles = {track.key: track.title for track in catalogue.tracks()}
    return answer(Lessons([_card(one) for one in (*lessons(), *operator_lessons.lessons())], titles))


@route(
    "POST",
    "/api/lessons/{slug}/{stop}/answer",
    "Check an answer to a stop's question against the engine's record",
    {
        200: ("The verdict", LessonVerdict),
        403: ("The launch is not this browser's", Errors),
        **_REFUSED,
        **ERRORS,
        **BUSY,
    },
    body=(("application/json", LessonAnswer),),
    query=LANGUAGE,
    rate=RATE,
)
def answer_stop(request: HttpRequest, slug: str, stop: str) -> HttpResponse:
    """Check an answer; the right one leaves the server only once it was given."""
    of, at = _found(slug, stop)
    given = body_of(request, LessonAnswer)
    row = _launched(request, of, sent(given.launch))
    try:
        verdict = verdicts.judged(
            *catalogue.spoken(of, at, asked_of(request)),
            given.answer,
            sent(given.sure),
            sent(given.seed),
        )
        comes_back = has_variants(of, at)
        card = reviews.reviewed(sent(given.card), verdict.rating) if comes_back else UNSET
    except (LessonError, ValueError) as error:
        raise RequestFieldError("answer", _sentence(str(error))) from error
    if given.seed is UNSET:
        who = statements.visitor(request.visitor) if row is None else launches.learner(row)  # type: ignore[attr-defined]
        statements.answered(
            of, at, who, given.answer, right=verdict.right, misconception=verdict.misconception
        )
        if row is not None and verdict.right:
            launches.note(row.pk, of, stop)
    receipt = receipts.receipt(slug, stop) if verdict.right and given.seed is UNSET else UNSET
    return answer(replace(shown(verdict), receipt=receipt, card=card), Cache_Control="no-store")


def shown(verdict: AnswerVerdict) -> LessonVerdict:
    """Return a verdict as a page is answered: the right answer alone once it was given."""
    return LessonVerdict(
        right=verdict.right,
        sentence=verdict.sentence,
        misconception=verdict.misconception,
        answer=verdict.answer if verdict.right else None,
        edits=verdict.edits,
        par=verdict.par,
        why=verdict.why,
    )


@route(
    "POST",
    "/api/lessons/{slug}/{stop}/hint",
    "Get a hint on a stop's question",
    {200: ("The hint", LessonHint), **_REFUSED, **ERRORS, **BUSY},
    body=(("application/json", LessonHintRequest),),
    query=LANGUAGE,
    rate=RATE,
)
def hint_stop(request: HttpRequest, slug: str, stop: str) -> HttpResponse:
    """Answer a hint."""
    of, at = _found(slug, stop)
    asked = body_of(request, LessonHintRequest)
    try:
        said, spoken = catalogue.spoken(of, at, asked_of(request))
        text = computations.kept(said, str, hint, spoken, asked.number, sent(asked.seed))
    except LessonError as error:
        raise ApiError(404, _sentence(str(error))) from error
    return answer(LessonHint(text), Cache_Control="no-store")


@route(
    "POST",
    "/api/lessons/{slug}/code",
    "Exchange the receipts of a lesson's right answers for a signed completion code",
    {
        201: ("The code", LessonCode),
        409: ("Questions are not answered yet; the error names their stops", Errors),
        **_REFUSED,
        **ERRORS,
    },
    body=(("application/json", LessonReceipts),),
    rate=RATE,
)
def complete_lesson(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer a completion code."""
    of = _lesson(slug)
    if of is None:
        raise ApiError(404, "There is no such lesson.")
    given = body_of(request, LessonReceipts)
    try:
        code = receipts.completed(of, given.receipts, given.name or "")
    except receipts.IncompleteError as error:
        raise ApiError(409, str(error)) from error
    asked = len(receipts.asked(of))
    statements.completed(of, statements.visitor(request.visitor), asked, asked)  # type: ignore[attr-defined]
    return answer(LessonCode(code, request.build_absolute_uri(f"/learn/code/{code}/")), 201)


def _launched(request: HttpRequest, of: Lesson, name: str | None) -> LtiLaunch | None:
    """Return the launch that an answer names. Raises ApiError for one that is not this browser's."""
    if name is None:
        return None
    row = launches.held(name, browsers.browser_of(request))
    if row is None or row.lesson != of.slug:
        raise ApiError(403, "The lesson is not open here for your course any more: open it from there again.")
    return row


def _card(of: Lesson) -> LessonCard:
    return LessonCard(
        number=of.number,
        slug=of.slug,
        url=f"/learn/{of.slug}/",
        title=of.title,
        question=of.question,
        level=of.level,
        minutes=of.minutes,
        outcomes=list(of.outcomes),
        prerequisites=list(of.prerequisites),
        tracks=list(of.tracks),
        stops=[_stop(of, stop) for stop in of.stops],
    )


def _stop(of: Lesson, stop: Stop) -> LessonStop:
    kind, form = (stop.task.kind, stop.task.form) if stop.task is not None else (None, None)
    return LessonStop(stop.key, stop.title, f"/learn/{of.slug}/{stop.key}/", kind, form)


def _lesson(address: str) -> Lesson | None:
    """Return the lesson at an address. Raises ApiError for a preview that cannot be read."""
    try:
        return lookup.lesson_at(address)
    except LessonError as error:
        raise ApiError(409, _sentence(str(error))) from error


def _found(slug: str, key: str) -> tuple[Lesson, Stop]:
    of = _lesson(slug)
    found = next(((of, one) for one in of.stops if one.key == key), None) if of is not None else None
    if found is None:
        raise ApiError(404, "There is no such stop of a lesson.")
    if found[1].task is None or found[1].task.form is None:
        raise ApiError(404, "This stop asks nothing.")
    return found


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
