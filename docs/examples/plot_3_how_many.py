"""
How many features are reproducible?
===================================

The stability of the k best features depends on k. A measure that is not corrected for chance grows
again when k is large, whatever the selector does; one that is corrected shows where the signal
ends.
"""

# %%
# A random problem: 10 of 300 features matter.

from sklearn.datasets import make_classification

import mainstay as ms

X, y = make_classification(120, 300, n_informative=10, n_redundant=0, class_sep=1.5, random_state=1)
selector = ms.EnsembleSelector("f_statistic", n_features_to_select=10, random_state=0)
selector.fit(X, y)
corrected = ms.StabilityBySizeDisplay.from_selector(selector)

# %%
# Jaccard's index of the same runs: the dotted line is what random selections would give.

uncorrected = ms.StabilityBySizeDisplay.from_selector(selector, "jaccard")
