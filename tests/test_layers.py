"""Imports go one way: a module imports only from layers above its own line, lazily or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mainstay

ROOT = Path(mainstay.__file__).parent

# Lowest first. A module may import from the lines before its own, and from its own line.
LAYERS = """
_validation _provenance _kernels _workspace
_writing _packing _checkpoint
_clusters _parallel
_sklearn _saving _files _notebook
batches
runs
similarity
resampling
measures aggregation
plotting
subspace
rankers
data
procedure
twins
forecast reliability
report
ensemble
networks
comparison
io
datasets
_terminal
demo
cli
__init__ __main__
"""
LINE = {name: line for line, names in enumerate(LAYERS.split("\n")) for name in names.split()}


def module_files() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py"))


def part_of(module: str) -> str:
    """The part of the package (a file or a folder below mainstay) that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`, which never run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for other in node.orelse:
                yield from runtime_nodes(other)
            continue
        yield node
        yield from runtime_nodes(node)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and full name of every module of mainstay that a file imports, anywhere in it."""
    for node in runtime_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (
                (node.lineno, alias.name)
                for alias in node.names
                if alias.name.split(".")[0] == "mainstay"
            )
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            if node.module == "mainstay":
                yield from ((node.lineno, f"mainstay.{alias.name}") for alias in node.names)
            elif node.module and node.module.startswith("mainstay."):
                yield node.lineno, node.module


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def violations(path: Path) -> list[str]:
    own = part_of(module_name(path))
    return [
        f"{path.relative_to(ROOT.parent)}:{line}: {own} imports {target}, which is above it"
        for line, target in imports(path)
        if LINE[part_of(target)] > LINE[own]
    ]


def test_every_part_of_the_package_has_a_line_and_no_line_is_empty() -> None:
    parts = {part_of(module_name(path)) for path in module_files()}
    assert parts == set(LINE)


@pytest.mark.parametrize("path", module_files(), ids=lambda path: module_name(path))
def test_a_module_imports_only_from_lower_layers(path: Path) -> None:
    assert violations(path) == []


def test_modules_import_each_other_in_no_circle() -> None:
    names = {module_name(path): path for path in module_files()}
    graph = {
        name: {target for _, target in imports(path) if target in names and target != name}
        for name, path in names.items()
    }
    # a package that only gathers the names of its modules is no circle: leave such parents out
    for name, targets in graph.items():
        graph[name] = {t for t in targets if not name.startswith(f"{t}.")}
    done: set[str] = set()

    def visit(name: str, chain: tuple[str, ...]) -> None:
        assert name not in chain, " → ".join([*chain[chain.index(name) :], name])
        if name not in done:
            for target in sorted(graph[name]):
                visit(target, (*chain, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_an_upward_import_is_found_even_if_it_is_lazy(tmp_path: Path) -> None:
    source = "def late():\n    from mainstay.cli import main\n    return main\n"
    path = tmp_path / "lazy.py"
    path.write_text(source)
    assert list(imports(path)) == [(2, "mainstay.cli")]


def test_imports_for_type_checkers_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text("if TYPE_CHECKING:\n    from mainstay.cli import main\nimport mainstay.runs\n")
    assert list(imports(path)) == [(3, "mainstay.runs")]


def test_numba_stays_in_the_kernels_and_joblib_in_one_file() -> None:
    def users(library: str) -> set[str]:
        return {
            module_name(path)
            for path in module_files()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if (isinstance(node, ast.Import) and any(a.name.split(".")[0] == library
                                                     for a in node.names))
            or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == library)
        }  # fmt: skip

    assert users("joblib") == {"mainstay._parallel"}
    assert all(name.startswith("mainstay._kernels") for name in users("numba"))
