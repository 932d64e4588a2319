"""Archives as bundles: what is read of them, what is left out by name, and what is refused."""

from __future__ import annotations

import gzip
import time
import tracemalloc
import zipfile
from collections.abc import Callable

import pytest

from scheduler_core import BundleError, Limits, load
from tests.core.formats.archives import (
    CHART,
    NODE,
    POD,
    VALUES,
    Files,
    encrypted_zip,
    linked_zip,
    overlapping_zip,
    tarred,
    zipped,
)

FILES: Files = {"shop/node.yaml": NODE, "shop/pod.yaml": POD}


def problems(data: bytes, **bounds: int) -> str:
    """Return what is wrong with an archive."""
    with pytest.raises(BundleError) as caught:
        load([("shop.tgz", data)], limits=Limits(**bounds))
    return "\n".join(f"{one.file}: {one.message}" for one in caught.value.problems)


@pytest.mark.parametrize(
    "data",
    [
        zipped(FILES),
        zipped(FILES, compression=zipfile.ZIP_STORED),
        tarred(FILES),
        tarred(FILES, "w"),
        tarred({f"./{name}": text for name, text in FILES.items()}),
        tarred({"shop/node.yaml.gz": gzip.compress(NODE.encode()), "shop/pod.yaml": POD.encode("utf-16")}),
    ],
    ids=["zip", "stored", "tar.gz", "tar", "dotted", "packed inside"],
)
def test_an_archive_is_the_bundle_of_its_files(data: bytes) -> None:
    """ZIP and tar are read by content, whatever the name."""
    for bundle in (data, [("anything.bin", data)]):
        assert [obj.meta.name for obj in load(bundle).objects] == ["n1", "web"]


def test_a_problem_inside_names_archive_path_and_line() -> None:
    """What is wrong in a file of an archive has that file's path and line."""
    wrong = "apiVersion: v1\nkind: Pod\nmetadata: {nam: x}\n"
    scenario = load([("shop.tgz", tarred({**FILES, "shop/bad.yaml": wrong}))])
    found = [(one.file, one.line) for one in scenario.warnings if one.message.startswith("left out")]
    assert set(found) == {("shop.tgz/shop/bad.yaml", 1)}


def test_what_is_no_manifest_is_left_out_by_name() -> None:
    """A chart's other files, links and archives inside are named with the reason."""
    inner = tarred({"db/pod.yaml": POD})
    files: Files = {
        **FILES,
        "shop/Chart.yaml": CHART,
        "shop/values.yaml": VALUES,
        "shop/README.md": f"# Shop\n\n{POD}",
        "shop/logo.png": b"\x89PNG\r\n\0\0\0\0",
        "shop/charts/db.tgz": inner,
        "shop/charts/hidden": inner,
        "shop/.git/config": "[core]\n",
        "shop/kustomization.yaml": "resources: [pod.yaml]\n",
    }
    scenario = load([("shop.tgz", tarred(files, links={"shop/more.yaml": "../../etc/passwd"}))])
    assert [obj.meta.name for obj in scenario.objects] == ["n1", "web"]
    reported = {one.message for one in scenario.warnings if one.file == "shop.tgz"}
    charts = "(shop/charts/db.tgz, shop/charts/hidden) are left out: a nested archive"
    plain = (
        "(shop/Chart.yaml, shop/README.md, shop/logo.png, shop/values.yaml) are left out: no manifest found"
    )
    kustomization = "shop/kustomization.yaml is left out: not applied"
    assert reported == {
        f"4 files {plain}",
        f"2 files {charts}: pass it as a separate file",
        "shop/more.yaml is left out: a symbolic link; links are not followed",
        f"{kustomization}: pass the output of `kubectl kustomize` for its directory",
    }


def test_links_of_a_zip_are_not_followed() -> None:
    """A symbolic link in a ZIP archive is left out, not read as the text of its target's path."""
    scenario = load([("a.zip", linked_zip())])
    assert [obj.meta.name for obj in scenario.objects] == ["n1"]
    assert any("pod.yaml is left out: a symbolic link" in one.message for one in scenario.warnings)


@pytest.mark.parametrize(
    "name", ["../node.yaml", "/etc/node.yaml", "a/../../node.yaml", "C:\\node.yaml", "a\\..\\b"]
)
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_unsafe_paths_are_refused(pack: Callable[[Files], bytes], name: str) -> None:
    """A path that leads out of the archive is an error with a remedy, whatever else is in it."""
    reported = problems(pack({"node.yaml": NODE, name: POD}))
    assert "unsafe path" in reported and "without .." in reported


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (encrypted_zip(), "node.yaml in the archive is encrypted: pack it without a password"),
        (zipped(FILES, compression=zipfile.ZIP_LZMA), "is packed by a method other than deflate"),
        (zipped(FILES)[:-30], "damaged ZIP archive"),
        (tarred(FILES)[:-40], "damaged"),
        (tarred(FILES, "w")[:700], "damaged tar archive"),
        (zipped({}), "it contains no manifest: it is empty"),
        (
            zipped({"values.yaml": VALUES}),
            "it contains no manifest: values.yaml is left out: no manifest found",
        ),
        (
            gzip.compress(zipped(FILES)),
            "a ZIP archive inside another file: pass it as a separate file",
        ),
        (zipped({"a/" * 50 + "node.yaml": NODE}), "nested deeper than 40 levels"),
    ],
    ids=["encrypted", "lzma", "cut zip", "cut tgz", "cut tar", "empty", "no manifest", "gzipped zip", "deep"],
)
def test_what_cannot_be_read_says_what_to_do(data: bytes, says: str) -> None:
    """Each refusal names the archive, what is wrong with it, and the remedy."""
    reported = problems(data)
    assert reported.startswith("shop.tgz") and says in reported


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: zipped({"node.yaml": NODE + "#" * 30_000_000}), "unpacks to more than 500 times its size"),
        (lambda: tarred({"node.yaml": NODE + "#" * 30_000_000}), "unpacks to more than 500 times its size"),
        (
            lambda: tarred({"a.bin": bytes(60_000_000), "n.yaml": NODE}),
            "unpacks to more than 500 times its size",
        ),
        (lambda: zipped({"node.yaml": NODE + "#" * 120_000_000}), "unpacked, larger than 32 MiB"),
        (lambda: tarred({"n.yaml": NODE + "#" * 120_000_000}), "unpacked, larger than 32 MiB"),
        (lambda: overlapping_zip(9_000), "unpacked, larger than 32 MiB"),
    ],
    ids=["zip", "tar", "beside the manifest", "large zip", "large tar", "overlapping"],
)
def test_a_bomb_costs_what_the_bound_allows(make: Callable[[], bytes], says: str) -> None:
    """A small archive that unpacks to hundreds of megabytes is given up on the way."""
    data = make()
    tracemalloc.start()
    reported = problems(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert says in reported
    assert peak < 120 * 2**20, peak


def test_very_many_entries_are_refused() -> None:
    """100,000 files in an archive are an error with a remedy, before they cost anything."""
    data = zipped({f"{n}.yaml": "" for n in range(100_000)})
    began = time.process_time()
    assert "more than 20,000 entries in the archive: pack only the manifests" in problems(data)
    assert time.process_time() - began < 10
    assert "more than 100 entries" in problems(tarred({f"{n}.yaml": "" for n in range(101)}), entries=100)


def test_unpacked_bytes_are_bounded_over_all_files() -> None:
    """The bound on a bundle's bytes holds for what an archive unpacks to."""
    reported = problems(zipped({f"{n}.yaml": POD + "#" * 400 for n in range(50)}), size=20_000)
    assert "larger than" in reported and "leave out objects that scheduling does not read" in reported


def test_many_files_are_one_archive() -> None:
    """The error about the number of files names the way out, which works."""
    files = [(f"{n}.yaml", POD.replace("web", f"web-{n}")) for n in range(65)]
    with pytest.raises(
        BundleError, match=r"more than 64 files: name their directory instead, pack them as .tar.gz or .zip"
    ):
        load(files)
    assert len(load(zipped(dict(files))).objects) == 65


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_an_encoding_is_known_with_and_without_a_mark(encoding: str) -> None:
    """What PowerShell writes is read, whether it begins with a byte order mark or not."""
    assert load((NODE + "# é\n").encode(encoding)).summary == {"Node": 1}


def test_an_archive_that_was_pasted_as_text_is_recognized() -> None:
    """Bytes of an archive that became characters on their way are named as such."""
    for data in (zipped(FILES), tarred(FILES)):
        with pytest.raises(BundleError, match="a compressed file pasted as text: pass the file itself"):
            load(data.decode("utf-8", errors="replace"))
