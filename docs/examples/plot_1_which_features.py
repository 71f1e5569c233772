"""
Which features, and how sure?
=============================

mRMR selects five features of the breast cancer data on each of 100 bootstrap samples. How often is
a feature among them, and where is it ranked?
"""

# %%
# Blue features are in the final selection. The bars are 95% intervals. Twins are features whose
# correlation reaches 0.9: a diamond shows how often the feature *or one of its twins* was selected.

from sklearn.datasets import load_breast_cancer

import mainstay as ms

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = ms.EnsembleSelector("mrmr", n_features_to_select=6, random_state=0).fit(X, y)
frequency = ms.SelectionFrequencyDisplay.from_selector(selector)

# %%
# The ranks tell how far a feature falls when it is not selected.

ranks = ms.RankDistributionDisplay.from_selector(selector)
