"""What a judgment of 400 KB by the reader costs in CPU and memory: its question, its model's call, and 50 at once.

Run `python -m bench.reader_judge`. The model is a loopback server in a process of its own, which answers after 200 ms.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from adjudge.judges.reader.judge import Reader
from adjudge.judges.reader.own import own_rubric
from adjudge.models.opening import open_model
from adjudge.ports import Model, Request
from adjudge.run import Run
from adjudge.settings import Settings
from adjudge.testing import ScriptedModel
from bench.reader_input import SMALL, cpu, line, made, peak

FULL = Settings(prune="full")
AT_ONCE = 50
LATENCY = 0.2
LENGTH = re.compile(rb"content-length: *(\d+)", re.I)


def reply() -> str:
    """An answer that is blameless in all dimensions and cites a turn for each."""
    scores = {
        dimension.id: {
            "reasoning": "Looked for it in all turns.",
            "value": dimension.baseline,
            "citations": [{"turn": f"t{number * 10}", "quote": "user  4096 Nov 29"}],
        }
        for number, dimension in enumerate(own_rubric().dimensions, 1)
    }
    return json.dumps({"scores": scores, "summary": "It worked.", "steering": []})


async def serve() -> None:
    """Answer every request in the form of OpenAI's chat completions, until killed; the port is printed."""
    message = {"role": "assistant", "content": reply()}
    usage = {"prompt_tokens": 100_000, "completion_tokens": 500, "total_tokens": 100_500}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    said = {"id": "1", "object": "chat.completion", "created": 1, "model": "judge", "choices": choices, "usage": usage}
    body = json.dumps(said).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            head = line + await reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            await reader.readexactly(int(length[1]) if length else 0)
            await asyncio.sleep(LATENCY)
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
            )

    server = await asyncio.start_server(answer, "127.0.0.1", limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def each(times: int, work: Callable[[], Awaitable[object]]) -> float:
    """Seconds of CPU that it takes, when it is done so many times, `AT_ONCE` together."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with room:
            await work()

    started = time.process_time()
    await asyncio.gather(*(one() for _ in range(times)))
    return (time.process_time() - started) / times


def judging(model: Model) -> tuple[Reader, Callable[[], Awaitable[object]]]:
    """A reader, and the judging of a record that is decoded each time."""
    reader, record, rubric = Reader(model, FULL), made(SMALL), own_rubric()
    run = Run("r-0", record, "made", task="Do it.")
    return reader, lambda: reader.judge(run, rubric, None)


async def figures(port: int) -> None:
    """Print each figure."""

    def answer_at_once(_: Request) -> str:
        scripted.requests.clear()  # which would be counted
        return reply()

    scripted = ScriptedModel(answer_at_once)
    reader, judge = judging(scripted)
    run, rubric = Run("r-0", made(SMALL), "made", task="Do it."), own_rubric()
    before = peak()
    for mode in ("full", "pruned"):
        reading = Reader(None, Settings(prune=mode))
        seconds = cpu(lambda reading=reading: reading.question(run, rubric), 20)  # type: ignore[misc]  # a default binds it now
        line(f"400 KB, question and signs of steering, {mode}", 1e3 * seconds, 4, "ms of CPU")
    request = reader.question(run, rubric).request
    line("judgment, its model answering at once", 1e3 * await each(100, judge), 5, "ms of CPU")
    model = open_model(f"http://127.0.0.1:{port}/v1#judge", FULL)
    await each(AT_ONCE, lambda: model.answer(request))  # connections are opened
    line("call of the model", 1e3 * await each(200, lambda: model.answer(request)), 3, "ms of CPU")
    _, judge = judging(model)
    line("judgment with that call, 50 at once", 1e3 * await each(200, judge), 8, "ms of CPU")
    await model.close()
    line("memory at most, imports included", peak(), 200, "MB")
    print(f"{'':44} of which {before:.0f} MB before the first question")


def main() -> None:
    """Print each figure, with a server for them."""
    server = subprocess.Popen([sys.executable, "-m", "bench.reader_judge", "serve"], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        asyncio.run(figures(int(server.stdout.readline())))
    finally:
        server.kill()
        server.communicate()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        main()
