"""Load bundles, with the history of operations that they describe."""
