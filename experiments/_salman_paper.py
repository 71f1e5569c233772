"""What Salman, Alzaatreh and Sulieman (2022) report, as numbers."""

from __future__ import annotations

FEATURES = {  # Table 1, of the sets that can be had
    "ionosphere": 34,
    "satellite": 37,
    "ada": 49,
    "splice": 62,
    "optdigits": 64,
    "jasmine": 145,
    "musk": 170,
    "scene": 295,
}
FALLS = {  # accuracy falls sharply from so many tenths of the features down
    "ionosphere": 3,
    "ada": 3,
    "splice": 3,
    "jasmine": 2,
    "musk": 2,
}
GOOD_AND_BAD = {"scene": "good", "musk": "good", "ionosphere": "bad"}  # geometric mean, Stuart
ACCURACY_ANOVA = {"information_gain": 0.0068, "mrmr": 0.0304}  # adjusted p-values of accuracy
MRMR_PAIRS = {  # adjusted p-values of accuracy under mRMR
    ("arithmetic mean", "RRA"): 0.001,
    ("geometric mean", "RRA"): 0.005,
    ("L2 norm", "RRA"): 0.002,
}
CONTRAST = ("information_gain", "mrmr")  # differ most in accuracy
PEAKS = ("jasmine", "optdigits")  # where the two rules peak in stability, of the sets at hand
STABILITY_PAIRS = {  # adjusted p-values of stability under information gain
    ("1 − Canberra", "arithmetic mean", "L2 norm"): 0.037,
    ("1 − Canberra", "arithmetic mean", "RRA"): 0.041,
    ("Jaccard", "arithmetic mean", "RRA"): 0.031,
}
