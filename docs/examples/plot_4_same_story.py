"""
Do the runs tell the same story?
================================

The mean of all pairs of runs may hide that there are two camps. Here half of the runs come from one
ranker and half from another: the matrix falls into two squares.
"""

# %%

from sklearn.datasets import load_breast_cancer

import mainstay as ms

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = ms.EnsembleSelector(n_features_to_select=6, n_resamples=40, random_state=0)
camps = [
    selector.set_params(ranker=ranker).fit(X, y).selections_ for ranker in ("mrmr", "f_statistic")
]
runs = ms.Runs.concatenate(camps)
similarity = ms.RunSimilarityDisplay.from_runs(runs)

# %%
# Which features separate the camps?

heatmap = ms.RunsHeatmapDisplay.from_runs(runs, n_shown=15)
