"""The shape of a v1 Policy. Which predicates and priorities there are is the engine's to check."""

from __future__ import annotations

from typing import Any

from scheduler_core.objects.reading import At, Field, boolean, integer, list_of, opaque, record, text

_PREDICATE = record(
    dict,
    {
        "name": Field("name", text, required=True),
        "order": Field("order", integer(1)),
        "argument": Field("argument", opaque),
    },
)
_PRIORITY = record(
    dict,
    {
        "name": Field("name", text, required=True),
        "weight": Field("weight", integer(1), required=True),
        "argument": Field("argument", opaque),
    },
)
_POLICY = record(
    dict,
    {
        "predicates": Field("predicates", list_of(_PREDICATE)),
        "priorities": Field("priorities", list_of(_PRIORITY)),
        "hardPodAffinitySymmetricWeight": Field("weight", integer(0, 100)),
        "alwaysCheckAllPredicates": Field("always", boolean),
    },
    unread="apiVersion kind metadata extenders",
)


def check_policy(value: dict[str, Any], at: At) -> None:
    """Report what is wrong with a Policy's shape."""
    _POLICY(value, at)
    if value.get("extenders"):
        at.child("extenders").warn("extenders are other programs: they are not called")
