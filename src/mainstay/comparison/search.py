"""Search the space of candidates with Optuna instead of trying all of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from mainstay._parallel import collect
from mainstay._validation import InputError
from mainstay.comparison.candidates import Space
from mainstay.comparison.evaluate import Bench, Candidate, Result


def search_candidates(
    space: Space, bench: Bench, stability: Callable[[Result], float], n_trials: int, seed: int
) -> list[Candidate]:
    """Let a multi-objective sampler propose candidates: more score and stability, fewer features.

    Trials run one after the other (each uses the cores for its splits), so that the same seed
    proposes the same candidates for any number of cores.
    """
    optuna = _import_optuna()
    asked: dict[str, Candidate] = {}

    def trials() -> Iterator[None]:
        sampler = optuna.samplers.TPESampler(seed=seed)
        study = optuna.create_study(
            directions=["maximize", "maximize", "minimize"], sampler=sampler
        )
        for _ in range(n_trials):
            trial = study.ask()
            candidate = _propose(trial, space)
            asked.setdefault(candidate.label, candidate)
            (result,) = bench.evaluate([candidate], progress=False)
            agreement = stability(result)
            # a sampler cannot learn from an undefined stability: the worst there is
            value = -1.0 if math.isnan(agreement) else agreement
            study.tell(trial, [float(result.scores.mean()), value, candidate.n_features])
            yield None

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        collect(trials(), n_trials, progress=bench.progress, description="search")
    finally:
        optuna.logging.set_verbosity(level)
    return list(asked.values())


def _propose(trial: Any, space: Space) -> Candidate:
    name = trial.suggest_categorical("selector", list(space.specs))
    # by position, since values may be anything
    hyperparameters = {
        parameter: values[
            trial.suggest_categorical(f"{name}: {parameter}", list(range(len(values))))
        ]
        for parameter, values in space.grids.get(name, {}).items()
    }
    contender = space.contender(name, hyperparameters)
    rules = list(contender.aggregations)
    aggregation = rules[0]
    if len(rules) > 1:
        aggregation = trial.suggest_categorical("aggregation", rules)
    low, high = space.sizes[0], space.sizes[-1]
    k = low if low == high else trial.suggest_int("n_features", low, high, log=True)
    return Candidate(contender, aggregation, k)


def _import_optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError(
            "search='optuna' needs Optuna; install it with pip install 'mainstay[optuna]'."
        ) from None
    return optuna
