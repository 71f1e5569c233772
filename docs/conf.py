"""Sphinx settings. Build with `sphinx-build -W docs docs/_build/html`; nothing is downloaded."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any

import mainstay

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "mainstay"
author = "The mainstay developers"
copyright = "the mainstay developers"  # noqa: A001 (Sphinx's name)
release = version = mainstay.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_demo", "examples", "auto_examples/*.ipynb"]
default_role = "literal"
suppress_warnings = ["config.cache"]  # the scraper below is a function, which cannot be cached

myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
nb_execution_mode = "force"  # the tour is stored without outputs
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_execution_in_temp = True
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

templates_path = ["_templates"]
html_theme = "furo"
html_title = "mainstay"
html_static_path = ["_static"]
html_extra_path = ["_demo"]  # what the demo writes: see `make_demo`
html_css_files = ["mainstay.css"]
html_show_sphinx = False
html_copy_source = False


def make_demo(folder: Path = Path(__file__).parent / "_demo" / "mainstay-demo") -> None:
    """Run the demo for the page that opens its result, unless an earlier build has done so."""
    from mainstay.demo import run_demo

    if not (folder / "report.html").exists():
        with contextlib.redirect_stdout(io.StringIO()):
            run_demo(folder, n_resamples=100, seed=0, n_jobs=-1)


def setup(_app: Any) -> None:
    """Sphinx calls this before it looks for `html_extra_path`."""
    make_demo()


def save_displays(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Give the gallery the pictures of the displays that a block of an example has made."""
    from sphinx_gallery.scrapers import figure_rst

    from mainstay.plotting import Display

    paths = []
    for value in list(variables["example_globals"].values()):
        if isinstance(value, Display) and not hasattr(value, "in_gallery"):
            value.in_gallery = True
            paths.append(next(variables["image_path_iterator"]))
            value.figure_.savefig(paths[-1], dpi=120)
    return str(figure_rst(paths, settings["src_dir"]))


sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "image_scrapers": (save_displays,),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"mainstay\.plotting.*Display|EnsembleSelector",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": (),
    "remove_config_comments": True,
    "min_reported_time": 1e9,
    "write_computation_times": False,  # its table loads scripts from elsewhere
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
}
