"""Validation of a task message before it is passed to Celery.

Celery's worker trusts its broker: a message that lacks a header, or has a list instead of a string, raises in
the consumer's loop and ends the worker. The embedded broker is a folder, where a full disk, a crash or
another program can leave any content.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

MESSAGE_BYTES = 256 * 1024  # a task has only an id; real messages are far smaller
TEXT = 1_000  # characters of a header
YEARS = range(2000, 2200)

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= TEXT


def _name(value: Any) -> bool:
    return _text(value) and bool(value)


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31


def _seconds(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (number and 0 <= value < 10**7)


def _limits(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_seconds, value))


def _moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).year in YEARS
    except ValueError:
        return False


def _empty(value: Any) -> bool:
    return not value


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _exactly(expected: str) -> Check:
    return lambda value: value == expected


#: The headers of Celery's protocol 2 (``celery.app.amqp.AMQP.as_task_v2``). Stamps and canvas are not used.
HEADERS: Mapping[str, Check] = {
    "lang": _text,
    "task": _name,
    "id": _name,
    "shadow": _or_none(_text),
    "eta": _or_none(_moment),
    "expires": _or_none(_moment),
    "group": _or_none(_text),
    "group_index": _or_none(_integer),
    "retries": _or_none(_integer),
    "timelimit": _limits,
    "root_id": _or_none(_text),
    "parent_id": _or_none(_text),
    "argsrepr": _or_none(_text),
    "kwargsrepr": _or_none(_text),
    "origin": _or_none(_text),
    "ignore_result": _or_none(_flag),
    "replaced_task_nesting": _or_none(_integer),
    "stamped_headers": _empty,
    "stamps": _empty,
}
#: The properties written by kombu's virtual channel.
PROPERTIES: Mapping[str, Check] = {
    "delivery_tag": _name,
    "body_encoding": _exactly("base64"),
    "correlation_id": _or_none(_text),
    "reply_to": _or_none(_text),
    "delivery_mode": _or_none(_integer),
    "priority": _or_none(_integer),
}
DELIVERY_INFO: Mapping[str, Check] = {"exchange": _text, "routing_key": _name}
ENVELOPE: Mapping[str, Check] = {
    "content-type": _exactly("application/json"),
    "content-encoding": _exactly("utf-8"),
}
REQUIRED = frozenset({"task", "id", "delivery_tag", "body_encoding", "exchange", "routing_key", *ENVELOPE})


def read(data: bytes) -> dict[str, Any]:
    """Return the message of a file as kombu expects it, without fields that are not in the tables.

    Raises ValueError with the reason if it could crash Celery.
    """
    message = _object("message", _json(data))
    headers = _checked("header", HEADERS, _object("headers", message.get("headers")))
    sent = _object("properties", message.get("properties"))
    delivery = _object("delivery_info", sent.get("delivery_info"))
    properties = _checked("property", PROPERTIES, sent)
    properties["delivery_info"] = _checked("delivery_info", DELIVERY_INFO, delivery)
    envelope = _checked("field", ENVELOPE, message)
    body = message.get("body")
    _check_body(body)
    return {**envelope, "headers": headers, "properties": properties, "body": body}


def _json(data: bytes) -> Any:
    if len(data) > MESSAGE_BYTES:
        raise ValueError(f"longer than {MESSAGE_BYTES:,} bytes")
    try:
        return json.loads(data)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    except RecursionError as error:  # [[[[…
        raise ValueError("nested too deeply") from error


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    return value


def _checked(kind: str, table: Mapping[str, Check], values: Mapping[str, Any]) -> dict[str, Any]:
    for name in table:
        if name in REQUIRED and name not in values:
            raise ValueError(f"{kind} {name} is missing")
        if name in values and not table[name](values[name]):
            raise ValueError(f"{kind} {name} is malformed")
    return {name: values[name] for name in table if name in values}


def _check_body(body: Any) -> None:
    if not isinstance(body, str):
        raise ValueError("body is not a string")
    try:
        decoded = base64.b64decode(body, validate=True)
    except (ValueError, binascii.Error) as error:
        raise ValueError("body is not base64") from error
    parts = _json(decoded)
    if not isinstance(parts, list) or [type(part) for part in parts] != [list, dict, dict]:
        raise ValueError("body is not [args, kwargs, embed]")
    if any(parts[2].values()):
        raise ValueError("body embeds other tasks")
