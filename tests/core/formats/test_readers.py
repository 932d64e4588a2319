"""Texts of every kind and origin, the hostile ones included."""

from __future__ import annotations

import gzip
import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import BundleError, Limits, load
from scheduler_core.formats.yaml_writer import write_yaml
from tests.core.trials import trials

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"pods": "10"}},
}
TEXT = json.dumps(NODE)


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        TEXT.encode(),
        gzip.compress(TEXT.encode(), mtime=0),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.encode("utf-16"),
        json.dumps(NODE, indent=2).replace("\n", "\r\n"),
        yaml.safe_dump(NODE),
        "---\n# only a comment\n---\n" + yaml.safe_dump(NODE) + "...\n",
        json.dumps([NODE]),
        json.dumps(
            {"kind": "NodeList", "apiVersion": "v1", "items": [{k: NODE[k] for k in ("metadata", "status")}]}
        ),
        json.dumps({"kind": "List", "items": [{"kind": "List", "items": [NODE]}]}),
    ],
    ids=["text", "bytes", "gzip", "bom", "utf-16", "crlf", "yaml", "comments", "array", "typed", "nested"],
)
def test_the_same_node_is_read_from_every_form(data: str | bytes) -> None:
    """Encoding, compression, syntax and lists around it make no difference."""
    scenario = load(data)
    assert [o.meta.name for o in scenario.objects] == ["n1"]
    assert scenario.objects[0].allocatable == {"pods": 10}
    assert scenario.summary == {"Node": 1}


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        (b"", "input is empty"),
        (b"  \n", "input is empty"),
        ("# only a comment", "no document"),
        (b"\x00\x01\x02", "binary data"),
        (b"PK\x03\x04rest", "ZIP"),
        ('error: the server doesn\'t have a resource type "pvx"', "a message of kubectl"),
        ("NAME READY STATUS\nweb-1 1/1 Running", "add -o yaml"),
        (b"---\n" * 100_001, "more than 100,000 documents"),
        (gzip.compress(b"kind: Pod", mtime=0)[:-9], "gzip"),
        ("caf\xe9".encode("latin-1"), "UTF-8"),
        ("kind: \x1b[31mPod", "control character"),
        ("kind: \ud800", "surrogate"),
        ('{"kind": "\\ud800"}', "surrogate"),
        ('{"kind": "\\u0000"}', "not allowed"),
        ('kind: "\\0"', "not allowed"),
        ("[" * 100_000, "nested deeper"),
        ("a: " + "{a: " * 1000, "nested deeper"),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1e999}', "larger than any number"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
        ("a: " + "9" * 5000, "digits"),
        ("? [a]\n: b", "key"),
        ("a: *nothing", "refers to an undefined anchor"),
    ],
)
def test_what_cannot_be_read_says_why(data: str | bytes, reported: str) -> None:
    """Every refusal is a BundleError whose text names the cause."""
    with pytest.raises(BundleError) as caught:
        load(data)
    assert reported in caught.value.problems[0].message or reported in str(caught.value)


def test_aliases_that_multiply_are_counted_as_if_written_out() -> None:
    """A few hundred bytes that name a billion values are refused at once."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(BundleError, match="values"):
        load("\n".join(lines))


@pytest.mark.parametrize(
    ("limits", "reported"),
    [
        (Limits(size=10), "larger than"),
        (Limits(documents=1), "more than 1 manifests"),
        (Limits(pods=2), "more than 2 pods"),
        (Limits(replicas=2), "at most 2 pods"),
        (Limits(values=20), "more than 20 values"),
    ],
)
def test_each_bound_is_kept_and_named(limits: Limits, reported: str) -> None:
    """Whatever goes beyond a limit is an error that says which."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    with pytest.raises(BundleError, match=reported):
        load(json.dumps([NODE, deployment]), limits=limits)


def test_problems_of_several_files_come_together() -> None:
    """One broken file does not hide what is wrong in another, and each problem names its file."""
    with pytest.raises(BundleError) as caught:
        load([("one.yaml", "kind: ["), ("two.json", '{"kind": "Pod", "apiVersion": "v1"}')])
    assert [p.file for p in caught.value.problems] == ["one.yaml", "two.json", "two.json"]


def test_a_bundle_full_of_mistakes_lists_a_bounded_number() -> None:
    """Beyond the bound the rest is counted, not listed."""
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{i}"}, "spec": {}} for i in range(1000)
    ]
    with pytest.raises(BundleError) as caught:
        load(json.dumps(pods), limits=Limits(problems=50))
    assert len(caught.value.problems) == 51
    assert caught.value.problems[-1].message == "and 950 more problems of the same input"


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=20),
    st.sampled_from(["y", "no", "1e3", "0x1F", "010", "12:30", "~", "", "null", "<<", "=", "2019-01-01",
                     "- a", "a: b", "\t x", "a\nb", " a\n\nb\n"]),
)  # fmt: skip
KEYS = st.one_of(
    st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=8), st.sampled_from(["y", "1", "<<"])
)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(KEYS, v, max_size=3), max_leaves=12
)


@given(VALUES)
@settings(max_examples=trials(150))
def test_documents_written_as_yaml_read_back_equal(value: object) -> None:
    """What is exported is read again as exactly the same, odd keys and scalars included."""
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": value}
    scenario = load(write_yaml([document]))
    assert list(scenario.documents) == [document]
    assert load(scenario.to_yaml()).id == scenario.id


@given(st.text(st.sampled_from("ab:-[]{}&*!|>'\"%@#,?~ \n\t<0"), max_size=60))
@settings(max_examples=trials(200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes loading fail in another way than with a BundleError."""
    try:
        load(text)
    except BundleError as refused:
        found = refused.problems
    else:
        return
    assert found


def test_what_is_noteworthy_is_reported_beside_what_is_wrong() -> None:
    """A misspelt field is the cause of the missing one; both are listed in the order of the text."""
    text = """apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  contaners: []
---
apiVersion: v1
kind: Gadget
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {memory: 16Gb}}
"""
    with pytest.raises(BundleError) as caught:
        load(text)
    assert [p.line for p in caught.value.problems] == [4, 13]
    assert [(p.line, p.message.partition(":")[0]) for p in caught.value.warnings] == [
        (5, "unknown field spec.contaners in Pod"),
        (8, "1 Gadget is ignored"),
    ]
    assert "did you mean 'containers'?" in caught.value.warnings[0].message


def test_a_kind_that_is_a_mistake_is_not_called_ignored_as_well() -> None:
    """What is wrong with a kind is said once; no warning says that scheduling does not read it."""
    with pytest.raises(BundleError) as caught:
        load("apiVersion: v1\nkind: Nod\nmetadata: {name: a}\n---\nmetadata: {name: b}\n")
    assert [p.line for p in caught.value.problems] == [2, 5]
    assert caught.value.warnings == ()
