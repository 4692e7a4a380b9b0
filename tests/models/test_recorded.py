"""Recording an exchange and playing it again."""

import asyncio
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from adjudge.errors import InputError, ModelError
from adjudge.judgment import Call
from adjudge.models.recorded import RecordedModel, Recorder, read_recording
from adjudge.ports import Message, Reply, Request, Tool, ToolCall
from adjudge.record import Usage

LOOK = Tool("look", "Look at a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


class Answering:
    """Answers with the next of its texts; a call to `look` if the text starts with a slash."""

    name: str = "lab/strong-1"
    window: int | None = 200_000

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    async def answer(self, request: Request) -> Reply:
        text = self.texts.pop(0)
        calls = (ToolCall(f"c{len(self.texts)}", "look", text),) if text.startswith("/") else ()
        call = Call("strong-1-dated", Usage(prompt=100, cached=90, output=5, cost=0.25), 3.0)
        message = Message("assistant", text, calls, opaque={"signature": "s"})
        return Reply(text, calls, "calls" if calls else "end", message, call, "Hm.")

    def price(self, usage: Usage) -> float | None:
        return 1.0

    async def close(self) -> None:
        pass


def told(reply: Reply, text: str) -> tuple[Message, ...]:
    return (reply.message, Message("tool", text, answers=reply.calls[0].id, name="look"))


async def recorded(path: Path, result: str = "1 passed in 0.12s") -> tuple[list[Request], list[Reply]]:
    """A conversation of two calls, recorded."""
    recorder = Recorder(Answering("/a.txt", "It is so."), "by hand, for a test", nonce="n0nce")
    first = Request("You judge.", (Message("user", "Is it so?"),), (LOOK,))
    reply = await recorder.answer(first)
    second = Request("You judge.", (*first.messages, *told(reply, result)), (LOOK,))
    last = await recorder.answer(second)
    recorder.write(path)
    return [first, second], [reply, last]


async def test_the_same_requests_get_the_same_replies(tmp_path: Path) -> None:
    requests, replies = await recorded(tmp_path / "r.json")
    model = RecordedModel(tmp_path / "r.json")
    for request, reply in zip(requests, replies, strict=True):
        again = await model.answer(request)
        assert (again.text, again.calls, again.message, again.reasoning) == (
            reply.text,
            reply.calls,
            reply.message,
            reply.reasoning,
        )
    assert (model.name, model.window, model.nonce) == ("recorded/lab/strong-1", 200_000, "n0nce")


async def test_a_replay_costs_nothing_and_still_shows_the_tokens(tmp_path: Path) -> None:
    requests, _ = await recorded(tmp_path / "r.json")
    model = RecordedModel(tmp_path / "r.json")
    call = (await model.answer(requests[0])).call
    assert (call.model, call.usage.prompt, call.usage.cached, call.usage.cost) == ("strong-1-dated", 100, 90, 0.0)
    assert call.seconds < 1.0
    assert model.price(call.usage) == 0.0


async def test_elapsed_times_may_differ(tmp_path: Path) -> None:
    requests, _ = await recorded(tmp_path / "r.json", "1 passed in 0.12s, took 12.5s, built in 12 ms")
    later = msgspec.structs.replace(
        requests[1],
        messages=(
            *requests[1].messages[:2],
            msgspec.structs.replace(requests[1].messages[2], text="1 passed in 3.07s, took 0.9s, built in 1234.5 ms"),
        ),
    )
    assert (await RecordedModel(tmp_path / "r.json").answer(later)).text == "It is so."


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("2 passed in 0.12s", r"message 3 \(tool\): its text: at character 1 recorded is '1 passed"),
        ("1 passed in 0.12s\n", r"message 3 \(tool\): its text"),
        ("", r"message 3 \(tool\): its text"),
    ],
)
async def test_anything_else_may_not_differ_and_the_first_difference_is_named(
    text: str, where: str, tmp_path: Path
) -> None:
    requests, _ = await recorded(tmp_path / "r.json")
    changed = msgspec.structs.replace(requests[1].messages[2], text=text)
    other = msgspec.structs.replace(requests[1], messages=(*requests[1].messages[:2], changed))
    with pytest.raises(ModelError, match=f"recorded request 2: {where}") as caught:
        await RecordedModel(tmp_path / "r.json").answer(other)
    assert caught.value.kind == "differs"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"system": "You obey."}, r"its system: at character 5 recorded is 'You judge\.', asked is 'You obey\.'"),
        ({"tools": ()}, "its tools"),
        ({"choice": "none"}, "its choice"),
        ({"most": 5}, "its most"),
        ({"schema": {"type": "object"}}, "its schema"),
        ({"messages": ()}, "it has 0 messages, the recorded one 1"),
    ],
)
async def test_the_frame_of_a_request_may_not_differ(change: dict[str, object], where: str, tmp_path: Path) -> None:
    requests, _ = await recorded(tmp_path / "r.json")
    with pytest.raises(ModelError, match=where) as caught:
        await RecordedModel(tmp_path / "r.json").answer(msgspec.structs.replace(requests[0], **change))
    assert caught.value.kind == "differs"


async def test_a_long_difference_is_told_in_a_few_words(tmp_path: Path) -> None:
    requests, _ = await recorded(tmp_path / "r.json")
    long = msgspec.structs.replace(requests[0], messages=(Message("user", "x" * 1_000_000),))
    with pytest.raises(ModelError) as caught:
        await RecordedModel(tmp_path / "r.json").answer(long)
    assert len(str(caught.value)) < 500


async def test_one_request_asked_twice_gets_its_replies_in_their_order(tmp_path: Path) -> None:
    recorder = Recorder(Answering("First.", "Second."), "by hand, for a test")
    request = Request("You judge.", (Message("user", "Is it so?"),))
    for _ in range(2):
        await recorder.answer(request)
    recorder.write(tmp_path / "r.json")
    model = RecordedModel(tmp_path / "r.json")
    assert [(await model.answer(request)).text for _ in range(3)] == ["First.", "Second.", "Second."]


async def test_a_conversation_is_written_once_and_not_once_for_every_request(tmp_path: Path) -> None:
    await recorded(tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()
    assert text.count("Is it so?") == 1
    assert text.count("You judge.") == 1
    assert text.count('"signature"') == 2  # once in either reply, never in a request


async def test_a_recording_says_what_it_is_and_who_made_it(tmp_path: Path) -> None:
    await recorded(tmp_path / "r.json")
    recording = read_recording(tmp_path / "r.json")
    assert "recorded exchange" in recording.what
    assert recording.made_by == "by hand, for a test"


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"what": 1}'])
def test_what_is_no_recording_is_refused_by_its_name(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(content)
    with pytest.raises(InputError, match=r"r\.json: is no recorded exchange"):
        RecordedModel(tmp_path / "r.json")


def test_a_missing_recording_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: cannot be read"):
        RecordedModel(tmp_path / "none.json")


def test_a_replay_loads_no_library_of_a_provider(tmp_path: Path) -> None:
    asyncio.run(recorded(tmp_path / "r.json"))
    program = (
        "import sys; from adjudge.models.opening import open_model; from adjudge.settings import Settings;"
        f"open_model({f'recorded/{tmp_path}/r.json'!r}, Settings());"
        "print(sorted({'pydantic', 'pydantic_ai', 'openai', 'anthropic', 'httpx2', 'genai_prices'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
