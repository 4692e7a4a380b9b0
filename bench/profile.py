"""How long the profile of a record of 1,000 turns takes, in CPU time: reads, edits, searches and tests."""

from __future__ import annotations

import statistics
import time

from adjudge.profile import profile, words
from adjudge.record import Record
from adjudge.testing import Piece, calls, make_record, user

TURNS = 1_000
ROUNDS = 15
GOAL = 0.020
OUTPUT = "\n".join(f"src/module_{number}.py:{number}: return value_{number}" for number in range(60))


def turn(number: int) -> tuple[Piece, ...]:
    """One call with its result; no two commands are the same, but those that run the tests."""
    path = f"src/package/module_{number % 90}.py"
    match number % 8:
        case 0:
            return calls("bash", "cd /app && python -m pytest -q tests 2>&1 | tail -20", OUTPUT[:900], number % 3 % 2)
        case 1 | 5:
            return calls("read", {"file_path": path, "offset": number, "limit": 200}, OUTPUT)
        case 2:
            edited = {"file_path": path, "old_string": OUTPUT[:300], "new_string": OUTPUT[:400]}
            return calls("edit", edited, "The file was updated.")
        case 3:
            return calls("bash", f'cd /app && grep -rn "value_{number}" src --include="*.py" | head -40', OUTPUT, 0)
        case 4:
            return calls("bash", f"sed -n '{number},{number + 80}p' {path} && git status --short", OUTPUT, 0)
        case 6:
            code = f"cd /app && python - <<'EOF'\nfrom package import module_{number}\nprint(module_{number}.value)\nEOF"
            return calls("bash", code, "7\n", 0)
        case _:
            return calls("bash", f"git diff --stat HEAD~{number} -- {path} > /tmp/{number}.txt; wc -l < {path}", "80\n", 0)


def made() -> Record:
    """A record of 1,000 turns and 2,000 entries."""
    return make_record(user("Do it."), *(turn(number) for number in range(TURNS)))


def main() -> None:
    """Print the median CPU time of some rounds beside its goal."""
    record = made()
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        found = profile(record)
        times.append(time.process_time() - started)
    assert found.calls == TURNS
    median = statistics.median(times)
    print(f"profile of {TURNS:,} turns  {1000 * median:5.1f} ms CPU", end="")
    print(f"  goal ≤ {1000 * GOAL:.0f} ms: {'met' if median <= GOAL else 'MISSED'}")
    started = time.process_time()
    text = words(found)
    print(f"in words             {1000 * (time.process_time() - started):5.1f} ms CPU, {len(text):,} characters")


if __name__ == "__main__":
    main()
