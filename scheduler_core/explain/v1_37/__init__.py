"""What only kube-scheduler v1.37 can report of a pod: why it is where it is, and what would help."""
