"""`make bench`: the engine's speed on fixed workloads, as ratios measured in one run."""
