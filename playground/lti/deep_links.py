"""The answer to a platform that asked for a link: a signed content item that names a lesson."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pylti1p3.deep_link import DeepLink
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.lineitem import LineItem

from playground.courseware import Lesson
from playground.lti.platforms import Platform
from playground.lti.tool import registration


def message(platform: Platform, kept: Mapping[str, Any], of: Lesson, url: str, questions: int) -> str:
    """Return the signed message; ``kept`` is what the platform wants back, and whether a link is scored."""
    resource = DeepLinkResource().set_title(of.title).set_url(url).set_custom_params({"lesson": of.slug})
    if kept["scored"] and questions:
        column: Any = LineItem()
        column.set_label(of.title).set_resource_id(of.slug).set_tag(of.slug).set_score_maximum(questions)
        resource.set_lineitem(column)
    settings: Any = {"deep_link_return_url": kept["back"], "data": kept["data"]}
    link = DeepLink(registration(platform), kept["deployment"], settings)
    found = link.get_message_jwt([resource])
    if kept["data"] is None:
        found.pop("https://purl.imsglobal.org/spec/lti-dl/claim/data")
    return cast(str, cast(Any, link).encode_jwt(found))
