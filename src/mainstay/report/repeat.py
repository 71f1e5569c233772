"""The Python code, the command and the file of settings that repeat a result, from its settings."""

from __future__ import annotations

import json
import shlex
from typing import Any

_OPTIONS = {
    "aggregation": "aggregation",
    "ranker_aggregation": "ranker-aggregation",
    "n_features_to_select": "n-features",
    "n_resamples": "resamples",
    "target_stability": "target-stability",
    "resampling": "resampling",
    "task": "task",
    "similarity_threshold": "threshold",
    "control": "control",
    "n_permutations": "permutations",
}
_PYTHON_ONLY = {  # and the value that every command has
    "cv": 5,
    "estimator": None,
    "n_features_per_run": None,
    "ranker_weights": None,
    "scoring": None,
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
    given = [name for name in ("groups", "strata") if settings.get("source", {}).get(name)]
    of_rows = "".join(f", {name}={name}" for name in given)
    lines += [f").fit(X, y{of_rows})", 'ms.write_report(selector, "report.html")']
    return "\n".join(lines)


def cli_line(settings: dict[str, Any]) -> str | None:
    """Return the command that repeats the result, if it was made by a command."""
    options = _command_options(settings)
    if options is None:
        return None
    words = ["mainstay", "select", str(options.pop("file"))]
    for option, value in options.items():
        for item in _listed(value):
            words += [f"--{option}", str(item)]
    return shlex.join(words)


def config_file(settings: dict[str, Any]) -> str | None:
    """Return the same as the text of a file for `mainstay select --config`, in TOML."""
    options = _command_options(settings)
    if options is None:
        return None
    return "\n".join(f"{option} = {_toml(value)}" for option, value in options.items())


def _command_options(settings: dict[str, Any]) -> dict[str, Any] | None:
    """FILE and options of the command, by name; None if no command can do the same."""
    source = settings.get("source")
    if not isinstance(source, dict) or "file" not in source or "target" not in source:
        return None
    changed = _changed(settings)
    values = [item for value in changed.values() for item in _listed(value)]
    named = all(value is not None and not isinstance(value, dict) for value in values)
    if not named or any(changed.get(name, usual) != usual for name, usual in _PYTHON_ONLY.items()):
        return None  # None and objects have no names
    options = {"file": source["file"], "target": source["target"]}
    if "ranker" in changed:
        options["ranker"] = _listed(changed["ranker"])
    options |= {option: changed[name] for name, option in _OPTIONS.items() if name in changed}
    about_the_file = ("groups", "strata", "drop", "keep", "missing", "decimal")
    options |= {option: source[option] for option in about_the_file if source.get(option)}
    seed = settings["parameters"].get("random_state")
    return options if seed is None else options | {"seed": seed}


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    escaped = json.dumps(str(value), ensure_ascii=False)  # strings of TOML are those of JSON
    return escaped.replace("\x7f", "\\u007f")


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
