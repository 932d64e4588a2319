"""The best placement of all pending pods under kube-scheduler's hard rules, by CP-SAT: the price of greed."""
