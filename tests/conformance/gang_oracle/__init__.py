"""A second, deliberately plain reading of Coscheduling's rules, to test the engine against.

It walks over manifests, keeps no caches and shares no code with ``scheduler_core``. One
function per kind of question; :func:`answer` takes a record of the format of
``coscheduling.jsonl.gz`` and returns what its ``expect`` should be.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.gang_oracle.controller import controller
from tests.conformance.gang_oracle.points import (
    arguments,
    cluster_resource,
    less,
    permit,
    post_bind,
    post_filter,
    pre_filter,
)
from tests.conformance.gang_oracle.reader import Manifest, Record

KINDS: dict[str, Callable[[Record], Manifest]] = {
    "less": less,
    "preFilter": pre_filter,
    "permit": permit,
    "postFilter": post_filter,
    "postBind": post_bind,
    "clusterResource": cluster_resource,
    "controller": controller,
    "args": arguments,
}


def answer(record: Manifest) -> Manifest:
    """Answer a record of any kind but ``scenario``, which :mod:`runs` plays."""
    return KINDS[record["input"]["kind"]](Record(record))
