"""What ResourceClaims were given."""

from __future__ import annotations

from playground.courseware.expression import FactError
from playground.courseware.facts.moment import ShownMoment
from scheduler_core.kubernetes.names import did_you_mean


def devices(moment: ShownMoment, claim: str, of: str = "") -> list[str]:
    """The names of the devices that a ResourceClaim has in the end; none if it is not allocated."""
    claims = moment.ended(of).claims
    key = claim if "/" in claim else f"default/{claim}"
    if key not in claims:
        raise FactError(f"there is no ResourceClaim {claim!r}{did_you_mean(key, claims)}")
    return list(claims[key])


FACTS = (devices,)
