"""Statistics of many permuted targets against each other. Naive twin: tests/naive_evidence.py."""

from __future__ import annotations

import numpy as np
from numba import njit

_AT_ONCE = 2**16  # pooled values that are looked through together: they stay in the cache


@njit(cache=True, nogil=True)
def smallest_rates(rising, pooled):  # type: ignore[no-untyped-def]
    """Smallest (number of pooled values that reach a row's r-th largest)/r, for every row.

    Rows of `rising`, and `pooled`, are in rising order, and every value of a row is in `pooled`.
    """
    m, p = rising.shape
    n = pooled.shape[0]
    out, place = np.full(m, np.inf), np.zeros(m, np.int64)
    for start in range(0, n, _AT_ONCE):
        stop = min(start + _AT_ONCE, n)
        for t in range(m):
            i, low = place[t], start
            while i < p and rising[t, i] <= pooled[stop - 1]:
                high = stop - 1  # the first that is not below the value is at most here
                while low < high:
                    middle = (low + high) // 2
                    if pooled[middle] < rising[t, i]:
                        low = middle + 1
                    else:
                        high = middle
                out[t] = min(out[t], (n - low) / (p - i))
                i += 1
            place[t] = i
    return out
