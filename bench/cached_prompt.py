"""The share of prompt tokens read from the cache, from the third call on, while a conversation grows.

A real llama.cpp server with a very small model, asked as the evaluator asks: system, task and record first and fixed,
looks added at the end. What the model answers is of no interest; the looks are made up.
"""

from __future__ import annotations

import asyncio

from adjudge.models.opening import open_model
from adjudge.ports import Message, Model, Request, Tool, ToolCall
from adjudge.record import Usage
from adjudge.settings import Settings

CALLS = 6
GOAL = 0.9
LOOK = Tool("look", "Look at a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
OVERVIEW = "\n".join(f"e{number} call bash: pytest tests/test_{number}.py" for number in range(1, 31))


async def usages(model: Model) -> list[Usage]:
    """What each call of a growing conversation consumed."""
    messages: tuple[Message, ...] = (Message("user", f"The record:\n{OVERVIEW}\nIs every test run?"),)
    used = []
    for number in range(CALLS):
        reply = await model.answer(Request("You judge by what you see.", messages, (LOOK,), most=8))
        used.append(reply.call.usage)
        call = ToolCall(f"call_{number}", "look", f'{{"path": "tests/test_{number}.py"}}')
        told = f"L{number + 1}: def test_{number}(): assert add(2, {number}) == {number + 2}"
        messages += (Message("assistant", "", (call,)), Message("tool", told, answers=call.id, name="look"))
    return used


async def measured() -> list[Usage]:
    """The same with a model that is opened and closed here."""
    model = open_model("local/smollm2", Settings())
    try:
        return await usages(model)
    finally:
        await model.close()


def main() -> None:
    """Print each call's tokens, and the share beside its goal."""
    used = asyncio.run(measured())
    for number, usage in enumerate(used, 1):
        print(f"call {number}: {usage.prompt:5} tokens, {usage.cached or 0:5} cached")
    cached, sent = (sum(getattr(usage, name) or 0 for usage in used[2:]) for name in ("cached", "prompt"))
    share = cached / sent
    print(f"from the third call on: {share:.1%} cached  goal ≥ {GOAL:.0%}: {'met' if share >= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
