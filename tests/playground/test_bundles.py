"""What visitors give: read within bounds, stored, and given back."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from playground.models import Draft, Run, Scenario, Share
from playground.storage import bundles, store
from scheduler_core.kubernetes.problems import BundleError
from tests.playground.conftest import DATA, OWNER


def test_stored_content_is_the_same_scenario(web: str) -> None:
    """Restoring what was packed gives the same id."""
    scenario = bundles.parse([("", web)], "a title")
    assert bundles.restore(bundles.pack(bundles.content_of(scenario))).id == scenario.id


@pytest.mark.parametrize("name", ["web", "preempt"])
def test_the_bundle_can_be_read_again(name: str) -> None:
    """The YAML that we give is a bundle of the same scenario."""
    scenario = bundles.parse([("", (DATA / f"{name}.yaml").read_text())], "t")
    assert bundles.parse([("", bundles.bundle_text(scenario))], "t").id == scenario.id


def test_texts_that_look_like_numbers_stay_texts(web: str) -> None:
    """A label such as a template hash may read as a number in YAML; it is given back in quotes."""
    labels = "labels: {a: '1e3', b: '0x1F', c: 'yes', d: '12345e678', e: 'null'}"
    text = web.replace("name: n2", f"name: n2\n  {labels}")
    scenario = bundles.parse([("", text)])
    assert bundles.parse([("", bundles.bundle_text(scenario))]).id == scenario.id


def test_real_clusters_are_given_back_as_they_were_read(shared_folder: Path) -> None:
    """What kubectl printed, shared and exported, is the same scenario."""
    for folder in ("gke", "pending"):
        files = [
            (path.name, path.read_text()) for path in sorted((shared_folder / "dumps" / folder).iterdir())
        ]
        scenario = bundles.parse(files, folder)
        assert bundles.restore(bundles.pack(bundles.content_of(scenario))).id == scenario.id
        assert bundles.parse([("", bundles.bundle_text(scenario))], folder).id == scenario.id


def test_an_empty_bundle_says_what_to_do() -> None:
    """Nothing at all is an error with advice."""
    with pytest.raises(BundleError, match="Paste manifests"):
        bundles.parse([("", " \n")])


def test_an_empty_list_says_what_to_do() -> None:
    """An empty list is what `kubectl get` prints in the wrong namespace: it is refused with advice."""
    with pytest.raises(BundleError, match="paste the output of `kubectl get"):
        bundles.parse([("", "apiVersion: v1\nkind: List\nitems: []\n")])


def test_a_bundle_that_is_too_large(limits: Any, web: str) -> None:
    """The limit is reported with the size."""
    limits(BUNDLE_BYTES=100)
    with pytest.raises(bundles.TooLargeError, match="at most 100 are read"):
        bundles.parse([("", web)])


def test_too_many_nodes(limits: Any, web: str) -> None:
    """So is the number of nodes."""
    limits(NODES=2)
    with pytest.raises(bundles.TooLargeError, match="3 nodes; at most 2"):
        bundles.parse([("", web)])


def test_a_policy_that_cannot_be_used_is_an_error_of_the_bundle(web: str) -> None:
    """Its problems are reported when it is read, not when it is played."""
    policy = "\n---\n{apiVersion: v1, kind: Policy, predicates: [{name: NoSuchPredicate}]}"
    with pytest.raises(BundleError, match="NoSuchPredicate"):
        bundles.parse([("", web + policy)])


def test_gzip_is_unpacked_within_bounds(limits: Any) -> None:
    """A small file that unpacks to a huge one is stopped on the way."""
    limits(BUNDLE_BYTES=10_000)
    assert bundles.decode("a.gz", gzip.compress(b"kind: Node")) == "kind: Node"
    with pytest.raises(bundles.TooLargeError):
        bundles.decode("bomb.gz", gzip.compress(b"0" * 50_000_000))


@pytest.mark.parametrize(
    "data", [b"\x89PNG\xff\x00k", gzip.compress(b"x" * 99)[:20]], ids=["binary", "broken gzip"]
)
def test_files_that_are_no_text(data: bytes) -> None:
    """Binary and broken files are named."""
    with pytest.raises(BundleError) as caught:
        bundles.decode("photo.png", data)
    assert caught.value.problems[0].file == "photo.png"


def test_many_problems_are_listed_up_to_a_number() -> None:
    """The rest is counted."""
    from scheduler_core.kubernetes.problems import Problem

    wire = bundles.problems_wire([Problem(str(i)) for i in range(150)])
    assert len(wire) == 101
    assert wire[-1]["message"] == "and 50 more like these"


@pytest.mark.django_db
def test_the_same_content_has_the_same_id_and_each_share_its_token(web: str) -> None:
    """Taking one share back leaves the other; the scenario goes with the last."""
    first = store.share(bundles.parse([("", web)]))
    second = store.share(bundles.parse([("", web)]))
    assert first.scenario == second.scenario
    assert len(first.scenario.short) == 11
    assert first.delete_token != second.delete_token
    assert not store.unshare(first.scenario, "guessed")
    assert store.unshare(first.scenario, first.delete_token)
    assert not store.unshare(first.scenario, first.delete_token)
    assert store.find_scenario(second.scenario.short)
    assert store.unshare(first.scenario, second.delete_token)
    assert not Scenario.objects.exists()


@pytest.mark.django_db
def test_tokens_are_not_stored(web: str) -> None:
    """Whoever reads the database cannot delete with what stands there."""
    shared = store.share(bundles.parse([("", web)]))
    assert shared.delete_token not in Share.objects.get().token


@pytest.mark.django_db
def test_a_short_id_grows_where_two_begin_alike(web: str) -> None:
    """A collision gives the second scenario one more character, and both are found."""
    scenario = bundles.parse([("", web)])
    digest = store.address_of("", web)
    other = Scenario.objects.create(
        digest=digest[:11] + "x" * 32, short=digest[:11], content=b"", size=0, nodes=0, pods=0
    )
    Share.objects.create(scenario=other, token="t")
    shared = store.share(scenario, text=web)
    assert shared.scenario.short == digest[:12]
    for length in (12, 20, 43):
        assert store.find_scenario(digest[:length]) == shared.scenario
    assert store.find_scenario(other.short) == other


@pytest.mark.django_db
@pytest.mark.parametrize("short", ["", "short", "x" * 11, "x" * 44, "%" * 11])
def test_ids_that_are_not_there(short: str, web: str) -> None:
    """Nothing is found by less than eleven characters or by a pattern."""
    store.share(bundles.parse([("", web)]))
    assert store.find_scenario(short) is None


@pytest.mark.django_db
def test_case_matters_in_ids(web: str) -> None:
    """Base64 distinguishes letters that some databases do not."""
    shared = store.share(bundles.parse([("", web)]))
    assert store.find_scenario(shared.scenario.short.swapcase()) is None


@pytest.mark.django_db
def test_a_scenario_that_a_run_needs_loses_its_link_only(web: str) -> None:
    """The run can still be opened."""
    shared = store.share(bundles.parse([("", web)]))
    Run.objects.create(scenario=shared.scenario, owner=OWNER)
    assert store.unshare(shared.scenario, shared.delete_token)
    assert store.find_scenario(shared.scenario.short) is None
    assert Scenario.objects.exists()


@pytest.mark.django_db
def test_drafts_are_bounded_in_number_and_size(limits: Any) -> None:
    """The least recently changed drafts go; a text too large is refused."""
    limits(DRAFTS_PER_OWNER=2, DRAFT_BYTES=10)
    for title in ("a", "b", "c"):
        store.create_draft(OWNER, [("", "x")], title)
    store.create_draft("somebody else", [("", "x")], "d")
    assert set(Draft.objects.values_list("title", flat=True)) == {"b", "c", "d"}
    draft = Draft.objects.get(title="b")
    with pytest.raises(bundles.TooLargeError):
        store.save_draft(draft, "x" * 11)
    assert store.save_draft(draft, "y" * 10, " new\n title ").revision == 2
    draft.refresh_from_db()
    assert (draft.title, store.draft_text(draft)) == ("new title", "y" * 10)


@pytest.mark.django_db
def test_a_draft_of_several_files_is_one_text(web: str) -> None:
    """Its documents are shown as one bundle."""
    documents = web.split("\n---\n")
    draft = store.create_draft(OWNER, [("a.yaml", documents[0]), ("b.yaml", "\n---\n".join(documents[1:]))])
    assert bundles.parse([("", store.draft_text(draft))]).id == bundles.parse([("", web)]).id


def test_a_very_large_bundle_is_given_as_json(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be read again all the same."""
    monkeypatch.setattr(bundles, "YAML_BYTES", 10)
    scenario = bundles.parse([("", web)])
    text = bundles.bundle_text(scenario)
    assert text.startswith("{")
    assert bundles.parse([("", text)]).id == scenario.id


def test_gzip_that_is_corrupt_within_is_reported() -> None:
    """A head as it should be and nothing sensible behind it is an error of the file, not of ours."""
    with pytest.raises(BundleError, match="cannot be unpacked"):
        bundles.decode("a.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"\xff" * 50)
