"""The scheduler's configuration file: actions, tiers, plugins with switches and arguments (conf, util.go).

The file is YAML 1.1 as gopkg.in/yaml.v2 reads it: unknown fields are passed over, a scalar of any type
becomes a string where one is wanted. What the original only logs is a warning here, what ends its process an
error; both have line and path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import yaml
from msgspec import Struct, field

from scheduler_core.kubernetes.integers import parse_int
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.schedulers.kube_batch.plugin import SWITCHES

ACTION_NAMES = ("allocate", "backfill", "preempt", "reclaim")
PLUGIN_NAMES = ("priority", "gang", "conformance", "drf", "predicates", "proportion", "nodeorder")
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "predicates": (
        "predicate.MemoryPressureEnable",
        "predicate.DiskPressureEnable",
        "predicate.PIDPressureEnable",
    ),
    "nodeorder": (
        "leastrequested.weight",
        "mostrequested.weight",
        "nodeaffinity.weight",
        "podaffinity.weight",
        "balancedresource.weight",
    ),
}
"""The arguments that plugins read; every other one is passed over."""

MOST_CHARACTERS = 256 * 1024
MOST_ACTIONS = 100
MOST_PLUGINS = 200  # in all tiers
MOST_NODES = 20_000  # of the YAML document
MOST_MERGES = 100  # by <<, one inside the other included
MERGE, BOOLEAN = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:bool"

DEFAULT_CONFIGURATION = """\
actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""
"""What runs where no file is given, or it cannot be read (defaultSchedulerConf)."""


class ConfigurationError(ValueError):
    """The file ends the process. ``problems`` has all errors, the message is the original's first one."""

    def __init__(self, message: str, problems: Sequence[Problem]) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class PluginOption(Struct, frozen=True):
    """A plugin listed in a tier; ``off`` are the switches that are false, ``arguments`` are as written."""

    name: str
    off: frozenset[str] = frozenset()
    arguments: Mapping[str, str] = field(default_factory=dict)

    def enabled(self, switch: str) -> bool:
        """Return whether a switch, such as ``enableJobOrder``, is on; all are by default."""
        return switch not in self.off


class Tier(Struct, frozen=True):
    """Plugins whose answers are considered together."""

    plugins: tuple[PluginOption, ...] = ()


class BatchConfiguration(Struct, frozen=True):
    """What sessions run. ``warnings`` are what the original logs and goes on without."""

    actions: tuple[str, ...]
    tiers: tuple[Tier, ...]
    warnings: tuple[Problem, ...] = ()

    def names(self) -> dict[str, PluginOption]:
        """Return each known plugin by name, with the options of its last listing (framework.OpenSession)."""
        return {one.name: one for tier in self.tiers for one in tier.plugins if one.name in PLUGIN_NAMES}


class _Findings(Struct):
    """The problems found so far."""

    merges: int = 0
    errors: list[tuple[str, Problem]] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def error(self, node: yaml.Node | None, path: str, original: str, message: str) -> None:
        self.errors.append((original, Problem(message, path, self.line(node))))

    def warn(self, node: yaml.Node, path: str, message: str) -> None:
        self.warnings.append(Problem(message, path, self.line(node)))

    def line(self, node: yaml.Node | None) -> int | None:
        return None if node is None else node.start_mark.line + 1

    def wrong_type(self, node: yaml.Node, path: str, wanted: str, remedy: str) -> None:
        """Report a value that yaml.v2 cannot unmarshal."""
        tag = node.tag.rpartition(":")[2]
        value = f" `{node.value[:7]}{'...' if len(node.value) > 7 else ''}`" if _scalar(node) else ""
        line = node.start_mark.line + 1
        original = f"yaml: unmarshal errors:\n  line {line}: cannot unmarshal !!{tag}{value} into {wanted}"
        self.error(node, path, original, remedy)


@lru_cache(maxsize=8)
def parse_configuration(text: str | None) -> BatchConfiguration:
    """Parse the file's text; ``None`` is a file that is missing or unreadable.

    Each simulation, and each fork of one, has a kube-batch at its side: milliseconds, unless it is kept.

    Raises:
        ConfigurationError: The original's process would end.
    """
    if text is None:
        text = DEFAULT_CONFIGURATION
    reading = _Findings()
    if len(text) > MOST_CHARACTERS:
        message = f"has {len(text):,} characters: at most {MOST_CHARACTERS:,} are read"
        raise ConfigurationError(message, [Problem(message, line=1)])
    root = _compose(text)
    fields = _fields(root, "", "conf.SchedulerConfiguration", reading)
    tiers = tuple(_tiers(fields.get("tiers"), reading))
    actions = tuple(_actions(root, fields.get("actions"), reading))
    if reading.errors:
        problems = [problem for _, problem in reading.errors]
        raise ConfigurationError(reading.errors[0][0], problems)
    return BatchConfiguration(actions, tiers, tuple(reading.warnings))


class _Tabs(yaml.SafeLoader):
    """Reads tabs between tokens as libyaml does: anywhere but where a block's indentation may begin."""

    def scan_to_next_token(self) -> None:
        """Pass over spaces, tabs, comments and line breaks."""
        if self.index == 0 and self.peek() == "\ufeff":
            self.forward()
        while True:
            while self.peek() == " " or (self.peek() == "\t" and not self._may_indent):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in "\0\r\n\x85\u2028\u2029":
                    self.forward()
            if not self.scan_line_break():  # type: ignore[no-untyped-call]
                return
            if not self.flow_level:
                self.allow_simple_key = True

    @property
    def _may_indent(self) -> bool:
        return bool(self.allow_simple_key and not self.flow_level)


def _compose(text: str) -> yaml.Node | None:
    """Return the first document's node graph."""
    try:
        loader = _Tabs(text) if "\t" in text else yaml.SafeLoader(text)
        try:
            root = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = None if mark is None else mark.line + 1
        reason = getattr(error, "problem", None) or "it cannot be read"
        where = "" if line is None else f"line {line}: "
        problem = Problem(f"is not YAML: {reason}", "", line)
        raise ConfigurationError(f"yaml: {where}{reason}", [problem]) from None
    return root


def _scalar(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode)


def _null(node: yaml.Node | None) -> bool:
    return node is None or (_scalar(node) and node.tag == "tag:yaml.org,2002:null")


def _fields(node: yaml.Node | None, path: str, type_: str, reading: _Findings) -> dict[str, yaml.Node]:
    """Return a mapping's values by key; the last of a repeated key counts, merged ones at their place."""
    if node is None or _null(node):
        return {}
    if not isinstance(node, yaml.MappingNode):
        reading.wrong_type(node, path, type_, "must be an object with fields")
        return {}
    if len(node.value) > MOST_NODES:
        reading.error(node, path, "too large", f"has more than {MOST_NODES:,} fields")
        return {}
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not _scalar(key):
            reading.wrong_type(key, path, "string", "must have keys that are text")
        elif key.tag == MERGE:
            found |= _merged(value, path, type_, reading)
        else:
            found[key.value] = value
    return found


def _merged(node: yaml.Node, path: str, type_: str, reading: _Findings) -> dict[str, yaml.Node]:
    """Return the fields of the mappings that ``<<`` merges; of several the first counts."""
    several = isinstance(node, yaml.SequenceNode)
    found: dict[str, yaml.Node] = {}
    for one in reversed(node.value) if several else [node]:
        reading.merges += 1
        if not isinstance(one, yaml.MappingNode):
            original = "yaml: map merge requires map or sequence of maps as the value"
            reading.error(one, path, original, "can merge with << only objects with fields")
        elif reading.merges > MOST_MERGES:
            message = f"merges more than {MOST_MERGES} times with <<"
            reading.error(one, path, f"yaml: {message}", message)
            return found
        else:
            found |= _fields(one, path, type_, reading)
    return found


def _items(node: yaml.Node | None, path: str, type_: str, reading: _Findings) -> list[yaml.Node]:
    if node is None or _null(node):
        return []
    if not isinstance(node, yaml.SequenceNode):
        reading.wrong_type(node, path, type_, "must be a list: put a '-' before each entry")
        return []
    return list(node.value)


def _text(node: yaml.Node | None, path: str, reading: _Findings) -> str:
    if node is None or _null(node):
        return ""
    if not _scalar(node):
        reading.wrong_type(node, path, "string", "must be text on one line")
        return ""
    return str(node.value)


def _actions(root: yaml.Node | None, node: yaml.Node | None, reading: _Findings) -> Iterable[str]:
    """Split the actions; an unknown one ends the process, contrary to the original's message."""
    written = _text(node, "actions", reading)
    if reading.errors:
        return
    names = written.split(",")
    if len(names) > MOST_ACTIONS:
        reading.error(node, "actions", "too many actions", f"has more than {MOST_ACTIONS} actions")
        return
    for name in names:
        bare = name.strip()
        if bare in ACTION_NAMES:
            yield bare
            continue
        known = f"the actions are {', '.join(ACTION_NAMES)}"
        what = f"{bare!r} is not an action" if bare else "an action is missing"
        remedy = did_you_mean(bare, ACTION_NAMES) or f": {known}"
        original = f"failed to found Action {name}, ignore it"
        reading.error(node if node is not None else root, "actions", original, what + remedy)
        return  # the original stops at the first


def _tiers(node: yaml.Node | None, reading: _Findings) -> Iterable[Tier]:
    count = 0
    for place, tier in enumerate(_items(node, "tiers", "[]conf.Tier", reading)):
        path = f"tiers[{place}]"
        options = []
        listed = _fields(tier, path, "conf.Tier", reading).get("plugins")
        for number, plugin in enumerate(_items(listed, f"{path}.plugins", "[]conf.PluginOption", reading)):
            count += 1
            if count > MOST_PLUGINS:
                message = f"has more than {MOST_PLUGINS} plugins"
                reading.error(plugin, path, message, message)
                return
            options.append(_option(plugin, f"{path}.plugins[{number}]", reading))
        yield Tier(tuple(options))


def _option(node: yaml.Node, path: str, reading: _Findings) -> PluginOption:
    fields = _fields(node, path, "conf.PluginOption", reading)
    name = _text(fields.get("name"), f"{path}.name", reading)
    if name not in PLUGIN_NAMES:
        known = did_you_mean(name, PLUGIN_NAMES) or f": the plugins are {', '.join(PLUGIN_NAMES)}"
        what = f"{name!r} is not a plugin" if name else "the plugin's name is missing"
        reading.warn(fields.get("name", node), f"{path}.name", f"{what}, so nothing runs here{known}")
    off = set()
    for switch in SWITCHES:
        value = fields.get(switch)
        if value is not None and not _null(value) and not _boolean(value, f"{path}.{switch}", reading):
            off.add(switch)
    known_fields = ("name", "arguments", *SWITCHES)
    for field_name, value in fields.items():
        if field_name not in known_fields:
            hint = did_you_mean(field_name, known_fields) or f": known are {', '.join(known_fields)}"
            reading.warn(value, f"{path}.{field_name}", f"is not read{hint}")
    return PluginOption(name, frozenset(off), _arguments(name, fields.get("arguments"), path, reading))


_LETTERS = {"y": True, "Y": True, "n": False, "N": False}  # no booleans to the reader here
_WORDS = {
    form: word in ("yes", "on", "true")
    for word in ("yes", "on", "true", "no", "off", "false")
    for form in (word, word.capitalize(), word.upper())
}


def _boolean(node: yaml.Node, path: str, reading: _Findings) -> bool:
    value = None
    if isinstance(node, yaml.ScalarNode):
        if node.tag == BOOLEAN:
            value = (_WORDS | _LETTERS).get(node.value)
        elif node.style is None:
            value = _LETTERS.get(node.value)
    if value is None:
        reading.wrong_type(node, path, "bool", "must be true or false, without quotes")
    return value is not False


def _arguments(plugin: str, node: yaml.Node | None, path: str, reading: _Findings) -> Mapping[str, str]:
    path += ".arguments"
    found = {}
    known = ARGUMENTS.get(plugin, ())
    for name, value in _fields(node, path, "map[string]string", reading).items():
        found[name] = _text(value, f"{path}.{name}", reading)
        if name not in known and plugin in PLUGIN_NAMES:
            hint = did_you_mean(name, known) or (f": known are {', '.join(known)}" if known else "")
            reading.warn(value, f"{path}.{name}", f"{plugin} reads no such argument{hint}")
        elif found[name] and (reason := _unusable(name, found[name])):
            reading.warn(value, f"{path}.{name}", reason)
    return found


def _unusable(name: str, value: str) -> str:
    """Return why an argument's value is passed over, "" if it is used."""
    if name.startswith("predicate."):
        return "" if parse_bool(value) is not None else f"{value!r} is not true or false: the default is used"
    return "" if parse_int(value) is not None else f"{value!r} is not an integer: the default is used"


def parse_bool(text: str) -> bool | None:
    """Parse as strconv.ParseBool does; ``None`` for anything else."""
    if text in ("1", "t", "T", "TRUE", "true", "True"):
        return True
    return False if text in ("0", "f", "F", "FALSE", "false", "False") else None


def argument(arguments: Mapping[str, str], name: str, default: Any, parse: Callable[[str], Any]) -> Any:
    """Return a plugin's argument; the default where it is absent, empty or not of its type."""
    found = parse(arguments.get(name, ""))
    return default if found is None else found
