"""How the commands read the texts of their options."""

from __future__ import annotations


def number_or_text(text: str) -> int | float | str:
    """Read 20 as a number, 0.1 as a share, anything else as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def whole_numbers(option: str, text: str) -> list[int]:
    """Read 1,5,10 as numbers."""
    numbers = numbers_or_shares(option, text, example="1,5,10")
    if not all(isinstance(number, int) for number in numbers):
        raise _not_numbers(option, text, "1,5,10")
    return [int(number) for number in numbers]


def numbers_or_shares(option: str, text: str, example: str = "5,10,0.1") -> list[int | float]:
    """Read 5,10,0.1 as two numbers and a share."""
    found = [number_or_text(part.strip()) for part in text.split(",")]
    numbers = [number for number in found if not isinstance(number, str)]
    if len(numbers) < len(found):
        raise _not_numbers(option, text, example)
    return numbers


def check_target_file(option: str, path: str | None, endings: tuple[str, ...]) -> None:
    """Refuse a file that could not be written, before any work is done for it."""
    from pathlib import Path

    from mainstay._validation import InputError

    if path is None:
        return
    if Path(path).suffix.lower() not in endings:
        raise InputError(f"{option} {path}: the name must end in {', '.join(endings)}.")
    if not Path(path).parent.is_dir():
        raise InputError(f"{option} {path}: there is no directory {str(Path(path).parent)!r}.")


def _not_numbers(option: str, text: str, example: str) -> Exception:
    from mainstay._validation import InputError

    return InputError(f"{option} must be numbers such as {example}, got {text!r}.")
