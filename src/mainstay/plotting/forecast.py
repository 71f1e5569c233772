"""The forecast: stability by ensemble size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainstay.plotting._axes import BLUE, GREEN, GREY, ORANGE, Display, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from mainstay.forecast.planning import Plan
    from mainstay.forecast.result import Forecast


@dataclass(eq=False)
class ForecastDisplay(Display):
    """Stability by ensemble size: curve, band, plan, and measured points where there are any.

    Parameters
    ----------
    curve : pandas.DataFrame
        `Forecast.curve`.
    plan : Plan, optional
        What to mark: the target and the size that reaches it, or the limit.
    measured : pandas.DataFrame, optional
        `ensemble_size` and `stability` of ensembles that were actually run.
    title, ylabel : str
        Texts.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("forecast.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fc = ms.forecast_stability("f_statistic", X, y, n_features_to_select=5, n_runs=40,
    ...                            protocol="nested", random_state=0)
    >>> display = ms.ForecastDisplay.from_forecast(fc, target=0.9)
    >>> display.ax_.get_xlabel()
    'resamples in the ensemble'
    """

    curve: pd.DataFrame
    plan: Plan | None = None
    measured: pd.DataFrame | None = None
    title: str = ""
    ylabel: str = "stability"

    @classmethod
    def from_forecast(
        cls,
        forecast: Forecast,
        *,
        target: float | None = None,
        measured: pd.DataFrame | None = None,
        ax: Any = None,
    ) -> ForecastDisplay:
        """Draw a forecast; with a target, also the plan that reaches it.

        Parameters
        ----------
        forecast : Forecast
            What `ms.forecast_stability` returned.
        target : float, optional
            Stability to plan for.
        measured : pandas.DataFrame, optional
            `ensemble_size` and `stability` of ensembles that were actually run.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        question = {
            "flat": "Same data, new resamples: do ensembles agree?",
            "nested": "Disjoint halves of the data: do ensembles agree?",
            "overlapping": "Overlapping halves of the data: do ensembles agree?",
        }[forecast.protocol]
        display = cls(
            forecast.curve,
            forecast.plan(target) if target is not None else None,
            measured,
            title=question,
            ylabel=f"stability ({forecast.measure})",
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> ForecastDisplay:
        """Draw on `ax`, or on new axes."""
        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        x, y = self.curve["ensemble_size"], self.curve["stability"]
        observed = self.curve["observed"].to_numpy(dtype=bool)
        if "lower" in self.curve:
            ax.fill_between(
                x, self.curve["lower"], self.curve["upper"], color=BLUE, alpha=0.18, linewidth=0,
                label="interval",
            )  # fmt: skip
        ax.plot(x, y, color=BLUE, label="forecast")
        ax.plot(x[observed], y[observed], "o", color=BLUE, label="observed")
        ax.plot(x[~observed], y[~observed], "o", color=BLUE, markerfacecolor="white")
        if self.measured is not None:
            ax.plot(
                self.measured["ensemble_size"], self.measured["stability"], "D", color=ORANGE,
                markersize=5, label="measured",
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_xticks(list(x), [f"{size:g}" for size in x])
        ax.minorticks_off()
        ax.set(xlabel="resamples in the ensemble", ylabel=self.ylabel, title=self.title)
        self._frame(ax)
        if self.plan is not None:
            self._draw_plan(ax, self.plan)
        ax.legend(frameon=False, loc="best", fontsize="small")
        return self

    def _frame(self, ax: Axes) -> None:
        """Show as much of the range from 0 to 1 as the curve needs."""
        values = [self.curve["stability"].max(), self.curve.get("upper", self.curve["stability"])]
        highest = max(float(values[0]), float(values[1].max()))
        if self.plan is not None and self.plan.target is not None:
            highest = max(highest, self.plan.target)
        lowest = min(0.0, float(self.curve.get("lower", self.curve["stability"]).min()))
        ax.set_ylim(max(lowest, -0.2), min(1.02, highest * 1.12 + 0.02))
        ax.grid(axis="y", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)

    def _draw_plan(self, ax: Axes, plan: Plan) -> None:
        low, high = ax.get_xlim()
        if plan.target is not None:
            ax.axhline(plan.target, color=ORANGE, linewidth=1.2, linestyle="--")
            ax.annotate(
                f"target {plan.target:g}", (high, plan.target), xytext=(-2, 3), ha="right",
                textcoords="offset points", color="#8A5A00", fontsize="small",
            )  # fmt: skip
        if plan.is_sure and plan.ensemble_size is not None and low <= plan.ensemble_size <= high:
            ax.axvline(plan.ensemble_size, color=GREEN, linewidth=1.2, linestyle=":")
            ax.annotate(
                f"{plan.ensemble_size}", (plan.ensemble_size, 0), xytext=(3, 4),
                xycoords=ax.get_xaxis_transform(), textcoords="offset points", color=GREEN,
                fontsize="small",
            )  # fmt: skip
        if plan.ensemble_size is None and plan.plateau < 1:
            ax.axhline(plan.plateau, color=GREY, linewidth=1.2, linestyle=":")
            ax.annotate(
                f"limit about {plan.plateau:.2f}", (low, plan.plateau), xytext=(4, 3),
                textcoords="offset points", color=GREY, fontsize="small",
            )  # fmt: skip
