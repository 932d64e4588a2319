"""Two sources side by side over HTTP."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError
from playground.comparisons import comparing
from playground.playback import sources
from playground.pool import offload
from playground.pool.reading import reading
from playground.visitors import identity
from playground.visitors.throttle import token_of
from playground.wire import Encoded, join

KINDS = ("scenario", "run", "link", "draft")  # in which an id is looked for


def get_comparison(request: HttpRequest) -> HttpResponse:
    """Answer where two sources first decide differently, where pods end, and the metrics of both."""
    try:
        question = comparing.Question(*(_side(request, name) for name in ("left", "right")))
        body = question.kept() or question.answered(_compared(question))
    except comparing.SchedulerError as error:
        path = f"{error.side}Scheduler"
        raise ApiError(400, [{"line": None, "path": path, "message": str(error)}]) from error
    except comparing.UnfinishedError as error:
        raise ApiError(409, str(error)) from error
    return HttpResponse(told(question, body), content_type="application/json")


def told(question: comparing.Question, body: Encoded) -> Encoded:
    """Return an answer with what was asked."""
    sides = join({"left": question.left.wire(), "right": question.right.wire()})
    return Encoded(f"{sides[:-1]},{body[1:]}")


def _compared(question: comparing.Question) -> Encoded:
    if question.stored:
        with reading() as give_way:
            return comparing.from_decisions(question, give_way)
    left, right = (side.source.stored() for side in question.sides)
    schedulers = (question.left.scheduler, question.right.scheduler)
    if question.large:
        return offload.compute(identity.asker(), comparing.computed, left, right, schedulers, long=True)
    with reading():
        return comparing.computed(left, right, schedulers)


def _side(request: HttpRequest, name: str) -> comparing.Side:
    """Return a side: ``kind:id``, or an id alone, which is looked for in all kinds. Raises ApiError."""
    given = request.GET.get(name, "")
    kind, _, bare = given.rpartition(":")
    if not bare or (kind and kind not in KINDS):
        message = f"Say what is on the {name}: the id of a scenario, a run, a link or a draft."
        raise ApiError(400, [{"line": None, "path": name, "message": message}])
    owner = identity.verify(token_of(request))  # of the drafts made over the API
    for one in (kind,) if kind else KINDS:
        try:
            source = sources.find({one: bare}, owner)
        except sources.NotFoundError:
            continue
        return comparing.Side(source, request.GET.get(f"{name}Scheduler", ""))
    raise ApiError(404, f"There is no scenario, run, link or draft of yours with the id on the {name}.")
