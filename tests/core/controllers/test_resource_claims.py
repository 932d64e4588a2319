"""The resourceclaim controller: names, ownership, orphans, and what a pod's end does to its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.cluster.controllers.resource_claims import (
    CLAIM,
    FINALIZER,
    POD_CLAIM_NAME,
    TEMPLATE,
    ClaimWrite,
    ResourceClaimController,
    claim_names,
    generate_name,
)

DEVICES = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}


class Stored:
    """Objects by kind and name, all in one namespace."""

    def __init__(self, *objects: Mapping[str, Any]) -> None:
        self.objects = {(one["kind"], one["metadata"]["name"]): one for one in objects}

    def get(self, kind: str, namespace: str | None, name: str) -> Mapping[str, Any] | None:
        """Return an object of the namespace ``ml``."""
        return self.objects.get((kind, name)) if namespace == "ml" else None


def template(name: str = "gpus") -> dict[str, Any]:
    """Return a template with labels and annotations for its claims."""
    metadata = {"labels": {"team": "a"}, "annotations": {"note": "b"}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": TEMPLATE,
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"metadata": metadata, "spec": DEVICES},
    }


def pod(*entries: dict[str, Any], **status: Any) -> dict[str, Any]:
    """Return a pod with entries in ``resourceClaims``."""
    return {
        "kind": "Pod",
        "metadata": {"name": "train-0", "namespace": "ml", "uid": "u1"},
        "spec": {"resourceClaims": list(entries)},
        "status": status,
    }


def entry(name: str, made_from: str = "gpus") -> dict[str, Any]:
    """Return an entry that names a template."""
    return {"name": name, "resourceClaimTemplateName": made_from}


def test_a_claim_is_made_from_the_template_and_owned_by_the_pod() -> None:
    """Its name is the pod's, the entry's and a suffix; it has the template's labels and specification."""
    made = ResourceClaimController().claims_for(pod(entry("gpu")), Stored(template()))
    (claim,) = made.claims
    meta = claim["metadata"]
    assert meta["name"].startswith("train-0-gpu-")
    assert len(meta["name"]) == len("train-0-gpu-") + 5
    assert meta["labels"] == {"team": "a"}
    assert meta["annotations"] == {"note": "b", POD_CLAIM_NAME: "gpu"}
    (owner,) = meta["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == ("Pod", "train-0", "u1", True)
    assert (claim["kind"], claim["spec"]) == (CLAIM, DEVICES)
    assert made.statuses == ({"name": "gpu", "resourceClaimName": meta["name"]},)
    again = ResourceClaimController().claims_for(pod(entry("gpu")), Stored(template()))
    assert again == made


def test_a_name_that_is_taken_gets_another_suffix() -> None:
    """A claim of that name that the pod does not own is left alone."""
    (first,) = ResourceClaimController().claims_for(pod(entry("gpu")), Stored(template())).claims
    taken = {"kind": CLAIM, "metadata": {"name": first["metadata"]["name"], "namespace": "ml"}}
    (other,) = ResourceClaimController().claims_for(pod(entry("gpu")), Stored(template(), taken)).claims
    assert other["metadata"]["name"] != first["metadata"]["name"]
    assert other["metadata"]["generateName"] == "train-0-gpu-"


@pytest.mark.parametrize(
    ("name", "claim", "base"),
    [
        ("p", "c", "p-c-"),
        ("p" * 54, "c", "p" * 54 + "-c-"),
        ("p" * 55, "c", "p" * 54 + "--"),
        ("p" * 60, "c" * 60, "p" * 28 + "-" + "c" * 28 + "-"),
    ],
)
def test_long_names_are_cut_in_proportion(name: str, claim: str, base: str) -> None:
    """With the suffix, a name has at most 63 characters."""
    assert generate_name(name, claim) == base
    assert len(base) + 5 <= 63


def test_a_pod_keeps_the_claims_that_its_status_names() -> None:
    """Only the entry without a claim gets one; an entry that needs none stays without."""
    mine: dict[str, Any] = {
        "kind": CLAIM,
        "metadata": {
            "name": "own",
            "namespace": "ml",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "uid": "u1", "controller": True}],
        },
    }
    statuses = [{"name": "a", "resourceClaimName": "own"}, {"name": "b"}]
    given = pod(entry("a"), entry("b"), entry("c"), resourceClaimStatuses=statuses)
    made = ResourceClaimController().claims_for(given, Stored(template(), mine))
    (claim,) = made.claims
    assert claim["metadata"]["annotations"][POD_CLAIM_NAME] == "c"
    assert made.statuses == (*statuses, {"name": "c", "resourceClaimName": claim["metadata"]["name"]})
    mine["metadata"]["ownerReferences"][0]["uid"] = "another"
    first, _ = ResourceClaimController().claims_for(given, Stored(template(), mine)).claims
    assert first["metadata"]["annotations"][POD_CLAIM_NAME] == "a", "another pod's claim does not serve it"


def test_an_orphan_is_found_by_its_annotation() -> None:
    """A claim that the pod owns, but whose status does not name it, is not made twice."""
    controller = ResourceClaimController()
    (claim,) = controller.claims_for(pod(entry("gpu")), Stored(template())).claims
    controller.note(claim)
    again = controller.claims_for(pod(entry("gpu")), Stored(template(), claim))
    assert again.claims == ()
    assert again.statuses == ({"name": "gpu", "resourceClaimName": claim["metadata"]["name"]},)


def test_a_missing_template_is_reported_in_upstreams_words() -> None:
    """Claims before it are made, but the status is not written; the problem ends with the template."""
    controller = ResourceClaimController()
    made = controller.claims_for(pod(entry("a"), entry("b", "gone")), Stored(template()))
    assert len(made.claims) == 1
    assert made.statuses is None
    assert controller.problems == {
        "ml/train-0": 'PodResourceClaim b: resource claim template "gone": '
        'resourceclaimtemplate.resource.k8s.io "gone" not found'
    }
    controller.claims_for(pod(entry("a"), entry("b", "gone")), Stored(template(), template("gone")))
    assert controller.problems == {}


@pytest.mark.parametrize("status", [{"phase": "Succeeded"}, {"phase": "Failed"}])
def test_a_pod_that_is_done_gets_no_claim(status: dict[str, Any]) -> None:
    """No container of it will run again."""
    made = ResourceClaimController().claims_for(pod(entry("gpu"), **status), Stored(template()))
    assert (made.claims, made.statuses) == ((), None)


def allocated(*uids: str, owner: str = "", finalizer: str = FINALIZER) -> dict[str, Any]:
    """Return an allocated claim that is reserved for pods."""
    owners = [{"apiVersion": "v1", "kind": "Pod", "uid": owner, "controller": True}] if owner else []
    return {
        "kind": CLAIM,
        "metadata": {
            "name": "c",
            "namespace": "ml",
            "finalizers": [finalizer],
            "ownerReferences": owners,
        },
        "status": {"allocation": {"devices": {}}, "reservedFor": [{"uid": uid} for uid in uids]},
    }


def freed(claim: dict[str, Any]) -> list[ClaimWrite]:
    """Return what becomes of a claim when the pod ``u1`` is gone."""
    gone = pod({"name": "x", "resourceClaimName": "c"})
    return list(ResourceClaimController().freed("ml/train-0", "u1", claim_names(gone), Stored(claim)))


def test_the_last_reservation_takes_the_allocation_with_it() -> None:
    """First the status is written, then the finalizer goes; a claim of its own stays."""
    first, second = freed(allocated("u1"))
    assert first.claim["status"] == {}
    assert first.claim["metadata"]["finalizers"] == [FINALIZER]
    assert second.claim["metadata"]["finalizers"] == []
    assert not second.deleted


def test_a_shared_claim_stays_allocated() -> None:
    """Only the reservation ends."""
    (write,) = freed(allocated("u1", "u2"))
    assert write.claim["status"] == {"allocation": {"devices": {}}, "reservedFor": [{"uid": "u2"}]}


def test_an_allocation_without_the_schedulers_finalizer_stays() -> None:
    """It was made by another allocator."""
    (write,) = freed(allocated("u1", finalizer="other"))
    assert write.claim["status"] == {"allocation": {"devices": {}}}


def test_a_claim_that_was_made_for_the_pod_is_deleted() -> None:
    """Unless another pod has reserved it, which the API permits."""
    assert [write.deleted for write in freed(allocated("u1", owner="u1"))] == [False, False, True]
    assert [write.deleted for write in freed(allocated("u1", "u2", owner="u1"))] == [False]
