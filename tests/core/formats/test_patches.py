"""Patches: what each kind makes of an object, and what is said of one that cannot be applied."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.formats.difference import merge_patch, smallest_patch, without_nulls
from scheduler_core.formats.json_patch import same
from scheduler_core.formats.patch import PatchError, apply_patch, has_strategic
from tests.core.trials import trials

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "finalizers": ["a", "b"], "labels": {"app": "web"}},
    "spec": {
        "containers": [
            {"name": "web", "image": "web:1", "ports": [{"containerPort": 80}, {"containerPort": 443}]},
            {"name": "log", "image": "log:1"},
        ],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "volumes": [{"name": "data", "emptyDir": {}}],
    },
}
SERVICE = {"spec": {"ports": [{"port": 80, "name": "http"}, {"port": 443, "name": "https"}]}}


@pytest.mark.parametrize(
    ("patch", "path", "expected"),
    [
        ({"spec": {"containers": [{"name": "log", "image": "log:2"}]}}, "spec.containers.1.image", "log:2"),
        ({"spec": {"containers": [{"name": "log", "$patch": "delete"}]}}, "spec.containers.#", 1),
        (
            {"spec": {"containers": [{"$patch": "replace"}, {"name": "x"}]}},
            "spec.containers",
            [{"name": "x"}],
        ),
        (
            {"spec": {"containers": [{"name": "web", "ports": [{"containerPort": 443, "hostPort": 1}]}]}},
            "spec.containers.0.ports",
            [{"containerPort": 80}, {"containerPort": 443, "hostPort": 1}],
        ),
        ({"spec": {"tolerations": [{"key": "b"}]}}, "spec.tolerations", [{"key": "b"}]),
        ({"metadata": {"finalizers": ["b", "c"]}}, "metadata.finalizers", ["a", "b", "c"]),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}, "metadata.finalizers", ["b"]),
        ({"metadata": {"labels": {"$patch": "replace", "x": "y"}}}, "metadata.labels", {"x": "y"}),
        (
            {"metadata": {"labels": {"$patch": "delete"}}},
            "metadata",
            {"name": "web", "finalizers": ["a", "b"]},
        ),
        (
            {
                "spec": {
                    "volumes": [
                        {"name": "data", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}
                    ]
                }
            },
            "spec.volumes",
            [{"name": "data", "hostPath": {"path": "/"}}],
        ),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "log"}, {"name": "web"}], "containers": []}},
            "spec.containers.0.name",
            "log",
        ),
    ],
)
def test_a_strategic_merge_patch_merges_lists_by_their_keys(
    patch: dict[str, Any], path: str, expected: Any
) -> None:
    """Containers merge by name, ports by number, finalizers as a set; tolerations are replaced."""
    before = copy.deepcopy(POD)
    value: Any = apply_patch(POD, patch, "strategic")
    for step in path.split("."):
        value = len(value) if step == "#" else value[int(step) if step.isdigit() else step]
    assert value == expected
    assert before == POD


def test_the_ports_of_a_service_merge_by_port() -> None:
    """A Service's ports have another key than a container's."""
    patch = {"spec": {"ports": [{"port": 443, "name": "tls"}]}}
    assert apply_patch(SERVICE, patch, "strategic")["spec"]["ports"] == [
        {"port": 80, "name": "http"},
        {"port": 443, "name": "tls"},
    ]


@pytest.mark.parametrize(
    ("version", "answer"),
    [("v1", True), ("apps/v1", True), ("storage.k8s.io/v1", True), ("scheduling.k8s.io/v1alpha1", True),
     ("scheduling.sigs.k8s.io/v1alpha1", False), ("scheduling.x-k8s.io/v1alpha1", False),
     ("example.com/v1", False)],
)  # fmt: skip
def test_custom_resources_have_no_strategic_merge_patch(version: str, answer: bool) -> None:
    """The API server merges strategically what it has types of."""
    assert has_strategic({"apiVersion": version}) is answer


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [  # the examples of RFC 6902, appendix A
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
        ({"foo": ["b", "c"]}, [{"op": "add", "path": "/foo/1", "value": "q"}], {"foo": ["b", "q", "c"]}),
        ({"foo": ["bar", "q"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar"]}),
        ({"foo": "bar"}, [{"op": "replace", "path": "/foo", "value": None}], {"foo": None}),
        (
            {"foo": {"bar": "baz", "w": "f"}, "qux": {"c": "g"}},
            [{"op": "move", "from": "/foo/w", "path": "/qux/t"}],
            {"foo": {"bar": "baz"}, "qux": {"c": "g", "t": "f"}},
        ),
        (
            {"foo": ["all", "grass", "cows", "eat"]},
            [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
            {"foo": ["all", "cows", "eat", "grass"]},
        ),
        ({"foo": "b"}, [{"op": "add", "path": "/new", "value": {"g": {}}}], {"foo": "b", "new": {"g": {}}}),
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "q", "xyz": 1}], {"foo": "bar", "baz": "q"}),
        ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["a"]}], {"foo": ["bar", ["a"]]}),
        ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
        ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}),
        ({"a/b": 1}, [{"op": "remove", "path": "/a~1b"}], {}),
        ({"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/0", "value": 0}],
         {"a": [1], "b": [0, 1]}),
    ],
)  # fmt: skip
def test_a_json_patch_does_what_the_rfc_says(document: Any, patch: Any, expected: Any) -> None:
    """Each operation, at objects and lists, with escapes in its pointer."""
    assert apply_patch(document, patch, "json") == expected
    assert apply_patch(document, json.dumps(patch), "application/json-patch+json") == expected


@pytest.mark.parametrize(
    ("patch", "place", "said"),
    [
        ({"op": "add"}, (), "must be a list of operations"),
        ([5], (0,), "must be an object with op and path"),
        ([{"path": "/a"}], (0, "op"), "op must be one of add, replace, remove, test, move, copy"),
        ([{"op": "ad", "path": "/a", "value": 1}], (0, "op"), "did you mean 'add'?"),
        ([{"op": "add", "value": 1}], (0, "path"), "path is missing"),
        ([{"op": "add", "path": "a", "value": 1}], (0, "path"), "must be a pointer"),
        ([{"op": "add", "path": "/a~2", "value": 1}], (0, "path"), "~ must be followed by"),
        ([{"op": "add", "path": "/a"}], (0, "value"), "value is missing"),
        ([{"op": "add", "path": "/metdata/x", "value": 1}], (0, "path"), "did you mean 'metadata'?"),
        ([{"op": "replace", "path": "/status", "value": 1}], (0, "path"), "to replace"),
        (
            [{"op": "remove", "path": "/metadata/nam"}],
            (0, "path"),
            "there is no 'nam' to remove: did you mean",
        ),
        ([{"op": "remove", "path": "/spec/containers/2"}], (0, "path"), "the list has no item 2: it has 2"),
        ([{"op": "remove", "path": "/spec/containers/-"}], (0, "path"), "the index after the last item"),
        ([{"op": "remove", "path": "/spec/containers/01"}], (0, "path"), "not a list index"),
        ([{"op": "remove", "path": ""}], (0, "path"), "the whole object cannot be removed"),
        ([{"op": "test", "path": "/metadata/name", "value": "x"}], (0, "value"), "the tested value differs"),
        ([{"op": "test", "path": "/metadata/name"}], (0, "value"), "value is missing"),
        (
            [{"op": "move", "from": "/spec", "path": "/spec/x"}],
            (0, "path"),
            "cannot be moved into its own child",
        ),
        ([{"op": "copy", "from": "/specs", "path": "/x"}], (0, "from"), "did you mean 'spec'?"),
        ("[{", (), "not valid JSON"),
        ("[NaN]", (), "NaN"),
    ],
)
def test_a_json_patch_that_cannot_be_applied_says_where_and_why(
    patch: Any, place: tuple[Any, ...], said: str
) -> None:
    """The operation's number and field, and what would be right."""
    with pytest.raises(PatchError) as raised:
        apply_patch(POD, patch, "json")
    assert raised.value.path == place
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("patch", "place", "said"),
    [
        ([], (), "must be an object"),
        ({"spec": {"containers": [{"image": "x"}]}}, ("spec", "containers", 0), "needs name"),
        ({"spec": {"containers": [1]}}, ("spec", "containers", 0), "must be an object"),
        ({"metadata": {"$patch": "remove"}}, ("metadata", "$patch"), "must be one of merge, replace, delete"),
        ({"$what": 1}, (), "not a directive"),
        ({"$retainKeys": 1}, ("$retainKeys",), "must be a list"),
    ],
)
def test_a_strategic_patch_that_cannot_be_applied_says_where_and_why(
    patch: Any, place: tuple[Any, ...], said: str
) -> None:
    """Lists without keys and unknown directives have their place."""
    with pytest.raises(PatchError) as raised:
        apply_patch(POD, patch, "strategic")
    assert raised.value.path == place
    assert said in raised.value.message


def test_copies_of_copies_are_bounded() -> None:
    """Forty operations that each double the object are refused before they have."""
    doubling = [{"op": "copy", "from": "", "path": f"/c{n}"} for n in range(40)]
    with pytest.raises(PatchError, match="larger than"):
        apply_patch(POD, doubling, "json")


def test_objects_do_not_grow_deeper_without_end() -> None:
    """A patch after another that adds levels is refused where the object becomes too deep."""
    deep: Any = {}
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(PatchError, match="deeper than"):
        apply_patch(deep, [{"op": "add", "path": "/a" * 50, "value": deep}], "json")


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "b/c", "~"]))
NAMES = st.sampled_from(["a", "b", "name", "x/y", "t~", "containers", "0", ""])
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(NAMES, v, max_size=3), max_leaves=10
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)


@given(OBJECTS, OBJECTS)
@settings(max_examples=trials(150))
def test_the_difference_applied_is_the_other_object(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Of any two objects: the merge patch, and the smallest patch, make the second of the first."""
    cleared = without_nulls(before)
    assert without_nulls(apply_patch(cleared, merge_patch(cleared, after), "merge")) == without_nulls(after)
    kind, patch = smallest_patch(before, after)
    assert without_nulls(apply_patch(before, patch, kind)) == without_nulls(after)


def _pointers(value: Any, at: str = "") -> list[str]:
    out = [at]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        out += _pointers(part, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}")
    return out


def _look_up(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@given(st.data())
@settings(max_examples=trials(150))
def test_random_json_patches_keep_the_laws_of_their_operations(data: st.DataObject) -> None:
    """Replace then test holds, copy makes equals, remove undoes add; the given object is never changed."""
    document = data.draw(OBJECTS)
    kept = copy.deepcopy(document)
    pointers = _pointers(document)
    place = data.draw(st.sampled_from(pointers))
    value = data.draw(VALUES)
    replaced = apply_patch(
        document,
        [{"op": "replace", "path": place, "value": value}, {"op": "test", "path": place, "value": value}],
        "json",
    )
    assert same(_look_up(replaced, place), value)
    copied = apply_patch(document, [{"op": "copy", "from": place, "path": "/new"}], "json")
    assert same(copied["new"], _look_up(document, place))
    moved = [{"op": "move", "from": "/new", "path": "/other"}, {"op": "remove", "path": "/other"}]
    assert same(apply_patch(copied, moved, "json"), document)
    lists = [p for p in pointers if isinstance(_look_up(document, p), list)]
    if lists:
        where = data.draw(st.sampled_from(lists))
        at = data.draw(st.integers(0, len(_look_up(document, where))))
        both = [
            {"op": "add", "path": f"{where}/{at}", "value": value},
            {"op": "remove", "path": f"{where}/{at}"},
        ]
        assert same(apply_patch(document, both, "json"), document)
    assert same(document, kept)


OPERATIONS = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x", 1]),
        "path": st.sampled_from(
            ["", "/", "/a", "/a/b", "/a/0", "/a/-", "/containers/0", "a", "/~3", None, 1]
        ),
        "from": st.sampled_from(["", "/a", "/a/0", "/b", 5]),
        "value": VALUES,
    },
)


@given(
    OBJECTS,
    st.one_of(VALUES, st.lists(OPERATIONS, max_size=4), OBJECTS),
    st.sampled_from(["json", "merge", "strategic"]),
)
@settings(max_examples=trials(200))
def test_any_patch_is_applied_or_refused(document: dict[str, Any], patch: Any, how: str) -> None:
    """No patch makes applying it fail in another way than with a PatchError, and the object stays."""
    kept = copy.deepcopy(document)
    with suppress(PatchError):
        apply_patch(document, patch, how)
    assert same(document, kept)
