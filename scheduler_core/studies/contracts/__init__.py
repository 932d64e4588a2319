"""Contracts: claims about a cluster, checked by playing what becomes of it in each case.

``document`` reads a Contract with line and remedy; ``conditions`` reads its claim, over the facts that
``facts`` follows; ``nemeses`` and ``histories`` say which cases there are, and ``symmetry`` which of them are
alike; ``case`` plays one, ``search`` all of them, ``shrinker`` makes a counterexample small, and ``check``
puts it together to a ``verdict``.
"""
