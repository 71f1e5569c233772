"""The Python code and the command that repeat a result, from its settings."""

from __future__ import annotations

import shlex
from typing import Any

_OPTIONS = {
    "aggregation": "--aggregation",
    "n_features_to_select": "--n-features",
    "n_resamples": "--resamples",
    "target_stability": "--target-stability",
    "resampling": "--resampling",
    "task": "--task",
    "similarity_threshold": "--threshold",
}


def python_code(settings: dict[str, Any]) -> str | None:
    """Return Python code that repeats the result; None for runs that were made elsewhere."""
    if settings.get("made_by") != "EnsembleSelector":
        return None
    imports = {"import mainstay as ms"}
    changed = _changed(settings)
    ranker = changed.pop("ranker", "information_gain")
    arguments = [_source(ranker, imports)]
    arguments += [f"{name}={_source(value, imports)}" for name, value in sorted(changed.items())]
    lines = [*sorted(imports, key=lambda line: (line.startswith("import"), line)), ""]
    lines += ["selector = ms.EnsembleSelector("]
    lines += [f"    {argument}," for argument in arguments]
    lines += [").fit(X, y)", 'ms.write_report(selector, "report.html")']
    return "\n".join(lines)


def cli_line(settings: dict[str, Any]) -> str | None:
    """Return the command that repeats the result, if it was made by a command."""
    source = settings.get("source")
    if not isinstance(source, dict) or "file" not in source or "target" not in source:
        return None
    changed = _changed(settings)
    values = [item for value in changed.values() for item in _listed(value)]
    if any(isinstance(value, dict) for value in values):  # an object, not a name
        return None
    words = ["mainstay", "select", str(source["file"]), "--target", str(source["target"])]
    for name in _listed(changed.pop("ranker", [])):
        words += ["--ranker", str(name)]
    for name, option in _OPTIONS.items():
        if name in changed:
            words += [option, str(changed[name])]
    for option in ("groups", "drop", "keep"):
        for value in _listed(source.get(option) or []):
            words += [f"--{option}", str(value)]
    words += ["--seed", str(settings["parameters"].get("random_state"))]
    return shlex.join(words)


def _changed(settings: dict[str, Any]) -> dict[str, Any]:
    """Parameters that differ from their defaults; results saved earlier hold them all."""
    given = {name: value for name, value in settings["parameters"].items() if value is not None}
    return dict(settings.get("changed_parameters", given))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def as_python(value: Any) -> str:
    """One plain setting as Python would write it."""
    return _source(value, set())


def _source(value: Any, imports: set[str]) -> str:
    """Python source of a plain setting; what it needs is added to the imports."""
    if isinstance(value, list):
        return f"[{', '.join(_source(item, imports) for item in value)}]"
    if not isinstance(value, dict):
        return repr(value)
    if "class" in value:
        module, _, name = value["class"].rpartition(".")
        public = module.split("._")[0]
        imports.add(f"from {public} import {name}")
        inside = value.get("parameters", {}).items()
        return f"{name}({', '.join(f'{k}={_source(v, imports)}' for k, v in inside)})"
    if "object" in value:
        return f"...  # {value['object']}".replace("\n", " ")
    return repr(value)
