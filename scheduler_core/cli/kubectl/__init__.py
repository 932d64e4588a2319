"""``kubectl podstep``: answers about the cluster of the user's kubeconfig, computed on the user's machine."""
