"""Lives of a v1.37 cluster: kube-scheduler and the controllers together in virtual time."""
