"""What a comparison gives: a table, the front, a recommendation in plain words."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._provenance import plain
from mainstay._saving import WithNamedRuns
from mainstay._validation import InputError
from mainstay.comparison.candidates import BASELINES, NOT_COMPETING
from mainstay.comparison.pareto import choose, pareto_front
from mainstay.comparison.significance import neighbour_tests
from mainstay.comparison.words import caution, explain, n_competing, stability_column
from mainstay.measures.inference import StabilityEstimate
from mainstay.reliability.agreement import PairAgreement
from mainstay.report.repeat import cli_line, python_code
from mainstay.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.ensemble import EnsembleSelector
    from mainstay.plotting import ComparisonDisplay

_FEW_CANDIDATES = 10  # that an overview shows all of


@dataclass(frozen=True, eq=False)
class Comparison(WithNamedRuns):
    """Selectors compared by accuracy, stability and number of features.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per candidate: its name `candidate`, `selector`, `hyperparameters`, `aggregation`,
        `n_features`; the mean `score` over the splits with its `score_standard_error` (corrected
        for overlapping splits); `stability`, its standard error and interval; the same for
        `adjusted_stability`, where similarities are known; `seconds`, the median time that one
        training part took to rank (base runs, which aggregations and sizes share, included);
        `baseline`, `on_front`, `recommended`. Selecting all features, or none, has no stability to
        speak of: it is missing there.
    scores : pandas.DataFrame
        `candidate`, `split` and `score` on its test part.
    tests : pandas.DataFrame
        Neighbours on the front, in the order of their scores: is the difference in score
        (corrected resampled t-test) and in stability (the same test over pairs of halves; paired
        jackknife for other splits) more than chance?
        `p_holm` is corrected for the number of tests in this table.
    runs : dict of str to Runs
        What every candidate selected on every training part.
    reason : str
        Why the recommended candidate is recommended.
    settings : dict
        What is needed to repeat the comparison, the seed included.
    """

    table: pd.DataFrame
    scores: pd.DataFrame
    tests: pd.DataFrame
    runs: dict[str, Runs]
    reason: str
    settings: dict[str, Any]

    def _to_parts(self) -> dict[str, Any]:
        """Leave out measured times."""
        return {**super()._to_parts(), "table": self.table.assign(seconds=math.nan)}

    @property
    def front(self) -> pd.DataFrame:
        """The rows of the table on the Pareto front, best score first."""
        return in_order_of_score(self.table[self.table["on_front"]]).reset_index(drop=True)

    @property
    def recommended(self) -> str:
        """Name of the recommended candidate."""
        return str(self.table.loc[self.table["recommended"], "candidate"].iloc[0])

    @property
    def caution(self) -> str:
        """What speaks against the recommended candidate: it predicts no better than a baseline.

        Empty if it predicts better than random features and than no features at all.
        """
        return " ".join(caution(self.table, self.scores, self.settings))

    @property
    def stability_column(self) -> str:
        """The column of stability that counts in the front."""
        return stability_column(self.table)

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def python_code(self) -> str:
        """Return the Python code that selects with the recommended candidate on all rows."""
        return str(python_code(self._repeat()))

    def command(
        self,
        file: str,
        target: str,
        *,
        groups: str | None = None,
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        missing: Sequence[str] = (),
        decimal: str | None = None,
    ) -> str | None:
        """Return the command that does the same for a file.

        None if the candidate has a part that is an object, not a name.
        """
        columns = {"groups": groups, "drop": list(drop), "keep": list(keep)}
        values = {"missing": list(missing), "decimal": decimal}
        source = {"file": file, "target": target, **columns, **values}
        return cli_line({**self._repeat(), "source": source})

    def _repeat(self) -> dict[str, Any]:
        changed = self.settings["recommended"]
        return {
            "made_by": "EnsembleSelector",
            "parameters": changed,
            "changed_parameters": changed,
        }

    def plot(self, ax: Any = None) -> ComparisonDisplay:
        """Draw score by stability, with the front and the recommended candidate."""
        from mainstay.plotting import ComparisonDisplay

        return ComparisonDisplay.from_comparison(self, ax=ax)

    def summary(self) -> pd.DataFrame:
        """Deprecated: this table is `overview()`; the words are in `reason`."""
        warnings.warn(
            "Comparison.summary() is now overview(); from the next release on, summary() gives "
            "words, as it does elsewhere.",
            FutureWarning,
            stacklevel=2,
        )
        return self.overview()

    def overview(self) -> pd.DataFrame:
        """The front and the baselines (of few candidates all), with the columns that matter."""
        import pandas as pd

        shown = self.table["baseline"] | (self.n_candidates <= _FEW_CANDIDATES)
        rest = self.table[shown & ~self.table["on_front"]]
        rows = pd.concat([self.front, in_order_of_score(rest)], ignore_index=True)
        column = self.stability_column
        return pd.DataFrame(
            {
                "candidate": rows["candidate"],
                "features": rows["n_features"],
                "score": rows["score"],
                "±": rows["score_standard_error"],
                "stability": rows[column],
                "lower": rows[f"{column}_lower"],
                "upper": rows[f"{column}_upper"],
                "seconds": rows["seconds"],
                "on_front": rows["on_front"],
                "recommended": rows["recommended"],
            }
        )

    @property
    def n_candidates(self) -> int:
        """How many candidates compete: all but using all features, none, or random ones."""
        return n_competing(self.table)

    @property
    def counted(self) -> str:
        """How many candidates there are, in words."""
        n = self.n_candidates
        return f"{n:,} candidate{'s' * (n != 1)}, beside all, no and random features"

    def __repr__(self) -> str:
        about = self.settings
        head = (
            f"Comparison of {self.counted}, on {about['n_splits']} splits of "
            f"{about['n_rows']} rows × {about['n_features']} features: {about['scoring']} and "
            f"stability ({about['stability']}).\nThe front and the baselines:"
        )
        marks = {True: "yes", False: ""}
        shown = self.overview().replace({"on_front": marks, "recommended": marks})
        body = shown.to_string(index=False, float_format="{:.3f}".format, na_rep="")
        return f"{head}\n{body}\n\n{self.reason}"


def in_order_of_score(table: pd.DataFrame) -> pd.DataFrame:
    """Best score first; of equal ones the smaller, then by name."""
    return table.sort_values(
        ["score", "n_features", "candidate"], ascending=[False, True, True], kind="stable"
    )


def conclude(
    rows: list[dict[str, Any]],
    scores: Mapping[str, np.ndarray],
    runs: dict[str, Runs],
    estimates: Mapping[str, StabilityEstimate | PairAgreement],
    selectors: Mapping[str, EnsembleSelector | None],
    settings: dict[str, Any],
) -> Comparison:
    """Find the front and the recommendation, and test neighbours."""
    import pandas as pd

    table = pd.DataFrame(rows)
    column = stability_column(table)
    table["baseline"] = table["selector"].isin(BASELINES)
    values = {
        "score": table["score"].to_numpy(),
        "stability": table[column].to_numpy(),
        "size": -table["n_features"].to_numpy(dtype=float),
    }
    errors = {
        "score": table["score_standard_error"].to_numpy(),
        "stability": table[f"{column}_standard_error"].to_numpy(),
        "size": np.zeros(len(table)),
    }
    competes = ~table["selector"].isin(NOT_COMPETING).to_numpy()
    matrix = np.column_stack(list(values.values()))
    matrix[~competes] = np.nan
    table["on_front"] = pareto_front(matrix)
    if not table["on_front"].any():
        raise InputError("no candidate has a stability that is defined; choose other sizes.")
    allowed = ~np.isnan(matrix).any(axis=1)
    chosen, steps = choose(values, errors, allowed, settings["priorities"], settings["tolerance"])
    table["recommended"] = np.arange(len(table)) == chosen
    front = in_order_of_score(table[table["on_front"]])["candidate"].tolist()
    long = pd.DataFrame(
        {
            "candidate": np.repeat(list(scores), settings["n_splits"]),
            "split": np.tile(np.arange(settings["n_splits"]), len(scores)),
            "score": np.concatenate(list(scores.values())),
        }
    )
    tests = neighbour_tests(front, scores, estimates, settings["test_per_train"])
    reason = " ".join([*explain(table, chosen, steps, settings), *caution(table, long, settings)])
    repeat = plain(selectors[table["candidate"].iloc[chosen]])["parameters"]
    settings = {**settings, "recommended": repeat}
    return Comparison(table, long, tests, runs, reason, settings)
