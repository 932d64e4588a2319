"""The plugins of kube-scheduler v1.37, one file each."""
