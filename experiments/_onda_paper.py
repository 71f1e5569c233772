"""What Onda et al. (2021) report, as numbers; None where the text gives none."""

from __future__ import annotations

FILES = {"Colon": ("colon", 20), "Lymphoma": ("lymphoma", 40), "Prostate": ("prostate_ge", 60)}
T_UNIFORM = {"Colon": (4.640, 0.636), "Lymphoma": (6.029, 0.668), "Prostate": (6.455, 0.703)}
TABLE_2 = {  # n_useful, mean and standard deviation of 1000 estimates, by n_tree
    "Colon": {
        50: (45.6, 7.1),
        100: (53.0, 8.2),
        200: (56.8, 6.0),
        300: (60.1, 6.1),
        400: (56.2, 7.2),
        500: (59.1, 6.6),
    },
    "Lymphoma": {
        50: (140.0, 20.3),
        100: (140.4, 14.8),
        200: (158.3, 15.4),
        300: (153.2, 14.9),
        400: (155.4, 13.9),
        500: (154.5, 10.2),
    },
    "Prostate": {
        50: (210.3, 16.8),
        100: (210.8, 15.9),
        200: (190.5, 12.1),
        300: (186.9, 12.7),
        400: (179.6, 10.2),
        500: (179.0, 10.8),
    },
}
N_USEFUL = {"Colon": 60, "Lymphoma": 150, "Prostate": 200}
STABILITY = {
    "Colon": (0.1, 0.01),
    "Lymphoma": (0.1, 0.01),
    "Prostate": (0.2, 0.02),
}  # J, ± in Fig. 8
P = {"Colon": 0.7, "Lymphoma": 0.8, "Prostate": None}
SIMULATED = {"Colon": 0.2, "Lymphoma": None, "Prostate": 0.17}  # J of large ensembles
REAL = {"Colon": 0.2, "Lymphoma": None, "Prostate": 0.3}
REAL_TREES = {"Colon": (200, 300, 400, 500), "Lymphoma": TABLE_2["Colon"], "Prostate": (100, 200)}
CORRECTED = 130  # n_useful of Prostate in Fig. 11
CORRECTED_J = 0.3
RANGE = {  # n_useful in Fig. 8
    "Colon": range(20, 811, 4),
    "Lymphoma": range(40, 361, 2),
    "Prostate": range(60, 261, 2),
}
USEFUL_MTRY = 55  # "approximately, regardless of n_tree", with mtry 0.1
P_MTRY = (0.55, 0.65, 0.8, 0.8, 0.8, 0.8)  # five values are given for six numbers of trees
