"""
Many names for one finding
==========================

Radius, perimeter and area of a nucleus are nearly the same thing. A selector that takes one of them
at random looks unstable, until its twins are counted as one.
"""

# %%
# Hardly any single feature is selected in all runs, but the groups nearly are.

from sklearn.datasets import load_breast_cancer

import mainstay as ms

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = ms.EnsembleSelector("mrmr", n_features_to_select=6, random_state=0).fit(X, y)
network = ms.ExchangeableNetworkDisplay.from_selector(selector)

# %%
# The same, run by run: when one member of a group is not selected, another one is.

heatmap = ms.RunsHeatmapDisplay.from_selector(selector, n_shown=20)

# %%
# So the stability is much higher when twins count as one.

print("plain:", selector.stability_)
print("twins counted as one:", selector.adjusted_stability_)
