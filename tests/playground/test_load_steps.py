"""`python -m tests.load steps` asks for what the protocol has."""

from __future__ import annotations

import pytest

from tests.load.steps import STEPS, bundle
from tests.playground.conftest import connected

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("step", STEPS)
async def test_every_kind_of_step_is_answered(step: str) -> None:
    """What is measured are answers, no refusals; every pod is a step."""
    async with connected() as socket:
        made = await socket.success("bundle.open", {"text": bundle(3, 12)})
        source = {"draft": made["draft"], "revision": 1}
        assert (await socket.success("scenario.open", {"source": source}))["cycles"] == 12
        for index in (1, 2, 12):
            asked = STEPS[step](source, index, 12)
            assert asked
            for name, payload in asked:
                await socket.success(name, payload)
