"""The descheduler: evicts pods from where they should no longer be; the scheduler places their replacements.

Two editions: ``classic`` is v0.9.0 with a policy of ``descheduler/v1alpha1``, ``current`` the main branch of
mid 2026 with one of ``descheduler/v1alpha2``. ``policy.py`` reads either, ``runner.py`` runs it over a
``Listing`` of the cluster and returns a ``RunRecord``. A strategy is one module in ``plugins/`` or
``classic/`` with a row in ``table.py``.
"""
