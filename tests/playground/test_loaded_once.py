"""An edit reads its text once: the text before it was read when it was made, or opened."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from playground.playback.library import library
from playground.storage import bundles
from scheduler_core.scenario.load_passes import scenario_of
from scheduler_core.scenario.load_state import LoadState
from scheduler_core.scenario.scenario import Scenario
from tests.core.configuration.test_compiled_once import NODE, POD, POLICY
from tests.playground.conftest import connected

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = NODE + POD + POLICY
CORDONED = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\nspec:\n  unschedulable: true\n"
BASE = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n"
EDITS: dict[str, dict[str, str]] = {
    "bundle.configure": {"what": "setting", "key": "quirks", "value": "fixed"},
    "bundle.add": {"documents": POD.replace("name: p}", "name: q}")},
    "bundle.bulk": {"by": "names", "which": "n1", "what": "cordon"},
    "bundle.verb": {"verb": "cordon", "targets": "n1", "step": "1.1"},
    "bundle.operate": {"action": "delete", "target": "Pod default/p", "step": "1.1"},
    "bundle.amend": {"target": "Node n1", "object": CORDONED, "base": BASE},
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of documents of each bundle that is read; those of a single object are not listed."""
    seen: list[int] = []

    def counted(state: LoadState) -> Scenario:
        if len(state.bundle.entries) > 1:
            seen.append(len(state.bundle.entries))
        return scenario_of(state)

    monkeypatch.setattr("scheduler_core.scenario.load.scenario_of", counted)
    return seen


@pytest.mark.parametrize("name", EDITS)
async def test_an_edit_is_read_once_until_it_is_played(name: str, read: list[int]) -> None:
    """The edit reads its result; saving it and opening it at a step read nothing."""
    async with connected() as socket:
        made = await socket.success("bundle.open", {"text": TEXT})
        draft = {"draft": made["draft"]}
        await socket.success("scenario.open", {"source": draft})
        assert len(read) == 1
        read.clear()
        edited = await socket.success(name, {"text": TEXT, **EDITS[name]})
        await socket.success("draft.save", {**draft, "text": edited["text"], "base": 1})
        await socket.success("scenario.open", {"source": draft, "step": "1.1"})
    assert len(read) == 1


def test_small_bundles_are_kept_up_to_a_size(read: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one is always kept, and never more bytes than the bound."""
    texts = [TEXT.replace("name: p}", f"name: p{number}}}") for number in range(4)]
    monkeypatch.setattr(bundles, "KEPT_BYTES", int(2.5 * bundles.BYTES_OF_TEXT * len(texts[0])))
    for text in texts:
        bundles.parse([("", text)])
    assert bundles.last_read.held_bytes <= bundles.KEPT_BYTES
    read.clear()
    for text in (texts[3], texts[2], texts[1]):
        bundles.parse([("", text)])
    assert len(read) == 1


def test_a_lower_limit_refuses_what_was_read(limits: Callable[..., None], read: list[int]) -> None:
    """The limits belong to what a result depends on."""
    bundles.parse([("", TEXT)])
    library.clear()
    limits(NODES=0)
    with pytest.raises(bundles.TooLargeError):
        bundles.parse([("", TEXT)])
    assert len(read) == 2
