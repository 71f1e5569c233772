"""The tables and figures of the five papers: where our results have them, and why they differ."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """One row of the overview.

    `start` and `end` are what the part of the results begins and ends with (`end` is not part of
    it). `missing` is what cannot be had; `why` says why ours differs, or what was done instead. In
    both, {name} stands for what the group of this name in one of the patterns `facts` finds in the
    results, so that no number of ours is typed here. `counts` names how numbers are counted
    (papers_index.COUNTS), in which `rows` and in which cells of a row (from 0; all if none is
    named). An item without `start` has nothing to compute.
    """

    paper: str
    name: str
    start: str = ""
    end: str = ""
    missing: str = ""
    why: str = ""
    facts: tuple[str, ...] = ()
    counts: str = ""
    rows: str = ""
    cells: tuple[int, ...] = ()


_BOMMERT_DATA = r"at hand; (?P<sets>.*?) cannot be had"
_SALMAN_DATA = r"data sets; (?P<sets>.*?) cannot be had"

_PAPER_B = (
    Item("bommert2020", "Fig. 1", why="a definition; it is the input of Fig. 2"),
    Item("bommert2020", "Fig. 2", "## 1. All", "## 2. Selections",
         why="where all five are large SMY is above SMA-Count in {count} of the pairs and above "
         "SMA-Mean in {mean}: not \"often\"",
         facts=(r"SMA-Count by more than [\d.]+ in (?P<count>[\d.]+%) of the pairs, above SMA-Mean "
                r"in (?P<mean>[\d.]+%)",)),
    Item("bommert2020", "Fig. 3", "### Fig. 3", "### Fig. 4", "{sets}",
         "the authors' selectors, rewritten; {ours} settings in all, {theirs} on each set in their "
         "code; who is the odd one out depends on settings that select all features or never any",
         (_BOMMERT_DATA, r"(?P<ours>[\d,]+) settings in all",
          r"authors: (?P<theirs>[\d,]+) on each")),
    Item("bommert2020", "Fig. 4", "### Fig. 4", "## 3. What", "{sets}",
         "expected scores are exact or simulated to a precision, not by 10,000 draws; the wide set "
         "is not the paper's, so that what is said of large sets is not judged, nor that SMY is "
         "quick, whose scores are exact here", (_BOMMERT_DATA,)),
    Item("bommert2020", "section 2.2", "### Section 2.2", "### Section 4",
         why="what follows from the definitions: checks of this implementation as much as of the "
         "paper"),
    Item("bommert2020", "section 4, the conclusions", "### Section 4", "---\n", "{sets}",
         "that SMA-Count should be used is a recommendation", (_BOMMERT_DATA,)),
)  # fmt: skip

_PAPER_N = (
    Item("nogueira2015", "(3), section 3.1, examples, theorems", "## 1. Equation", "## 2. Extremes",
         why="a misprint (n = 10, not 100) and remarks of the text; what follows from the "
         "definitions is checked over all sizes and overlaps for n = 10", counts="ticks"),
    Item("nogueira2015", "Fig. 1", "## 2. Extremes", "## 3. Properties"),
    Item("nogueira2015", "Table 1, example 1", "## 3. Properties", "## 4. Feature selection",
         why="ticks beside ticks; property 3 also by exact means and by random sets of different "
         "sizes, {varied} rows",
         facts=(r"in (?P<varied>\d+ of \d+) rows for different sizes",)),
    Item("nogueira2015", "Table 2, sizes of the data", "Sizes of the data sets",
         "Features selected,", counts="ticks"),
    Item("nogueira2015", "Table 2, features selected", "Features selected,",
         "![Stability of random forests",
         why="the paper does not say how its trees cut continuous features; of {tried} other kinds "
         "of forests {near} come within 10%; of these {which} is within the paper's ± on most "
         "sets, {most}",
         facts=(r"(?P<near>\d+) of the (?P<tried>\d+) come within 10%",
                r"on most data sets: (?P<which>.*?), on (?P<most>\d+ of \d+);"),
         counts="stated", rows=r"(\d+) of (\d+) means are within its ±"),
    Item("nogueira2015", "Fig. 2", "![Stability of random forests", "---\n",
         why="the paper prints no numbers of the figure; statements that hold with the forests "
         "nearest to Table 2: {hold}",
         facts=(r"nearest to Table 2: (?P<hold>.*?)\. A verdict",)),
)  # fmt: skip

_PAPER_O = (
    Item("onda2021", "Tables 1, 3, Fig. 5", why="sizes of the data, notation and a diagram"),
    Item("onda2021", "numbers in the text", "## Summary", "## 1. What",
         why="within the margins that the page names: errors for t_uniform and n_useful, the "
         "plotted band for J of single forests, else 10%; {data} of these are computed from data, "
         "{formulas} check formulas with the paper's inputs; some are of the items below",
         facts=(r"(?P<data>\d+) are computed from data", r"and (?P<formulas>\d+) only check"),
         counts="ticks"),
    Item("onda2021", "Table 4", "**Table 4.**", "![How often"),
    Item("onda2021", "Figs. 1 right, 7", "![How often", "**Table 2: n_useful.**"),
    Item("onda2021", "Table 2", "**Table 2: n_useful.**", "## 3. p",
         why="within two errors of the difference of means if the paper redrew all; {bank} if it "
         "redrew t_uniform only; {one} within one standard deviation of one estimate; n_useful of "
         "Prostate is larger here by either reading; trees without bootstrap give it, but fit the "
         "other two sets worse",
         facts=(r"s² \+ sd²/1000\)\. (?P<bank>\d+ of \d+) are within two errors",
                r"(?P<one>\d+ of \d+) means of ours are within one standard deviation"),
         counts="stated", rows=r"(\d+) of (\d+) are within two errors"),
    Item("onda2021", "Theorem 1", "**Theorem 1.**", "![n_useful counted again",
         why="small cases enumerated; it is about the first pick only"),
    Item("onda2021", "Figs. 2, 8", "![n_useful counted again", "## 4. Stability",
         why="from the paper's J and n_useful; from our own forests p is larger, {p} on Colon and "
         "Lymphoma", facts=(r"our own forests .*? p is larger, (?P<p>[\d.]+ and [\d.]+) of",)),
    Item("onda2021", "Figs. 3 left, 9", "## 4. Stability", "- Paper: real ensembles",
         why="simulated, with the paper's n_useful"),
    Item("onda2021", "Figs. 3 right, 10", "- Paper: real ensembles",
         "- Paper: on Colon the simulated",
         why="J is lower with fewer than 200 trees in {bootstraps} comparisons if weak selectors "
         "see bootstraps, in {seeds} if they differ by seeds only; the paper does not say which",
         facts=(r"on bootstraps (?P<bootstraps>\d+ of \d+) are; with new seeds only "
                r"(?P<seeds>\d+ of \d+)\.",)),
    Item("onda2021", "Figs. 3, 9, 10, simulated beside real", "- Paper: on Colon the simulated",
         "![Prostate with n_useful",
         why="small simulated ensembles are less stable than real ones: J with 5 runs is "
         "{simulated} and {real}",
         facts=(r"at 5 the simulated J is (?P<simulated>[\d.]+), the real one (?P<real>0\.\d+)",)),
    Item("onda2021", "Fig. 11", "![Prostate with n_useful", "![Stability with mtry",
         why="a formula with the paper's inputs"),
    Item("onda2021", "Fig. 15", "![Stability with mtry", "**The paper's explanation.**",
         why="with 30 runs J of 200 to 500 trees is {j}",
         facts=(r"and 500 trees: (?P<j>(?:0\.\d+ ± 0\.\d+(?:, )?)+)",)),
    Item("onda2021", "sections 3.5 and E.2: n_useful and p explain real ensembles",
         "**The paper's explanation.**", "## 5. Time",
         why="in the model more useful features mean lower J; with more trees J changes as in real "
         "ensembles on {same} sets; {near} large ensembles are forecast within {margin}",
         facts=(r"by more than two errors, on (?P<same>\d of \d)\. On",
                r"within (?P<margin>0\.\d+) of real J in (?P<near>\d+ of \d+)")),
    Item("onda2021", "section 2.4: complexity", why="counting; not judged"),
    Item("onda2021", "Figs. 4, 12, 13", "## 5. Time", "## 6. The effect",
         why="the time of simulated ensembles grows with their size, too; base runs included, the "
         "simulation is {saved} times faster",
         facts=(r"kind of forests: (?P<saved>\d+ to \d+)",)),
    Item("onda2021", "Fig. 14", "## 6. The effect", "## 7. Accuracy",
         why="likely: our single forests with mtry 0.1 are more stable, so that p is larger"),
    Item("onda2021", "Figs. 1 left, 6", "## 7. Accuracy", "## 8. What"),
)  # fmt: skip

_PAPER_S = (
    Item("salman2022", "Table 1", why="sizes of the data sets; features that the paper counts and "
         "our files have not: {more}",
         facts=(r"than our files have columns \((?P<more>.*?); the others",)),
    Item("salman2022", "Table 2, Figs. 1, 2", why="formulas and diagrams"),
    Item("salman2022", "Figs. 3–14: one for each data set, those at hand", "## 1. Accuracy",
         "## 2. Stability", why="the best and the worst rule of a set are {apart} points apart",
         facts=(r"are only (?P<apart>[\d.]+ to [\d.]+) points apart",)),
    Item("salman2022", "Figs. 3–14: the others", missing="{sets}",
         why="the text of the paper that we have does not say which figure is which set",
         facts=(_SALMAN_DATA,)),
    Item("salman2022", "Figs. 15–20", "## 2. Stability", "## 3. Why", "{sets}",
         "Stuart's Q is computed exactly; mRMR in fewer training parts on wide sets",
         (_SALMAN_DATA,)),
)  # fmt: skip

_READING = "Checkerboard, Friedman and Hypercube are our reading"
_MEAN = "PRSB is the mean of {restarts} restarts"
_AVERAGED = r"α of (?P<restarts>\d+) restarts are averaged"
_REAL = (
    "large sets have {rows} rows here (all rows: see the row on large sets); PRSB has {restarts} "
    "restart (paper: the best of 20); appendix B: {tuned} sets"
)
_REAL_FACTS = (
    r"subsampled to (?P<rows>[\d,]+) \(",
    r"PRSB and EDA: (?P<restarts>\w+) restart",
    r"(?P<tuned>RF on \d+.*? RSB-SVM on \d+)",
)
_AS_TABLE_4 = "run as Table 4"
_ENDED = (
    "{kinds} of one restart (section 7): {late} of {of} to the end, {short}, {middle} and {long} "
    "with early ends"
)
_FACTOR = r"\(× [\d.]+\)"
_ENDED_FACTS = r".*?\| (?P<kinds>NAME) \| (?P<of>\d+) \| " + r" \| ".join(
    rf"(?P<{end}>\d+) {_FACTOR}" for end in ("short", "middle", "long", "late")
)
_SIMULATED_ENDED = rf"\*\*Simulated problems\.\*\* One restart{_ENDED_FACTS}"
_REAL_ENDED = rf"\*\*Real data\.\*\* The \d+ smaller sets{_ENDED_FACTS}"
_BY_RULE = ("The best method on each network", "*The lowest of 20 restarts*")
_ONE_OF_20 = "{restarts} restart (paper: the lowest of 20), base models as far as run"
_RULE_FACTS = (r"(?P<restarts>\w+) restart(?:, where the paper keeps|\. λ is chosen)",)

_PAPER_H = (
    Item("huynhthu2021", "Table 1", why="sizes of the simulated problems"),
    Item("huynhthu2021", "Table 2: errors", "**Table 2.**", "Its last column", counts="beside",
         why=f"Hypercube is our reading; {_MEAN}", facts=(_AVERAGED,)),
    Item("huynhthu2021", "Table 2: features per model", "Its last column", "**Figure S1.**",
         counts="beside", why="as Table S1, of which it is a part"),
    Item("huynhthu2021", "Fig. S1", "**Figure S1.**", "**Table S1.**",
         why=f"{_READING}; {_MEAN}", facts=(_AVERAGED,)),
    Item("huynhthu2021", "Table S1", "**Table S1.**", "**Tables 3 and S2.**", counts="beside",
         why=f"{_READING}; {_ENDED}", facts=(_SIMULATED_ENDED.replace("NAME", "Σα"),)),
    Item("huynhthu2021", "Tables 3, S2", "**Tables 3 and S2.**", "**Where parametric",
         counts="beside", why=f"{_READING}; {_MEAN}", facts=(_AVERAGED,)),
    Item("huynhthu2021", "Fig. S2", "**Figure S2.**", "## 3. Restarts",
         why=f"{_READING}; {_MEAN}, EDA has {{eda}} (paper: the best of 20)",
         facts=(_AVERAGED, r"EDA: (?P<eda>\w+) restart")),
    Item("huynhthu2021", "Table S3: errors and AUPR", "## 4. Q = 1", "## 5. Real",
         counts="beside", cells=(4, 5), why=f"{_READING}; {{restarts}} restart, out-of-bag",
         facts=(r"Both Q have (?P<restarts>\w+) restart",)),
    Item("huynhthu2021", "Table S3: models trained", "| tree | Checkerboard | 1 |", "## 5. Real",
         counts="beside", cells=(6,), why="the paper does not say when a restart ends"),
    Item("huynhthu2021", "Table S4", "**Table S4.**", "*Equal rows together.*", counts="beside"),
    Item("huynhthu2021", "Tables S6, S7: large sets with all rows", "*All rows.*", "**Table 4.**",
         why="{folds} folds; PRSB-SVM not run; PRSB has one restart (paper: the best of 20)",
         facts=(r"as far as the budget allows, (?P<folds>[\d to]+ of the \d+) folds",),
         counts="stated", rows=r"(\d+) of (\d+) errors are as in the paper"),
    Item("huynhthu2021", "Table 4", "**Table 4.**", "**Table S5.**", "", _REAL, _REAL_FACTS,
         "beside"),
    Item("huynhthu2021", "Table S5", "**Table S5.**", "**Table S6.**", counts="beside",
         why=f"{_AS_TABLE_4}; {_ENDED}", facts=(_REAL_ENDED.replace("NAME", "Σα"),)),
    Item("huynhthu2021", "Table S6", "**Table S6.**", "**Figure 1.**", counts="beside",
         why=f"{_AS_TABLE_4}; {_ENDED}", facts=(_REAL_ENDED.replace("NAME", "error"),)),
    Item("huynhthu2021", "Fig. 1", "**Figure 1.**", "**Table S7.**", why=_AS_TABLE_4),
    Item("huynhthu2021", "Table S7", "**Table S7.**", "**Figure 2.**", counts="beside",
         why=f"{_AS_TABLE_4}; {_ENDED}", facts=(_REAL_ENDED.replace("NAME", "AUPR"),)),
    Item("huynhthu2021", "Fig. 2", "**Figure 2.**", "figure_2_paper.png)", why=_AS_TABLE_4),
    Item("huynhthu2021", "section 3.2, in words", "figure_2_paper.png)", "## 6. Gene",
         why=_AS_TABLE_4),
    Item("huynhthu2021", "Table 5: GENIE3, EDA, λ = 0", "**Table 5.**", "CPU time per network",
         why="EDA and PRSB have {restarts} restart (paper: the lowest of 20; with kNN: below)",
         facts=(r"EDA: (?P<restarts>\w+) restart",),
         counts="beside", rows=r"^(?!.*λ automatic)"),
    Item("huynhthu2021", "Table 5: λ by the paper's rule, α averaged over stages", *_BY_RULE, "",
         f"{_ONE_OF_20}; our rows \"λ automatic\" are another rule and left out", _RULE_FACTS,
         "beside", "mean over the stages"),
    Item("huynhthu2021", "Table 5: λ by the paper's rule, α of the last stage", *_BY_RULE, "",
         f"{_ONE_OF_20}; the paper's pseudo-code returns this α", _RULE_FACTS,
         "beside", "last stage"),
    Item("huynhthu2021", "Table 5: kNN, λ = 50 and λ = 0, the lowest of 20 restarts",
         "*The lowest of 20 restarts*", "Average precision at every λ",
         why="λ = 50, as the paper's rule gives with one restart; α averaged over stages",
         counts="beside", rows="lowest objective"),
    Item("huynhthu2021", "section 3.3, in words", "Average precision at every λ", "**Why some",
         why="λ by the paper's rule, {restarts} restart", facts=_RULE_FACTS),
    Item("huynhthu2021", "Fig. S3", "**Figure S3.**", "## 7. Where",
         why="no numbers are printed"),
)  # fmt: skip

ITEMS = (*_PAPER_B, *_PAPER_N, *_PAPER_O, *_PAPER_S, *_PAPER_H)

# Verdicts on what this project expected or promises itself: no statements of the papers.
OWN = (
    Item("onda2021", "section 9", "## 9. Is the forecast", "---\n"),
    Item("salman2022", "section 3", "## 3. Why Stuart", "Seed "),
)
