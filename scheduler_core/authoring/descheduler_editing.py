"""Changes to a DeschedulerPolicy and to when it runs, as a form makes them."""

from __future__ import annotations

from typing import Any

from scheduler_core.authoring.policy_rewriting import EditError, read_json, with_field
from scheduler_core.cluster.descheduler.policy import KIND, V1ALPHA2
from scheduler_core.cluster.descheduler.table import PLUGINS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.reading import At, DocumentRoot, Report
from scheduler_core.settings.settings import SETTINGS_KIND, read_settings

HEAD: Document = {"apiVersion": V1ALPHA2, "kind": KIND}
FIELDS = ("interval", "passes", "dryRun")
DEFAULT_PROFILE = "default"


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


def enable_strategy(policy: Document, name: str, value: str) -> Document:
    """Return a v1alpha2 policy with a plugin of its first profile enabled with arguments, or taken out.

    ``value`` are its ``args`` as JSON, "" takes it out. What they may be is checked with the bundle.

    Raises:
        EditError: There is no such plugin, the policy is another edition's, or the value is no JSON object.
    """
    if policy.get("apiVersion") != V1ALPHA2:
        written = str(policy.get("apiVersion"))[:60]
        raise EditError(f"The form changes policies of {V1ALPHA2}; edit one of {written} as YAML.")
    if name not in PLUGINS:
        raise EditError(f"There is no plugin {name[:60]!r}; known are {', '.join(PLUGINS)}.")
    first, *others = list(policy.get("profiles") or ()) or [{"name": DEFAULT_PROFILE}]
    point, profile = PLUGINS[name].point, dict(first)
    points = {key: dict(one or {}) for key, one in (profile.get("plugins") or {}).items()}
    enabled = [one for one in points.get(point, {}).get("enabled") or () if one != name]
    configs = list(profile.get("pluginConfig") or ())
    place = next((at for at, one in enumerate(configs) if one.get("name") == name), len(configs))
    if value:
        args = read_json(value, dict, f"The args of {name}")
        configs[place : place + 1] = [{"name": name, "args": args}]
        enabled = list(points.get(point, {}).get("enabled") or ())
        enabled += [] if name in enabled else [name]
    else:
        del configs[place : place + 1]
    points[point] = {**points.get(point, {}), "enabled": enabled}
    return {**policy, "profiles": [{**profile, "pluginConfig": configs, "plugins": points}, *others]}
