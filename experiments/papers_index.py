"""Write the overview of the papers into docs/papers/index.md, from the result files.

python experiments/papers_index.py    # seconds; after any of the experiments has been run
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from _common import HERE, table
from _papers_items import ITEMS, Item

PAGE = HERE.parent / "docs" / "papers" / "index.md"
MARKS = ("<!-- papers -->", "<!-- /papers -->")
VERDICTS = {"agrees": "**Agrees.**", "part": "**Agrees in part.**", "no": "**Does not agree.**"}
N_REPETITIONS = 10  # data sets or folds behind every mean ± standard deviation of huynhthu2021
_SPREAD = re.compile(r"\|\s*(-?[\d.]+) ± ([\d.]+) \((-?[\d.]+)\)")
_SHAPE = re.compile(r"\| (\d+) \| (\d+) \| (\d+), (\d+) \|")
_RANKS = re.compile(r"(?:ours|paper): p = \S+; average ranks ([^;:]*?)(?=\. paper:| \(p in)")
_PLAIN = re.compile(r"\|\s*(-?[\d.]+)(?: \[[\d.]+–[\d.]+\])?(?: at λ = \d+)? \((-?[\d.]+)\)")


def part_of(item: Item, folder: Path = HERE / "results") -> str:
    """Return the part of the results that an item is about."""
    text = (folder / f"{item.paper}.md").read_text(encoding="utf-8")
    begins = text.find(item.start)
    ends = text.find(item.end, begins + len(item.start))
    if begins < 0 or ends < 0:
        raise SystemExit(
            f"{item.paper}.md has no part from {item.start!r} to {item.end!r}: "
            "_papers_items.py no longer fits the results."
        )
    return text[begins:ends]


def numbers(part: str) -> tuple[int, int]:
    """Count numbers beside the paper's (in brackets) that are the same, and all of them.

    The same: within two standard errors of the difference of two means, the paper's standard
    deviation taken to be ours; where there is none, within 10%.
    """
    same = total = 0
    for ours, sd, theirs in _SPREAD.findall(part):
        error = float(sd) * (2 / N_REPETITIONS) ** 0.5
        near = abs(float(ours) - float(theirs)) <= max(2 * error, _rounding(theirs))
        same, total = same + near, total + 1
    for ours, theirs in _PLAIN.findall(part):
        near = abs(float(ours) - float(theirs)) <= max(0.1 * float(theirs), _rounding(theirs))
        same, total = same + near, total + 1
    for rows, columns, *theirs in _SHAPE.findall(part):
        same, total = same + ([rows, columns] == theirs), total + 1
    return same, total


def rank_orders(part: str) -> bool | None:
    """Whether methods come in the same order of average ranks; None if there are no ranks."""
    found = [re.findall(r"([A-Z]\S*) [\d.]+", ranks) for ranks in _RANKS.findall(part)]
    return None if len(found) != 2 else found[0] == found[1]


def _rounding(printed: str) -> float:
    """Half a unit of the last digit that is printed."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def statements(part: str) -> dict[str, int]:
    """Count the verdicts on what the paper says."""
    return {name: part.count(text) for name, text in VERDICTS.items()}


def row(item: Item) -> list[str]:
    """Say of one table or figure whether it is reproduced, how we know, and why not."""
    if not item.start:
        return [item.paper, item.name, "nothing to compute", "", item.why]
    part = part_of(item)
    said, order = statements(part), rank_orders(part)
    same, total = numbers(part) if item.paper == "huynhthu2021" else (0, 0)
    n_said = sum(said.values())
    evidence = []
    if n_said:
        evidence.append(
            f"{said['agrees']} of {n_said} statements"
            + (f", {said['part']} in part" if said["part"] else "")
        )
    if total:
        evidence.append(f"{same} of {total} numbers")
    if order is not None:
        evidence.append(f"average ranks in {'the same' if order else 'another'} order")
    good = said["agrees"] == n_said and same >= 0.95 * total and order is not False
    status = "reproduced" if good and evidence else "differs"
    if not evidence:
        evidence.append("drawn, not compared")
        status = "drawn"
    if item.missing:
        status += ", in part cannot be had"
    why = [item.why]
    if item.missing:
        why.insert(0, f"missing: {item.missing}")
    return [item.paper, item.name, status, "; ".join(evidence), "; ".join(filter(None, why))]


def overview() -> str:
    """Write both tables: every item, and the verdicts by paper beside what luck would give."""
    rows = [row(item) for item in ITEMS]
    items = table(["paper", "item", "status", "by", "why, and what is missing"], rows, text=5)
    counts = []
    for paper in dict.fromkeys(item.paper for item in ITEMS):
        said: Counter[str] = Counter()
        for item in ITEMS:
            if item.paper == paper and item.start:
                said.update(statements(part_of(item)))
        n = sum(said.values())
        counts.append([paper, n, said["agrees"], said["part"], said["no"], f"{n / 2:g}"])
    header = ["paper", "statements", "agree", "in part", "do not", "expected to agree by luck"]
    return f"{items}\n\n{{luck}}\n\n{table(header, counts)}"


LUCK = (
    "What the papers state in words, judged by our numbers. A statement that one thing is larger "
    "than another is right by luck in half of the cases; that is the last column, and the least "
    "that the third has to be compared with."
)


def page() -> str:
    """Return the page as it has to be."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    made = overview().replace("{luck}", LUCK)
    return f"{before}{MARKS[0]}\n{made}\n{MARKS[1]}{after}"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
