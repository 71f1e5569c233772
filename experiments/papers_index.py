"""Write the overview of the papers into docs/papers/index.md, from the result files.

python experiments/papers_index.py    # seconds; after any of the experiments has been run
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from _common import HERE, rounding, table
from _papers_items import ITEMS, OWN, Item
from scipy.stats import binom

PAGE = HERE.parent / "docs" / "papers" / "index.md"
MARKS = ("<!-- papers -->", "<!-- /papers -->")
VERDICTS = {"agrees": "**Agrees.**", "part": "**Agrees in part.**", "no": "**Does not agree.**"}
N_REPETITIONS = 10  # data sets or folds behind every mean ± standard deviation of huynhthu2021
_SPREAD = re.compile(r"\|\s*(-?[\d.]+) ± ([\d.]+) \((-?[\d.]+)(?: ± ([\d.]+))?\)")
_PLAIN = re.compile(r"\|\s*(-?[\d.]+)(?: \[[\d.]+–[\d.]+\])?(?: at λ = \d+)? \((-?[\d.]+)\)")
_SHAPE = re.compile(r"\| (\d+) \| (\d+) \| (\d+), (\d+) \|")
_RANKS = re.compile(r"(?:ours|paper): p = \S+; average ranks ([^;:]*?)(?=\. paper:| \(p in)")


def text_of(paper: str) -> str:
    """Return what the script of a paper wrote."""
    return (HERE / "results" / f"{paper}.md").read_text(encoding="utf-8")


def span_of(item: Item, text: str) -> tuple[int, int]:
    """Where the part of the results that an item is about begins and ends."""
    begins = text.find(item.start)
    ends = text.find(item.end, begins + len(item.start))
    if begins < 0 or ends < 0:
        raise SystemExit(
            f"{item.name} of {item.paper}: the results have no part from {item.start!r} to "
            f"{item.end!r}. _papers_items.py no longer fits them."
        )
    return begins, ends


def part_of(item: Item) -> str:
    """Return the part of the results that an item is about."""
    text = text_of(item.paper)
    begins, ends = span_of(item, text)
    return text[begins:ends]


def in_words(item: Item) -> tuple[str, str]:
    """What is missing and why ours differs, with the numbers that the results give."""
    text = " ".join(text_of(item.paper).split())
    values: dict[str, str] = {}
    for pattern in item.facts:
        found = re.search(pattern, text)
        if found is None:
            raise SystemExit(
                f"{item.name} of {item.paper}: nothing in the results fits {pattern!r}. "
                "_papers_items.py no longer fits them."
            )
        values |= found.groupdict()
    return item.missing.format(**values), item.why.format(**values)


# ---------------------------------------------------------------------- what can be counted


def numbers(part: str, rows: str = "") -> tuple[int, int]:
    """Count numbers beside the paper's (in brackets) that are the same, and all of them.

    Only lines that fit `rows` count. The same: within two standard errors of the difference of two
    means, where the paper prints no standard deviation ours taken for it; without any, the same
    when rounded as the paper's is.
    """
    lines = "\n".join(line for line in part.splitlines() if re.search(rows, line))
    near = []
    for ours, sd, theirs, their_sd in _SPREAD.findall(lines):
        variance = float(sd) ** 2 + float(their_sd or sd) ** 2
        error = (variance / N_REPETITIONS) ** 0.5
        near.append(_apart(ours, theirs) <= max(2 * error, rounding(theirs)))
    near += [_apart(ours, theirs) <= rounding(theirs) for ours, theirs in _PLAIN.findall(lines)]
    for rows_here, columns, their_rows, their_columns in _SHAPE.findall(lines):
        near += [rows_here == their_rows, columns == their_columns]
    return sum(near), len(near)


def _apart(ours: str, theirs: str) -> float:
    return abs(float(ours) - float(theirs))


def with_cells(part: str, cells: Sequence[int]) -> str:
    """Keep some cells of the rows of tables; all if none is named."""
    if not cells:
        return part
    lines = [line for line in part.splitlines() if line.startswith("|")]
    rows = [line.strip("|").split("|") for line in lines]
    return "\n".join(
        f"|{'|'.join(row[i] for i in cells)}|" for row in rows if len(row) > max(cells)
    )


def ticks(part: str, rows: str = "") -> tuple[int, int]:
    """Count the ✓ in the lines of tables that fit `rows`, and all that have ✓ or **no**."""
    lines = [line for line in part.splitlines() if line.startswith("|") and re.search(rows, line)]
    same = sum(line.count("✓") for line in lines)
    return same, same + sum(line.count("**no**") for line in lines)


def stated(part: str, pattern: str) -> tuple[int, int]:
    """Read the two numbers of a sentence such as "13 of 18 are within"."""
    found = re.search(pattern, part)
    if found is None:
        raise SystemExit(f"nothing in the results fits {pattern!r}: see _papers_items.py.")
    return int(found[1]), int(found[2])


COUNTS: dict[str, Callable[[str, str], tuple[int, int]]] = {
    "": lambda part, rows: (0, 0),
    "beside": numbers,
    "ticks": ticks,
    "stated": stated,
}


def rank_orders(part: str) -> list[str]:
    """Read the methods in the order of their average ranks, ours and the paper's, if given."""
    return [
        ", ".join(re.findall(r"([A-Z]\S*) [\d.]+", ranks)) for ranks in _RANKS.findall(part)[:2]
    ]


def statements(part: str) -> Counter[str]:
    """Count the verdicts on what the paper says."""
    return Counter({name: part.count(text) for name, text in VERDICTS.items()})


# ---------------------------------------------------------------------- the page


def row(item: Item) -> list[str]:
    """Say of one table or figure whether it is reproduced, how we know, and why not."""
    missing, why = in_words(item)
    remarks = "; ".join(filter(None, (missing and f"missing: {missing}", why)))
    if not item.start:
        status = "cannot be had" if missing else "nothing to compute"
        return [item.paper, item.name, status, "", remarks]
    part = part_of(item)
    said, orders = statements(part), rank_orders(part)
    same, total = COUNTS[item.counts](with_cells(part, item.cells), item.rows)
    n_said = said.total()
    evidence = []
    if n_said:
        in_part = f", {said['part']} in part" if said["part"] else ""
        evidence.append(f"{said['agrees']} of {n_said} statements{in_part}")
    if total:
        evidence.append(f"{same} of {total} numbers")
    same_order = len(set(orders)) < 2
    if orders:
        evidence.append(f"average ranks in {'the same' if same_order else 'another'} order")
        remarks = f"here {orders[0]}, paper {orders[1]}; {remarks}"
    good = said["agrees"] == n_said and same >= 0.95 * total and same_order
    status = "drawn" if not evidence else "reproduced" if good else "differs"
    if missing:
        status += ", in part cannot be had"
    return [item.paper, item.name, status, "; ".join(evidence) or "not compared", remarks]


def luck() -> str:
    """Write the verdicts by paper beside what coin tosses would give."""
    said: dict[str, Counter[str]] = {}
    for item in ITEMS:
        said.setdefault(item.paper, Counter())
        if item.start:
            said[item.paper] += statements(part_of(item))
    said["all"] = sum(said.values(), Counter())
    header = ["paper", "statements", "agree", "in part", "do not", "half of them"]
    rows = [
        [paper, n.total(), n["agrees"], n["part"], n["no"], f"{n.total() / 2:g}"]
        for paper, n in said.items()
    ]
    return table(header, rows)


def left_out() -> str:
    """Say which verdicts are on claims of our own, and not counted."""
    parts = [f"{statements(part_of(i)).total()} in {i.paper}, {i.name}" for i in OWN]
    return f"Not counted, since they are no statements of the papers: {'; '.join(parts)}."


LUCK = (
    "What the papers state in words, judged by our numbers. The last column is what a coin would "
    "give that decides every statement. It is a rough guide and no estimate: where a page asks for "
    f"four fifths of the cases, coins give that in {binom.sf(9, 12, 0.5):.0%} (12 cases) or "
    f"{binom.sf(3, 5, 0.5):.0%} (5 cases); and that two things do not differ is what few data "
    "always show. Statements of one paper hang together, so that no test is made of these counts."
)


def overview() -> str:
    """Write both tables: every item, and the verdicts by paper."""
    header = ["paper", "item", "status", "by", "why, and what is missing"]
    items = table(header, [row(item) for item in ITEMS], text=5)
    return f"{items}\n\n{LUCK} {left_out()}\n\n{luck()}"


def page() -> str:
    """Return the page as it has to be."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n{overview()}\n{MARKS[1]}{after}"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
