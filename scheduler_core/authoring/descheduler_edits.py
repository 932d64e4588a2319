"""Changes to a DeschedulerPolicy and to when it runs, as a form makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.authoring.policy_rewrites import EditError, read_json, with_field
from scheduler_core.cluster.descheduler.policy import V1ALPHA2
from scheduler_core.cluster.descheduler.protections import DEFAULT_EVICTOR
from scheduler_core.cluster.descheduler.table import PLUGINS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.readers import At, DocumentRoot, Report
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY
from scheduler_core.settings.settings import SETTINGS_KIND, read_settings

HEAD: Document = {"apiVersion": V1ALPHA2, "kind": DESCHEDULER_POLICY}
FIELDS = ("interval", "passes", "dryRun")
DEFAULT_PROFILE = "default"
MOST_PROFILES = 20
FIRST = "LowNodeUtilization"
"""The plugin of a descheduler that a form adds."""
INTERVAL = "5m"


def run_descheduler(settings: Document, name: str, value: str) -> Document:
    """Return the settings with a field of ``descheduler`` changed; "" restores its default.

    Raises:
        EditError: There is no such field, or its value is invalid.
    """
    if name not in FIELDS:
        raise EditError(f"The descheduler has no setting {name[:40]!r}; it is one of {', '.join(FIELDS)}.")
    written: Any = {"passes": _number, "dryRun": _switch}.get(name, str)(value) if value else None
    changed = with_field(dict(settings.get("descheduler") or {}), name, written, None)
    made = {**settings, "descheduler": changed}
    report = Report()
    read_settings(made, At(report, None, DocumentRoot(SETTINGS_KIND)))
    for _, message in report.errors:
        raise EditError(f"{name}: {message}.")
    return made


def _number(value: str) -> int | str:
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else value


def _switch(value: str) -> bool | str:
    return value == "true" if value in ("true", "false") else value


def with_descheduler(documents: Sequence[Document], value: str) -> tuple[Document, ...]:
    """Return the documents of a bundle with a descheduler, if ``value`` is "on", or for "" without one.

    A policy that is there stays as it is; without one a policy of :data:`FIRST` is added. Taking it out
    removes the policy too, which would do nothing.

    Raises:
        EditError: ``value`` is neither.
    """
    if value not in ("on", ""):
        raise EditError(f"A descheduler is on, or nothing, not {value[:40]!r}.")
    kept = [one for one in documents if value == "on" or one.get("kind") != DESCHEDULER_POLICY]
    place = next((at for at, one in enumerate(kept) if one.get("kind") == SETTINGS_KIND), None)
    settings: Document = {"apiVersion": "podstep/v1", "kind": SETTINGS_KIND} if place is None else kept[place]
    given = settings.get("descheduler") or {"interval": INTERVAL}
    settings = with_field(dict(settings), "descheduler", given if value == "on" else None, None)
    written = [settings] if set(settings) > {"apiVersion", "kind"} else []
    place = len(kept) if place is None else place
    kept[place : place + 1] = written
    if value == "on" and not any(one.get("kind") == DESCHEDULER_POLICY for one in kept):
        kept.append(enable_strategy(HEAD, FIRST, "on"))
    return tuple(kept)


def change_profile(policy: Document, name: str, value: str) -> Document:
    """Return a v1alpha2 policy with a profile called ``value``: the one at index ``name``, "+" a new one.

    "" removes the profile at that index.

    Raises:
        EditError: There is no such profile, the policy is another edition's, or there are too many.
    """
    profiles = _profiles(policy)
    place = len(profiles) if name == "+" else _place(name, len(profiles))
    if value:
        profiles[place : place + 1] = [{**(profiles[place] if place < len(profiles) else {}), "name": value}]
    elif place < len(profiles) > 1:
        del profiles[place]
    else:
        raise EditError("A policy needs at least one profile: remove the descheduler instead.")
    if len(profiles) > MOST_PROFILES:
        raise EditError(f"The form adds profiles up to {MOST_PROFILES}: write more as YAML.")
    return {**policy, "profiles": profiles}


def enable_strategy(policy: Document, name: str, value: str) -> Document:
    """Return a v1alpha2 policy with a plugin enabled with arguments, or taken out.

    ``name`` is the plugin's, after the index of its profile and a slash if it is not the first one's.
    ``value`` are its ``args`` as JSON, "on" enables it with those that it has or cannot do without, and
    "" takes it out. What they may be is checked with the bundle. DefaultEvictor runs in any case: its
    arguments alone change.

    Raises:
        EditError: There is no such plugin or profile, the policy is another edition's, or the value is no
            JSON object.
    """
    index, _, name = name.rpartition("/")
    if name not in (DEFAULT_EVICTOR, *PLUGINS):
        raise EditError(f"There is no plugin {name[:60]!r}; known are {', '.join(PLUGINS)}.")
    profiles = _profiles(policy)
    place = _place(index or "0", len(profiles))
    profile = dict(profiles[place])
    configs = list(profile.get("pluginConfig") or ())
    at = next((at for at, one in enumerate(configs) if one.get("name") == name), len(configs))
    if not value:
        del configs[at : at + 1]
    elif value != "on":
        configs[at : at + 1] = [{"name": name, "args": read_json(value, dict, f"The args of {name}")}]
    elif at == len(configs):
        starting = PLUGINS[name].starting if name in PLUGINS else {}
        configs.append({"name": name, "args": dict(starting)})
    profile["pluginConfig"] = configs
    if name in PLUGINS:
        profile["plugins"] = _enabled(profile.get("plugins") or {}, name, on=bool(value))
    return {**policy, "profiles": [*profiles[:place], profile, *profiles[place + 1 :]]}


def _enabled(points: Mapping[str, Any], name: str, *, on: bool) -> Document:
    """Return the plugins of a profile with one enabled at its point, in place, or not."""
    made, point = {key: dict(one or {}) for key, one in points.items()}, PLUGINS[name].point
    listed = list(made.get(point, {}).get("enabled") or ())
    if not on:
        listed = [one for one in listed if one != name]
    elif name not in listed:
        listed.append(name)
    return {**made, point: {**made.get(point, {}), "enabled": listed}}


def _profiles(policy: Document) -> list[Document]:
    """Return the profiles of a v1alpha2 policy, one that is empty if it has none. Raises EditError."""
    if policy.get("apiVersion") != V1ALPHA2:
        written = str(policy.get("apiVersion"))[:60]
        raise EditError(f"The form changes policies of {V1ALPHA2}; edit one of {written} as YAML.")
    return list(policy.get("profiles") or ()) or [{"name": DEFAULT_PROFILE}]


def _place(text: str, most: int) -> int:
    """Read the index of a profile below ``most``. Raises EditError."""
    if not (text.isascii() and text.isdecimal() and len(text) < 4 and int(text) < most):
        raise EditError(f"The policy has no profile {text[:20]!r}: they are counted from 0.")
    return int(text)
