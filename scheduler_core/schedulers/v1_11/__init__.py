"""kube-scheduler v1.11: predicates, priorities, policies, quirks, the equivalence cache and one attempt."""
