"""Who competes: selectors with their hyper-parameters, and the baselines that are always there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from mainstay._validation import InputError, check_choice, share_or_number, some
from mainstay.aggregation.rules import AGGREGATIONS, find_rule
from mainstay.data import Data
from mainstay.ensemble import EnsembleSelector
from mainstay.rankers import SelectorRanker, make_ranker
from mainstay.rankers.models import has_gaps

ALL, NONE, F_TEST, RANDOM = "all features", "no features", "F-test", "random"
BASELINES = (ALL, NONE, F_TEST, RANDOM)
NO_CHOICE = (ALL, NONE)  # they leave nothing to choose: they have no size and no stability
NOT_COMPETING = (*NO_CHOICE, RANDOM)
ALONE = "none"  # the "aggregation" of a ranker without resampling
_BEYOND = 2  # greedy rankers go on to so many times the largest size


@dataclass(frozen=True)
class Contender:
    """A selector with its hyper-parameters: run once per split, aggregated and cut in many ways.

    Attributes
    ----------
    name : str
        Its name in the table.
    selector : EnsembleSelector or None
        What makes the runs; None for the baselines that look at no data.
    aggregations : dict of str to rule
        How the runs become a ranking; "none" stands for the ranker without resampling.
    hyperparameters : dict
        What the grid set.
    """

    name: str
    selector: EnsembleSelector | None
    aggregations: dict[str, Any]
    hyperparameters: dict[str, Any] = field(default_factory=dict)

    @property
    def hyperparameter_text(self) -> str:
        """The hyper-parameters in a form to read: "max_depth=3, criterion=gini"."""
        return ", ".join(f"{name}={value}" for name, value in self.hyperparameters.items())

    @property
    def key(self) -> str:
        """Name and hyper-parameters."""
        text = self.hyperparameter_text
        return f"{self.name}({text})" if text else self.name

    def counts(self, aggregation: str) -> bool:
        """Whether an aggregation counts the best features of every run."""
        rule = AGGREGATIONS.get(str(self.aggregations.get(aggregation)))
        return rule is not None and rule.kind == "selections"

    def label(self, aggregation: str, k: int) -> str:
        """Name one candidate: "mrmr/mean/10"."""
        if self.name in NO_CHOICE:
            return self.name
        return f"{self.key}/{k}" if self.name in BASELINES else f"{self.key}/{aggregation}/{k}"


@dataclass(frozen=True)
class Space:
    """Everything that competes.

    Attributes
    ----------
    selectors : dict of str to EnsembleSelector
        By name.
    grids : dict of str to mapping
        Hyper-parameters and their values, by name of the selector.
    aggregations : dict of str to rule, or None
        None: every ensemble its own, and its rankers alone where they rank.
    sizes : list of int
        Numbers of features.
    shared : dict
        Options of all ensembles that are not the user's own.
    """

    specs: dict[str, Any]
    grids: dict[str, Any]
    aggregations: dict[str, Any] | None
    sizes: list[int]
    shared: dict[str, Any]

    def contender(self, name: str, hyperparameters: Mapping[str, Any]) -> Contender:
        """One selector with these hyper-parameters."""
        selector = _ensemble(name, self.specs[name], hyperparameters, self.shared)
        rules = self.aggregations
        if rules is None:
            rules = {rule_name(selector.aggregation): selector.aggregation}
            known = self.specs[name] == "f_statistic"  # F_TEST, a baseline, is that alone
            if not known and not selector.procedure.is_alone and can_go_alone(selector):
                rules[ALONE] = ALONE
        for rule in rules.values():
            _check_rule(name, rule, selector)
        return Contender(name, selector, rules, dict(hyperparameters))

    def contenders(self) -> list[Contender]:
        """Every point of every grid."""
        return [
            self.contender(name, point)
            for name in self.specs
            for point in ParameterGrid(self.grids.get(name, {}))
        ]


def make_space(
    selectors: Any,
    data: Data,
    *,
    aggregations: Any,
    sizes: Any,
    grids: Mapping[str, Any] | None,
    n_resamples: Any,
    resampling: Any,
) -> Space:
    """Read what a user calls selectors, aggregations, sizes and grids."""
    numbers = _sizes(sizes, data.n_features)
    stop = min(_BEYOND * numbers[-1], data.n_features)
    specs = _named(default_selectors(data) if selectors is None else selectors, stop)
    # a grid may name a greedy ranker as the user did, without the number it stops at
    stopping = {name.partition("@")[0]: name for name in specs}
    grids = {stopping.get(name, name): grid for name, grid in (grids or {}).items()}
    for name in grids:
        check_choice("selector in grids", name, specs)
    rules = None if aggregations is None else _rules(aggregations)
    space = Space(
        specs=specs,
        grids={name: _grid(name, grid) for name, grid in grids.items()},
        aggregations=rules,
        sizes=numbers,
        shared={"n_resamples": n_resamples, "resampling": resampling},
    )
    space.contenders()  # what cannot be made should fail before anything is run
    return space


def baselines(numeric: bool = True) -> list[Contender]:
    """All features, none, the F-test (of features that are numbers) and random selection."""
    f_test = EnsembleSelector("f_statistic", n_jobs=1, progress=False)
    return [
        Contender(ALL, None, {ALONE: None}),
        Contender(NONE, None, {ALONE: None}),
        *([Contender(F_TEST, f_test, {ALONE: None})] if numeric else []),
        Contender(RANDOM, None, {ALONE: None}),
    ]


def default_selectors(data: Data) -> list[str]:
    """Cheap and different from each other: two filters, one against redundancy, two models.

    mRMR is that of correlations, which is fast, where no value is missing.
    """
    mrmr = "mrmr" if has_gaps(data.X) else "mrmr_fcq"
    return ["f_statistic", "information_gain", mrmr, "extra_trees", "linear"]


def default_sizes(n_features: int) -> list[int]:
    """2, 5, 10, 20, 50 and 100, up to half of the features.

    Examples
    --------
    >>> default_sizes(30), default_sizes(3), default_sizes(2)
    ([2, 5, 10], [1, 2], [1])
    """
    usual = [k for k in (2, 5, 10, 20, 50, 100) if 2 * k <= n_features]
    return usual if len(usual) > 1 else list(range(1, n_features))


def rule_name(rule: Any) -> str:
    """Name an aggregation or a scoring rule."""
    return rule if isinstance(rule, str) else getattr(rule, "__name__", type(rule).__name__)


def _sizes(sizes: Any, n_features: int) -> list[int]:
    if n_features < 2:
        raise InputError("a comparison of selectors needs at least 2 features, got 1.")
    if sizes is None:
        return default_sizes(n_features)
    given = [sizes] if isinstance(sizes, int | float) else list(sizes)
    if not given:
        raise InputError("sizes is empty; give numbers or shares of features, such as [5, 0.1].")
    numbers = sorted({share_or_number("sizes", size, n_features) for size in given})
    if numbers[-1] == n_features:
        raise InputError(
            f"sizes must stay below the number of features, {n_features}: all features are always "
            "among the baselines, and selecting everything cannot be unstable."
        )
    return numbers


def _rules(aggregations: Any) -> dict[str, Any]:
    given = [aggregations] if isinstance(aggregations, str) or callable(aggregations) else None
    rules = {rule_name(rule): rule for rule in given or aggregations}
    if not rules:
        raise InputError("aggregations is empty; give at least one, such as 'mean'.")
    return rules


def _check_rule(name: str, rule: Any, selector: EnsembleSelector) -> None:
    """Refuse unknown names, and rules that do not fit what the rankers give."""
    if rule != ALONE:
        find_rule(rule, "scores")
        return
    if not can_go_alone(selector):
        raise InputError(
            f"aggregation {ALONE!r}, no resampling, needs rankings that can be cut at every "
            f"size, but {name!r} only says which features are in."
        )


def can_go_alone(selector: EnsembleSelector) -> bool:
    """Whether one run of the rankers on all rows can be cut at every size."""
    rankers = selector.procedure.rankers
    return not any(isinstance(ranker, SelectorRanker) for _, ranker in rankers)


def _named(selectors: Any, stop: int) -> dict[str, Any]:
    """What competes, by name: the names that `mainstay select --ranker` knows."""
    if isinstance(selectors, Mapping):
        named = {str(name): _stopping(spec, stop) for name, spec in selectors.items()}
    else:
        several = isinstance(selectors, list | tuple | set)
        specs = list(selectors) if several else [selectors]
        named = {}
        for spec in (_stopping(one, stop) for one in specs):
            name = _name_of(spec)
            if name in named:
                raise InputError(
                    f"two selectors are called {name!r}; give a dict with names of your own: "
                    "{'small': ..., 'large': ...}."
                )
            named[name] = spec
    if not named:
        raise InputError("there are no selectors to compare; give at least one, or None.")
    taken = sorted(set(named) & set(BASELINES))
    if taken:
        raise InputError(f"{some(taken)}: a baseline has this name already; take another.")
    return named


def _name_of(spec: Any) -> str:
    if isinstance(spec, EnsembleSelector):
        return _name_of(spec.ranker)
    if isinstance(spec, list | tuple):
        return "+".join(_name_of(one) for one in spec)
    return rule_name(spec)


def _grid(name: str, grid: Any) -> dict[str, list[Any]]:
    if not isinstance(grid, Mapping):
        raise InputError(
            f"grids[{name!r}] must map hyper-parameters to lists of values, got {grid!r}."
        )
    for parameter, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            raise InputError(
                f"grids[{name!r}][{parameter!r}] must be a list of values, got {values!r}."
            )
        if len(values) == 0:
            raise InputError(f"grids[{name!r}][{parameter!r}] holds no value to try.")
    return {str(parameter): list(values) for parameter, values in grid.items()}


def _ensemble(
    name: str, spec: Any, hyperparameters: Mapping[str, Any], shared: dict[str, Any]
) -> EnsembleSelector:
    """One ensemble: the user's own, or one around the ranker."""
    if isinstance(spec, EnsembleSelector):
        if "n_features_to_select" in hyperparameters:
            raise InputError("grids cannot set n_features_to_select; that is what sizes= is for.")
        own: EnsembleSelector = _with(name, spec, hyperparameters)
        return own.set_params(n_jobs=1, progress=False)  # type: ignore[no-any-return]
    ranker: Any = spec
    if isinstance(spec, list | tuple):
        if hyperparameters:
            raise InputError(f"{name!r} is a list of rankers, which has no hyper-parameters.")
    elif hyperparameters:
        # what takes the hyper-parameters is a scikit-learn estimator itself, not its wrapper
        bare = spec if hasattr(spec, "get_params") else make_ranker(spec)
        ranker = _with(name, bare, hyperparameters)
    return EnsembleSelector(ranker, n_jobs=1, progress=False, **shared)


def _stopping(spec: Any, stop: int) -> Any:
    """A greedy ranker asked for by name puts twice as many features in order as are wanted.

    All of them would take time that grows with their square: "mrmr" becomes "mrmr@40".
    """
    if isinstance(spec, list | tuple):
        return [_stopping(one, stop) for one in spec]
    if not isinstance(spec, str) or "@" in spec:
        return spec
    greedy = "n_features_to_select" in make_ranker(spec).get_params()
    return f"{spec}@{stop}" if greedy else spec


def _with(name: str, estimator: Any, hyperparameters: Mapping[str, Any]) -> Any:
    copy = clone(estimator)
    try:
        return copy.set_params(**hyperparameters)
    except ValueError:
        for parameter in hyperparameters:
            check_choice(f"hyper-parameter of {name!r}", parameter, sorted(copy.get_params()))
        raise
