"""Numbers as a page shows them: amounts, sizes, times, counts of things."""

from __future__ import annotations

from adjudge.record import dollars


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things: `1 entry`, `2,000 entries`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def money(amount: float | None, unknown: str = "not known") -> str:
    """US dollars, or a word where nothing is known."""
    return unknown if amount is None else dollars(amount)


def size(number: int) -> str:
    """Bytes or characters in three digits: `858 B`, `1.3 kB`, `41 kB`, `1.9 MB`."""
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= one:
            return f"{number / one:.1f} {unit}" if number < 10 * one else f"{number // one:,} {unit}"
    return f"{number} B"


def tokens(number: int | None) -> str:
    """Tokens: `412`, `40.9k`, `2.67M`."""
    if number is None:
        return "not known"
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 999_950 else f"{number / 1_000_000:.2f}M"


def clock(seconds: float | None) -> str:
    """A duration in one or two units: `0.4 s`, `38 s`, `28 min`, `2 h 5 min`."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def when(time: str | None, year_now: str = "") -> str:
    """The date and minute of an ISO time as it was written: `11 Apr 2026 07:53`; anything else stays as it is.

    The year is left out if it is this one.
    """
    if time is None:
        return ""
    date, _, rest = time.replace(" ", "T", 1).partition("T")
    year, month, day = [*date.split("-"), "", ""][:3]
    if not (year.isdigit() and month.isdigit() and day.isdigit() and 1 <= int(month) <= 12):
        return time
    return f"{int(day)} {_MONTHS[int(month) - 1]} {'' if year == year_now else year + ' '}{rest[:5]}".strip()
