"""One scheduling attempt: filter, score, select, preempt."""
