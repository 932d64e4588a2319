"""The price of nodes by the hour: an annotation of the node, or a table of the sweep by label and value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import path_text
from scheduler_core.schedulers.columns import Cluster
from scheduler_core.schedulers.columns.columns import BASIC_RESOURCES

PRICE = "podstep/price-per-hour"
"""The annotation of a node with its price, in any currency."""

FIELD = "prices"
MOST = 1e9
MOST_PRICES = 1_000
EXAMPLE = "{node.kubernetes.io/instance-type: {m5.large: 0.096, c5.xlarge: 0.17}}"

Prices = Mapping[str, Mapping[str, float]]
"""Prices by the hour by label, then by the label's value."""


def read_prices(given: Any, problems: list[Problem]) -> Prices:
    """Return the table of prices of a sweep; what is wrong with it is added to the problems."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(one, Mapping) for one in given.values()):
        problems.append(Problem(f"must be an object of prices by label and value, such as {EXAMPLE}", FIELD))
        return {}
    if sum(map(len, given.values())) > MOST_PRICES:
        problems.append(Problem(f"has more than {MOST_PRICES:,} prices", FIELD))
        return {}
    for label, table in given.items():
        for value, price in table.items():
            if type(price) not in (int, float) or not 0 <= price < MOST:
                message = f"must be a price by the hour, a number from 0, not {str(price)[:40]!r}"
                problems.append(Problem(message, path_text((FIELD, str(label), str(value)))))
    return {
        str(label): {str(value): price for value, price in table.items()} for label, table in given.items()
    }


def price_of(cluster: Cluster, prices: Prices) -> tuple[float | None, int]:
    """Return the price by the hour of the nodes that run pods, and how many of these have none.

    None where no node of the cluster has a price.
    """
    found = [_price(node.meta, prices) for node in cluster.columns.nodes]
    if all(price is None for price in found):
        return None, 0
    used = cluster.used[BASIC_RESOURCES.index("pods")].tolist()
    paid = [price for price, pods in zip(found, used) if pods]
    return round(sum(price or 0.0 for price in paid), 4), paid.count(None)


def _price(meta: Any, prices: Prices) -> float | None:
    try:
        price = float(meta.annotations.get(PRICE, "nan"))
    except ValueError:
        price = -1.0
    if 0 <= price < MOST:
        return price
    named = (table.get(meta.labels.get(label, "")) for label, table in prices.items())
    return next((one for one in named if one is not None), None)
