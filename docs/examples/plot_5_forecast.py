"""
Is a larger ensemble worth it?
==============================

Forty runs tell how stable an ensemble of any size would be.
"""

# %%
# Would another study, with half of these samples, find the same features? Ensembles on disjoint
# halves are compared; larger ensembles help only up to a limit.

from sklearn.datasets import load_breast_cancer

import mainstay as ms

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
settings = {"n_features_to_select": 5, "n_runs": 40, "random_state": 0}
forecast = ms.forecast_stability("f_statistic", X, y, protocol="nested", **settings)
nested = forecast.plot(target=0.9)

# %%
# Would these samples give the same list again? Larger ensembles always help.

forecast = ms.forecast_stability("f_statistic", X, y, protocol="flat", **settings)
flat = forecast.plot(target=0.9)
