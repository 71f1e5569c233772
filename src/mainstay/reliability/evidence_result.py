"""FeatureEvidence: which features are more than noise would give, as a result with its words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._notebook import card
from mainstay._saving import Saveable, field_parts
from mainstay._validation import InputError, natural_order, some
from mainstay.reliability.error_rule import ErrorRule
from mainstay.reliability.evidence_words import (
    HEADLINES,
    features_named,
    most_named,
    tested_against_noise,
    what_could_help,
)
from mainstay.runs.grouping import group_name

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.plotting import EvidenceDisplay, NullDistributionDisplay

_STATISTICS = {
    "score": "mean score of the runs and of all rows",
    "log_rank": "mean of −log(rank) over the runs",
    "frequency": "selection frequency",
}


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


@dataclass(frozen=True, eq=False)
class GroupEvidence:
    """The same p- and q-values for groups of twins; a group is as strong as its strongest member.

    Attributes
    ----------
    labels : numpy.ndarray
        Number of the group of every feature.
    values, p_values, family_wise_p_values, expected_false, q_values : numpy.ndarray
        Per group.
    """

    labels: np.ndarray
    values: np.ndarray
    p_values: np.ndarray
    family_wise_p_values: np.ndarray
    expected_false: np.ndarray
    q_values: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEvidence(Saveable):
    """What `ms.feature_evidence` returns: how each feature compares with permuted targets.

    Attributes
    ----------
    features : tuple of str
        Names, in the order of the arrays below.
    statistic : {"score", "log_rank", "frequency"}
        What was compared.
    standardised : bool
        Whether statistics were put on the scale of each feature's own null distribution, because
        these differ between features.
    values : numpy.ndarray
        The statistic of every feature, standardised or not.
    frequency : numpy.ndarray
        How often the runs selected the feature.
    p_values, family_wise_p_values, expected_false, q_values : numpy.ndarray
        Per feature; see `table`.
    p_value : float
        Is there anything at all: exact p-value of the whole list.
    stability : float
        Agreement (`nogueira`) of the runs' selections.
    null_stability : numpy.ndarray
        The same for every permuted target; NaN where its runs selected nothing.
    null_largest, null_quantiles : numpy.ndarray
        Largest statistic of every permuted target; quantiles of all their statistics.
    n_permutations, n_runs, n_selected : int
        Permuted targets, runs of each repetition, features that a run selects.
    level : float
        False discovery rate at which summaries name features.
    permuted : str
        What changed places.
    stopped : str
        Why there are no more permutations.
    groups : GroupEvidence or None
        The same for groups of twins.
    settings : dict
        What is needed to repeat it.
    seconds : float
        How long the permutations took; not saved.
    """

    features: tuple[str, ...]
    statistic: str
    standardised: bool
    values: np.ndarray
    frequency: np.ndarray
    p_values: np.ndarray
    family_wise_p_values: np.ndarray
    expected_false: np.ndarray
    q_values: np.ndarray
    p_value: float
    stability: float
    null_stability: np.ndarray
    null_largest: np.ndarray
    null_quantiles: np.ndarray
    n_permutations: int
    n_runs: int
    n_selected: int
    level: float
    permuted: str
    stopped: str
    groups: GroupEvidence | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = math.nan

    def _to_parts(self) -> dict[str, Any]:
        return {**field_parts(self), "seconds": math.nan}

    @property
    def statistic_in_words(self) -> str:
        """What was compared, and in which unit."""
        unit = " (standard deviations of noise)" if self.standardised else ""
        return f"{_STATISTICS[self.statistic]}{unit}"

    @property
    def stability_p_value(self) -> float:
        """Do the runs agree more than they do on permuted targets? Exact."""
        if math.isnan(self.stability):
            return math.nan
        reached = (self.null_stability >= self.stability).sum()
        return float((1 + reached) / (1 + self.n_permutations))

    @property
    def group_q_values(self) -> np.ndarray:
        """q-value of every feature's group of twins; NaN without groups."""
        if self.groups is None:
            return np.full(len(self.features), math.nan)
        return np.asarray(self.groups.q_values[self.groups.labels])

    @property
    def table(self) -> pd.DataFrame:
        """Per feature, strongest first.

        `p_value` compares the feature with itself under permuted targets (exact); under
        `family_wise_p_value` at most α the probability of even one false feature is at most α;
        `q_value` is the false discovery rate of the list from the top down to this feature;
        `expected_false` how many features noise would bring that far; `group` names its twins and
        itself, and `group_q_value` is for the group as a whole.
        """
        import pandas as pd

        group_p, group_q, twins = self._of_groups()
        table = pd.DataFrame(
            {
                "feature": self.features,
                "statistic": self.values,
                "frequency": self.frequency,
                "p_value": self.p_values,
                "family_wise_p_value": self.family_wise_p_values,
                "expected_false": self.expected_false,
                "q_value": self.q_values,
                "group": twins,
                "group_p_value": group_p,
                "group_q_value": group_q,
            }
        )
        return table.iloc[self._order].reset_index(drop=True)

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table

    def mask(self, rule: str | ErrorRule) -> np.ndarray:
        """Which features, in the order of `features`, can be named under an error rule."""
        return self._named(ErrorRule.parse(rule), self)

    def selected(self, rule: str | ErrorRule = "fdr<=0.1") -> tuple[str, ...]:
        """Features that can be named under an error rule, strongest first; there may be none.

        Parameters
        ----------
        rule : str
            "fdr<=0.1", "fwer<=0.05" or "expected_false<=1".
        """
        mask = self.mask(rule)
        return tuple(self.features[j] for j in self._order if mask[j])

    def selected_groups(self, rule: str | ErrorRule = "fdr<=0.1") -> tuple[tuple[str, ...], ...]:
        """Groups of twins that can be named under an error rule, strongest first."""
        if self.groups is None:
            raise InputError("no groups of twins were looked for; give a similarity_threshold.")
        named = self._named(ErrorRule.parse(rule), self.groups)
        members = self._members
        strength = self.groups.values
        strongest_first = sorted(np.flatnonzero(named), key=lambda g: (-strength[g], members[g]))
        return tuple(members[g] for g in strongest_first)

    def guarantee(self, rule: str | ErrorRule) -> str:
        """Say in one sentence what is promised, under which null hypothesis and assumptions."""
        parsed = ErrorRule.parse(rule)
        exact = {
            "fdr": "exact if no feature is related to the target; where some are, estimated from "
            "the permutations and checked by simulation",
            "fwer": "exact if no feature is related to the target; with related ones it assumes "
            "that these do not make unrelated ones look stronger",
            "expected_false": "exact if no feature is related to the target, however features "
            "depend on each other; where some are, it assumes that these do not make unrelated "
            "ones look stronger",
        }[parsed.kind]
        return (
            f"{parsed.in_words[0].upper()}{parsed.in_words[1:]}; false means that the feature has "
            f"nothing to do with the target ({self.n_permutations} permutations of "
            f"{self.permuted}); {exact}."
        )

    def plot(self, ax: Any = None) -> EvidenceDisplay:
        """Draw evidence against selection frequency."""
        from mainstay.plotting import EvidenceDisplay

        return EvidenceDisplay.from_evidence(self, ax=ax)

    def plot_null(self, ax: Any = None) -> NullDistributionDisplay:
        """Draw the observed statistics in front of the null distribution."""
        from mainstay.plotting import NullDistributionDisplay

        return NullDistributionDisplay.from_evidence(self, ax=ax)

    @property
    def statement(self) -> str:
        """Whether there is anything, and what can be named, in plain words."""
        rule = ErrorRule("fdr", self.level)
        named = self.selected(rule)
        groups = () if self.groups is None else self.selected_groups(rule)
        most = most_named(self.p_value, self.level, len(named), len(groups))
        rate = f"a false discovery rate of {_percent(self.level)}"
        head = tested_against_noise(most, self.p_value, self.n_permutations, self.permuted)
        if most == "nothing":
            return head
        if most == "features":
            labels = range(len(self.features)) if self.groups is None else self.groups.labels
            n_groups = len({int(labels[j]) for j in np.flatnonzero(self.mask(rule))})
            return f"{head} At {rate}, {features_named(len(named), n_groups)}: {some(named)}."
        if most == "groups":
            names = some(["; ".join(group[:3]) for group in groups])
            word = "group" if len(groups) == 1 else "groups"
            return f"{head} No single feature can be named, but {len(groups)} {word}: {names}."
        return f"{head} But no single feature can be named at {rate}."

    @property
    def stability_statement(self) -> str:
        """How far the runs agree, beside runs on permuted targets; empty where it is undefined."""
        if math.isnan(self.stability):
            return ""
        defined = self.null_stability[~np.isnan(self.null_stability)]
        noise = f"to {defined.mean():.2f} on average" if len(defined) else "select nothing"
        return (
            f"The {self.n_selected} best features of the runs agree to {self.stability:.2f} "
            f"(nogueira), those of runs on permuted targets {noise} "
            f"(p = {self.stability_p_value:.2g})."
        )

    def summary(self) -> str:
        """Say it in plain words, with the agreement of the runs beside that of noise."""
        words = [self.statement, self.stability_statement]
        if words[0].startswith(HEADLINES["nothing"][:-1]):
            words.insert(1, what_could_help("nothing"))
        return " ".join(filter(None, words))

    def __repr__(self) -> str:
        named = len(self.selected(ErrorRule("fdr", self.level)))
        return (
            f"FeatureEvidence: p = {self.p_value:.3g} for the list; {named} of "
            f"{len(self.features)} features at a false discovery rate of {_percent(self.level)} "
            f"({self.statistic_in_words}; {self.n_permutations} permutations)"
        )

    def _repr_html_(self) -> str:
        return card("Evidence against permuted targets", self.summary(), self.table)

    # ------------------------------------------------------------------ inside

    @property
    def _order(self) -> np.ndarray:
        """Strongest first: by q-value, then by the statistic, then by name."""
        place = np.argsort(natural_order(self.features))
        return np.lexsort((place, -self.values, self.q_values))

    def _named(self, rule: ErrorRule, evidence: FeatureEvidence | GroupEvidence) -> np.ndarray:
        if self.n_permutations < rule.fewest_permutations:
            raise InputError(
                f"{self.n_permutations} permutations cannot resolve '{rule}'; at least "
                f"{rule.fewest_permutations} are needed."
            )
        values = {
            "fdr": evidence.q_values,
            "fwer": evidence.family_wise_p_values,
            "expected_false": evidence.expected_false,
        }[rule.kind]
        return np.asarray(values <= rule.level * (1 + 1e-12))

    @property
    def _members(self) -> list[tuple[str, ...]]:
        assert self.groups is not None
        members: list[list[str]] = [[] for _ in range(int(self.groups.labels.max()) + 1)]
        for j in natural_order(self.features):
            members[int(self.groups.labels[j])].append(self.features[j])
        return [tuple(names) for names in members]

    def _of_groups(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Group p- and q-values, and names of groups of more than one, by feature."""
        if self.groups is None:
            nothing = np.full(len(self.features), math.nan)
            return nothing, nothing, [""] * len(self.features)
        members = self._members
        names = [group_name(group) if len(group) > 1 else "" for group in members]
        of_feature = [names[int(label)] for label in self.groups.labels]
        return self.groups.p_values[self.groups.labels], self.group_q_values, of_feature
