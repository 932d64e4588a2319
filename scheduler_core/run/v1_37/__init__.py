"""A stepwise simulation of kube-scheduler v1.37, beside those of v1.11 and of the scheduling framework."""
