"""Why Kueue does not admit a Workload, whom it would preempt, and the smallest change that admits it."""
