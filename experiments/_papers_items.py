"""The tables and figures of the five papers: where our results have them, and why they differ."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """One row of the overview.

    `start` and `end` are what the part of the results begins and ends with (`end` is not part of
    it); `missing` is what cannot be had; `why` says why ours differs, or what was done instead.
    An item without `start` has nothing that could be computed.
    """

    paper: str
    name: str
    start: str = ""
    end: str = ""
    missing: str = ""
    why: str = ""


_REAL = "six sets subsampled to 1,000 rows, one restart, appendix B on the other nine only"

ITEMS = (
    Item("bommert2020", "Fig. 1", why="a definition; it is the input of Fig. 2"),
    Item("bommert2020", "Fig. 2", "## 1. All", "## 2. Selections",
         why="\"often\" is 14% of the pairs here"),
    Item("bommert2020", "Fig. 3", "### Fig. 3", "### Fig. 4",
         "dilbert, arcene (OpenML 41163, 1458)",
         "the authors' selectors, rewritten, on two of the four data sets; 16 of 200 replications"),
    Item("bommert2020", "Fig. 4", "### Fig. 4", "---\n", "dilbert, arcene",
         "expected scores are exact or simulated to a precision, not 10,000 draws"),
    Item("nogueira2015", "(3), examples, theorems", "## 1. Equation", "## 2. Extremes",
         why="a misprint (n = 10, not 100) and two remarks of the text"),
    Item("nogueira2015", "Fig. 1", "## 2. Extremes", "## 3. Properties"),
    Item("nogueira2015", "Table 1", "## 3. Properties", "### Evidence"),
    Item("nogueira2015", "Table 2", "## 4. Feature selection", "![Stability of random forests",
         why="the paper does not say how its trees cut continuous features; of 19 other kinds "
         "of forests one comes near"),
    Item("nogueira2015", "Fig. 2", "![Stability of random forests", "---\n",
         why="follows from Table 2; the paper prints no numbers of the figure"),
    Item("onda2021", "Tables 1, 3, Fig. 5", why="sizes of the data, notation and a diagram"),
    Item("onda2021", "Table 2, Figs. 1 right, 7", "**Table 2: n_useful.**", "## 3. p",
         why="n_useful of Prostate is larger here; trees without bootstrap give it, but fit "
         "the other two sets worse"),
    Item("onda2021", "Table 4", "**Table 4.**", "![How often"),
    Item("onda2021", "Figs. 2, 8", "## 3. p, and", "## 4. Stability"),
    Item("onda2021", "Figs. 3, 9–11", "## 4. Stability", "![Stability with mtry",
         why="simulated ensembles of few runs are less stable than real ones"),
    Item("onda2021", "Fig. 15", "*Fig. 15:", "## 5. Time"),
    Item("onda2021", "Figs. 4, 12, 13", "## 5. Time", "## 6. The effect",
         why="the time of simulated ensembles grows with their size, too"),
    Item("onda2021", "Fig. 14", "## 6. The effect", "## 7. Accuracy",
         why="our single forests with mtry 0.1 are more stable, so that p is larger"),
    Item("onda2021", "Figs. 1 left, 6", "## 7. Accuracy", "## 8. What"),
    Item("salman2022", "Tables 1, 2, Figs. 1, 2", why="data sets, formulas and diagrams"),
    Item("salman2022", "Figs. 3–14", "## 1. Accuracy", "## 2. Stability",
         "Image, Philippine, Indian Pines, Semeion", "the rules hardly differ on the eight sets"),
    Item("salman2022", "Figs. 15–20", "## 2. Stability", "## 3. Why",
         "Image, Philippine, Indian Pines, Semeion",
         "Stuart's Q is computed exactly; mRMR in 20 of the 100 parts on the three wide sets"),
    Item("huynhthu2021", "Table 1", why="sizes of the simulated problems; they are the same"),
    Item("huynhthu2021", "Table 2", "**Table 2.**", "**Figure S1.**"),
    Item("huynhthu2021", "Fig. S1", "**Figure S1.**", "**Table S1.**"),
    Item("huynhthu2021", "Table S1", "**Table S1.**", "**Tables 3 and S2.**",
         why="α is learned to the end, so that fewer features are used"),
    Item("huynhthu2021", "Tables 3, S2", "**Tables 3 and S2.**", "**Where parametric",
         why="Checkerboard and Friedman are our reading; 3 restarts averaged"),
    Item("huynhthu2021", "Fig. S2", "**Figure S2.**", "## 3. Restarts"),
    Item("huynhthu2021", "Table S3", "## 4. Q = 1", "## 5. Real",
         why="one restart, out-of-bag; Friedman is our reading"),
    Item("huynhthu2021", "Table S4", "**Table S4.**", "**Table 4.**"),
    Item("huynhthu2021", "Table 4", "**Table 4.**", "**Table S5.**", why=_REAL),
    Item("huynhthu2021", "Table S5", "**Table S5.**", "**Table S6.**", why=_REAL),
    Item("huynhthu2021", "Table S6", "**Table S6.**", "**Figure 1.**", why=_REAL),
    Item("huynhthu2021", "Fig. 1", "**Figure 1.**", "**Table S7.**",
         why="PRSB-tree has the best average rank here, not significantly; the paper's is GBDT"),
    Item("huynhthu2021", "Table S7", "**Table S7.**", "**Figure 2.**",
         why="one restart; α is sparse, so that features that others stand in for end at 0"),
    Item("huynhthu2021", "Fig. 2", "**Figure 2.**", "**What does not",
         why="GBDT and PRSB-tree change places with PRSB-kNN"),
    Item("huynhthu2021", "Table 5", "**Table 5.**", "CPU time per network",
         why="λ automatic is another rule than the paper's; λ = 0 depends on when learning stops"),
    Item("huynhthu2021", "Table 5, paper's rule", "**Like for like.**", "Average precision at",
         why="kNN only; the α of the last stage, as in the pseudo-code, are worse than their mean"),
    Item("huynhthu2021", "Fig. S3", "**Figure S3.**", "Seed ", why="no numbers are printed"),
)  # fmt: skip
