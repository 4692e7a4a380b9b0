"""Chat transcripts of a certain size, each another: what an agent said, ran and got back, from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

NOUNS = ("parser", "cache", "retry", "index", "buffer", "socket", "kernel", "tensor", "schema", "router", "ledger", "queue")
VERBS = ("checks", "reads", "fails", "writes", "opens", "drops", "keeps", "returns", "parses", "counts", "splits", "merges")


def sentence(rng: random.Random, words: int) -> str:
    """Words that say nothing."""
    return " ".join(rng.choice(NOUNS if at % 2 else VERBS) for at in range(words)) + "."


def output(rng: random.Random, size: int) -> str:
    """What a file or a test run looks like, of about so many characters."""
    lines, left = [], size
    while left > 0:
        noun, verb, number = rng.choice(NOUNS), rng.choice(VERBS), rng.randint(1, 4000)
        code = f"{number:5d}\t    {noun}_{number % 97} = {verb}(self.{noun}, offset={number}, mode={rng.choice('rwa')!r})"
        test = f"tests/test_{noun}.py::test_{verb}[{number % 100}] PASSED [{number % 101:3d}%] {rng.random():.4f}s"
        lines.append(code if left > size // 2 else test)
        left -= len(lines[-1]) + 1
    return "\n".join(lines)[:size]


def messages(rng: random.Random, number: int, size: int) -> Iterator[dict[str, object]]:
    """About `number` messages of about `size` bytes in all."""
    yield {"role": "system", "content": sentence(rng, 120)}
    yield {"role": "user", "content": sentence(rng, 200)}
    pairs = max(1, (number - 3) // 2)
    for at in range(pairs):
        command = f"python -m pytest tests/test_{rng.choice(NOUNS)}.py -k {rng.choice(VERBS)}"
        call = {"name": rng.choice(["bash", "edit", "read"]), "arguments": json.dumps({"cmd": command, "timeout": at})}
        calls = [{"id": f"call_{at}", "type": "function", "function": call}]
        yield {"role": "assistant", "content": sentence(rng, 40), "tool_calls": calls}
        yield {"role": "tool", "tool_call_id": f"call_{at}", "content": output(rng, max(80, size // pairs - 750))}
    yield {"role": "assistant", "content": sentence(rng, 150)}


def write_transcripts(folder: Path, count: int, number: int = 200, size: int = 400_000) -> None:
    """That many files, `000.json` and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(count):
        rng = random.Random(at)
        document = {"model": "stub/agent", "messages": list(messages(rng, number, size))}
        (folder / f"{at:05d}.json").write_text(json.dumps(document))
