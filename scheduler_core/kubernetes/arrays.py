"""The types of NumPy vectors used by all packages above this one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntVector = npt.NDArray[np.int64]
BoolVector = npt.NDArray[np.bool_]
