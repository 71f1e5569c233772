"""What a forecast gives: a curve with intervals, the paper's two numbers, a plan, plain words."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mainstay._notebook import card
from mainstay._saving import Saveable
from mainstay._validation import InputError
from mainstay.aggregation import AGGREGATIONS
from mainstay.forecast.base_runs import BaseRuns
from mainstay.forecast.calibration import InfeasibleError, estimate_n_useful, solve_p
from mainstay.forecast.curves import FlatCurve, HalvesCurve, Point, make_curve
from mainstay.forecast.planning import Plan, make_plan, resamples, with_interval
from mainstay.forecast.simulator import SimulatedSelector
from mainstay.forecast.virtual import Ensembles
from mainstay.procedure import selections

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.plotting import ForecastDisplay

LARGEST = 10_000
_NARROWED_BY = {
    "flat": "More base runs (n_runs, --runs) would narrow that.",
    "nested": "That is the uncertainty over data sets: only more rows would narrow it.",
    "overlapping": "More training halves (n_runs, --runs) would narrow that.",
}


@dataclass(frozen=True, eq=False)
class Model:
    """The paper's model of the runs: they prefer n_useful features, with probability p.

    Attributes
    ----------
    n_useful : float
        How many features were selected more often than chance explains.
    p : float or None
        Probability of picking from them; None if no p explains the runs.
    selector : SimulatedSelector or None
        The model; None if infeasible.
    infeasible : str
        Why there is no model; empty if there is one.
    """

    n_useful: float | None
    p: float | None
    selector: SimulatedSelector | None
    infeasible: str = ""


@dataclass(frozen=True, eq=False)
class Forecast(Saveable):
    """Stability by ensemble size, forecast from a few runs.

    Attributes
    ----------
    curve : pandas.DataFrame
        One row per ensemble size: `stability`, its `standard_error`, `lower` and `upper` (nested:
        over data sets of this kind; otherwise from the finite number of runs and of draws on these
        rows), and `observed`: whether there were enough runs to measure it, or it is extrapolated.
    protocol : {"flat", "nested", "overlapping"}
        Which question was asked; see `forecast_stability`.
    method : {"resampling", "simulator"}
        Where `curve` comes from.
    measure, aggregation : str
        How agreement is measured, and how an ensemble combines its runs.
    n_features_to_select : int or None
        How many features an ensemble selects.
    n_useful, p : float or None
        The paper's parameters, which explain the curve: how many features the runs prefer, and
        how likely a run is to pick one of them. None if the model does not fit; `infeasible` says
        why.
    n_runs : int
        Number of base runs.
    seconds_per_run : float
        Measured core-seconds of a base run; NaN for runs made elsewhere or taken from a checkpoint.
    plateau : float
        Limit of the stability as ensembles grow.
    """

    curve: pd.DataFrame
    protocol: str
    method: str
    n_features_to_select: int | None
    base: BaseRuns
    confidence: float
    _engine: FlatCurve | HalvesCurve
    model: Model

    def _to_parts(self) -> dict[str, Any]:
        """Keep the runs behind the forecast and how they are drawn, but not how long they took."""
        engine, ensembles = self._engine, self._engine.ensembles
        for what in (ensembles.measure, ensembles.aggregation):
            if not isinstance(what, str):
                raise InputError(
                    f"a forecast with the function {what!r} cannot be saved: functions cannot be "
                    "reopened. Use measures and aggregations by name."
                )
        return {
            "curve": self.curve,
            "protocol": self.protocol,
            "method": self.method,
            "n_features_to_select": self.n_features_to_select,
            "confidence": self.confidence,
            "measure": ensembles.measure,
            "aggregation": ensembles.aggregation,
            "runs": self.base.runs,
            "halves": self.base.halves,
            "paired": self.base.paired,
            "similarity": ensembles.similarity,
            "draws": getattr(engine, "n_ensembles", getattr(engine, "repeats", None)),
            "seed": engine.seed,
            "n_useful": self.n_useful,
            "p": self.p,
            "infeasible": self.infeasible,
        }

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        runs, halves, k = parts["runs"], parts["halves"], parts["n_features_to_select"]
        protocol, paired = parts["protocol"], parts.get("paired", False)
        if protocol == "nested" and not paired:  # what older versions called so
            protocol = "overlapping"
        ensembles = Ensembles(runs, parts["aggregation"], parts["measure"], k, parts["similarity"])
        draws, confidence = parts["draws"], parts["confidence"]
        curve = make_curve(ensembles, halves, draws, confidence, parts["seed"], paired=paired)
        if isinstance(curve, HalvesCurve):
            curve = replace(curve, repeats=draws)
        n_useful, p, infeasible = parts["n_useful"], parts["p"], parts["infeasible"]
        selector = None
        if not infeasible:
            selector = SimulatedSelector(
                n_features=runs.n_features, n_selected=k, n_useful=n_useful, p=p
            )
        model = Model(n_useful, p, selector, infeasible)
        base = BaseRuns(runs, halves, paired=paired)
        return cls(parts["curve"], protocol, parts["method"], k, base, confidence, curve, model)

    @property
    def measure(self) -> str:
        """Name of the measure of stability."""
        return _name(self._engine.ensembles.measure)

    @property
    def aggregation(self) -> str:
        """Name of the rule of aggregation."""
        return self._engine.ensembles.rule.name

    @property
    def n_runs(self) -> int:
        """Number of base runs."""
        return self.base.runs.n_runs

    @property
    def seconds_per_run(self) -> float:
        """Measured core-seconds of a base run."""
        return self.base.seconds

    @property
    def n_useful(self) -> float | None:
        """Number of features that the runs select more often than chance explains."""
        return self.model.n_useful

    @property
    def p(self) -> float | None:
        """Probability with which a run of the paper's model picks one of its useful features."""
        return self.model.p

    @property
    def infeasible(self) -> str:
        """Why the paper's model does not fit; empty if it does."""
        return self.model.infeasible

    @property
    def plateau(self) -> float:
        """Limit of the stability as ensembles grow."""
        if self.method == "simulator":
            return feasible(self.model).plateau(self.measure)
        return self._engine.plateau()

    def at(self, ensemble_size: float) -> Point:
        """Forecast for one more ensemble size."""
        return point_at(self._engine, self.model, self.method, ensemble_size)

    def plan(
        self, target: float | None = None, *, tolerance: float = 0.01, largest: int = LARGEST
    ) -> Plan:
        """Find the smallest ensemble that reaches a target, and where more runs gain little.

        Parameters
        ----------
        target : float, optional
            Stability wanted.
        tolerance : float
            Smallest gain per doubling of the ensemble that is worth it.
        largest : int
            Largest ensemble to consider.

        Examples
        --------
        >>> import mainstay as ms
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> fc = ms.forecast_stability("f_statistic", X, y, n_features_to_select=5,
        ...                            protocol="nested", n_runs=60, random_state=0)
        >>> fc.plan(target=0.99).reached
        False
        """
        return make_plan(
            self._value_at,
            self.at,
            self.plateau,
            self.seconds_per_run,
            target=target,
            tolerance=tolerance,
            largest=largest,
            narrowed_by=_NARROWED_BY[self.protocol],
        )

    def _value_at(self, m: float) -> float:
        return point_at(self._engine, self.model, self.method, m, interval=False).stability

    def compare(self) -> pd.DataFrame:
        """Compare both methods, applied to the same runs.

        Returns
        -------
        pandas.DataFrame
            `ensemble_size`, `resampling` with `lower` and `upper`, and `simulator` (the paper's
            model; NaN where it is infeasible: see `infeasible`). The model gives ranks but no
            scores, so the mean of scores, for example, is replaced by the mean of ranks.
        """
        import pandas as pd

        sizes = self.curve["ensemble_size"]
        points = [self._engine.point(float(m)) for m in sizes]
        model = self.model.selector
        return pd.DataFrame(
            {
                "ensemble_size": sizes,
                "resampling": [point.stability for point in points],
                "lower": [point.lower for point in points],
                "upper": [point.upper for point in points],
                "simulator": [
                    math.nan if model is None else simulated(model, self._engine.ensembles, int(m))
                    for m in sizes
                ],
            }
        )

    def plot(self, ax: Any = None, *, target: float | None = None) -> ForecastDisplay:
        """Draw the curve, its band and, with a target, the plan."""
        from mainstay.plotting import ForecastDisplay

        return ForecastDisplay.from_forecast(self, target=target, ax=ax)

    def to_frame(self) -> pd.DataFrame:
        """Return the curve."""
        return self.curve.copy()

    def summary(self) -> str:
        """Describe the forecast in plain words."""
        last = self.curve.iloc[-1]
        bounds = (last.get("lower", math.nan), last.get("upper", math.nan))
        words = (
            f"{resamples(int(last['ensemble_size']))} would give a {self.measure} of "
            f"{with_interval(last['stability'], *bounds)}"
        )
        if self.protocol == "flat":
            words += (
                ". This is agreement between ensembles on resamples of the same data, which "
                "approaches 1 for any data, noise included, as ensembles grow: more resamples make "
                "a list repeatable on these rows, not true. Whether another study would find the "
                "same features is what protocol='nested' asks."
            )
        elif self.protocol == "overlapping":
            words += (
                f"; the limit for large ensembles is about {self.plateau:.2f}. This is agreement "
                "between ensembles on random halves that share half of their rows. Two studies, "
                "which share none, would agree less: see protocol='nested'."
            )
        else:
            words += (
                f"; the limit for large ensembles is about {self.plateau:.2f}. This is the "
                "agreement of two independent studies with half of these rows each."
            )
        if self.infeasible:
            words += f" The two-parameter model does not fit these runs: {self.infeasible}"
        elif self.n_useful is not None:
            words += (
                f" The runs choose among about {self.n_useful:.0f} features, and pick one of them "
                f"with probability {self.p:.2f}."
            )
        return words

    def _repr_html_(self) -> str:
        return card(self._title, self.summary(), self.curve)

    @property
    def _title(self) -> str:
        return (
            f"Forecast of {self.measure} from {self.n_runs} runs ({self.protocol} protocol, "
            f"{self.aggregation} aggregation)"
        )

    def __repr__(self) -> str:
        return f"{self._title}\n{self.curve.to_string(index=False, float_format='{:.3f}'.format)}"


def _name(what: Any) -> str:
    return what if isinstance(what, str) else getattr(what, "__name__", "callable")


def feasible(model: Model) -> SimulatedSelector:
    """Return the fitted model, or raise an error that says why it does not fit."""
    if model.selector is None:
        raise InfeasibleError(model.infeasible)
    return model.selector


def point_at(
    engine: FlatCurve | HalvesCurve, model: Model, method: str, m: float, *, interval: bool = True
) -> Point:
    """Forecast for ensembles of m runs by either method; the model has no interval."""
    if method == "resampling":
        return engine.point(m, interval=interval)
    value = simulated(feasible(model), engine.ensembles, int(m))
    return Point(m, value, math.nan, math.nan, math.nan, False)


def simulated(model: SimulatedSelector, ensembles: Ensembles, size: int) -> float:
    """Stability of the paper's model, with the measure and the aggregation that are forecast."""
    rule: Any = ensembles.aggregation
    if isinstance(rule, str):
        rule = ensembles.rule.name
        if ensembles.rule.kind == "scores":  # the model ranks, it has no scores
            rule = f"rank_{rule}" if f"rank_{rule}" in AGGREGATIONS else "rank_mean"
    returns = "selection" if ensembles.runs.kind == "support" else "ranks"
    return model.stability(
        size, ensembles.measure, aggregation=rule, returns=returns, random_state=0
    )


def fit_model(ensembles: Ensembles, base_agreement: float, seed: int) -> Model:
    """Estimate n_useful and p from the runs; say why if it cannot be done."""
    k, runs = ensembles.n_selected, ensembles.runs
    if k is None:
        return Model(None, None, None, "it needs n_features_to_select.")
    n_useful = estimate_n_useful(selections(runs, k, seed))
    try:
        if n_useful < k:
            raise InfeasibleError(
                f"infeasible: only {n_useful:.1f} features were selected more often than chance "
                f"explains, fewer than the {k} that are selected."
            )
        p = solve_p(
            stability=base_agreement,
            measure="jaccard",
            n_features=runs.n_features,
            n_selected=k,
            n_useful=n_useful,
        )
    except InfeasibleError as error:
        return Model(n_useful, None, None, str(error))
    if ensembles.similarity is not None:
        return Model(n_useful, p, None, "it does not account for similar features.")
    selector = SimulatedSelector(n_features=runs.n_features, n_selected=k, n_useful=n_useful, p=p)
    return Model(n_useful, p, selector)


def tabulate(points: list[Point]) -> pd.DataFrame:
    """One row per ensemble size; no interval where there is none."""
    import pandas as pd

    table = pd.DataFrame([asdict(point) for point in points])
    table["ensemble_size"] = table["ensemble_size"].astype(int)
    if np.isnan(table["standard_error"]).all():
        table = table.drop(columns=["standard_error", "lower", "upper"])
    return table
