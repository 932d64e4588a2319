"""CEL as device selectors of v1.37 use it (k8s.io/dynamic-resource-allocation/cel, cel-go v0.29.2).

``syntax`` and ``parser`` read an expression, ``macros`` expands what is not a function, ``checker`` finds its
types by the signatures in ``functions/``, ``evaluator`` makes a program of it that counts what it costs,
``estimate`` bounds its cost, and ``selectors`` puts it together for devices.
"""
