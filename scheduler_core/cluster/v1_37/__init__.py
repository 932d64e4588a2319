"""The control plane of Kubernetes v1.37: an API server of manifests, its controllers, and stand-in kubelets.

Controllers are generators that yield their writes (``loop.py``); the API server (``server.py``) applies one
write after the other, and every controller sees each before the next. ``plane.py`` assembles them.
"""
