"""Spreadsheets: tables from .xlsx, and text that no spreadsheet takes for a formula."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from mainstay._files.numbers import as_numbers, text_columns
from mainstay._validation import InputError, some

# what pandas takes for missing in text files, and errors of formulas
_NO_VALUE = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "#DIV/0!", "#VALUE!",
             "#REF!", "#NUM!", "#NAME?", "#NULL!")  # fmt: skip
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def read_xlsx(path: Path) -> pd.DataFrame:
    """Read the first sheet; what else there is goes into `attrs["findings"]`."""
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            "reading .xlsx needs openpyxl: pip install 'mainstay[excel]'; or save it as .csv."
        ) from error
    sheets, cells = _cells(openpyxl, path, results=True)
    if any(None in row for row in cells):
        _refuse_formulas_without_results(path, cells, _cells(openpyxl, path, results=False)[1])
    rows = [row for row in cells if any(cell is not None for cell in row)]
    if not rows:
        raise InputError(f"the first sheet of {path}, {sheets[0]!r}, is empty.")
    table = _as_table(path, rows)
    if len(sheets) > 1:
        table.attrs["findings"] = [
            f"read sheet {sheets[0]!r}, the first of {len(sheets)} (the others: {some(sheets[1:])})"
        ]
    return table


def _cells(
    openpyxl: Any, path: Path, *, results: bool
) -> tuple[list[str], list[tuple[object, ...]]]:
    """Names of the sheets, and the cells of the first: results of formulas, or the formulas."""
    book = openpyxl.load_workbook(path, read_only=True, data_only=results)
    try:
        return book.sheetnames, list(book.worksheets[0].iter_rows(values_only=True))
    finally:
        book.close()


def _refuse_formulas_without_results(
    path: Path, results: list[tuple[object, ...]], formulas: list[tuple[object, ...]]
) -> None:
    """Programs other than spreadsheets write formulas without results: those would be missing."""
    for result_row, formula_row in zip(results, formulas, strict=False):
        for result, formula in zip(result_row, formula_row, strict=False):
            if result is None and isinstance(formula, str) and formula.startswith("="):
                raise InputError(
                    f"{path} holds formulas without their results, such as {formula!r}. Open and "
                    "save it in a spreadsheet program, or save the table as .csv."
                )


def _as_table(path: Path, rows: list[tuple[object, ...]]) -> pd.DataFrame:
    """The first row names the columns; columns without a name and without a value are left out."""
    header, *rest = rows
    width = max(
        (j + 1 for row in rows for j, cell in enumerate(row) if cell is not None), default=0
    )
    padded = [[*row, *[None] * width][:width] for row in rest]
    names = [
        f"Unnamed: {j}" if name is None else str(name) for j, name in enumerate(header[:width])
    ]
    names += [f"Unnamed: {j}" for j in range(len(names), width)]
    table = pd.DataFrame(padded, columns=names, dtype=object)
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise InputError(f"{path} names columns more than once: {some(repeated)}.")
    table = table.mask(table.isin(_NO_VALUE), None).infer_objects()
    return table.assign(**{name: as_numbers(table[name]) for name in text_columns(table)})


def as_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before text that a spreadsheet would run as a formula: =, +, -, @."""
    escaped = {
        name: table[name].map(_escaped, na_action="ignore")
        for name in text_columns(table)
        if table[name].astype(str).str.startswith(_FORMULA_STARTS).any()
    }
    return table.assign(**escaped) if escaped else table


def _escaped(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
