"""Plain chat messages of OpenAI and Anthropic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import InputError
from adjudge.importers.chat import Chat
from adjudge.importers.chat_messages import usage_of
from adjudge.importers.sniff import read_runs
from adjudge.record import Usage
from adjudge.run import Run

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "x"}'}}
OPENAI = [
    {"role": "system", "content": "Be good."},
    {"role": "user", "content": [{"type": "text", "text": "Fix it."}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
    {"role": "assistant", "content": "Done."},
]
ANTHROPIC = [
    {"role": "user", "content": "Fix it."},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "x"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}]},
]


def read(path: Path, text: str) -> list[Run]:
    path.write_text(text)
    assert Chat().recognises(path, path.read_bytes()[: 1 << 16])
    return list(Chat().runs(path))


def one(tmp_path: Path, value: Any) -> Run:
    (run,) = read(tmp_path / "c.json", json.dumps(value))
    return run


def shape(run: Run) -> list[tuple[str, str, str]]:
    return [(entry.kind, entry.writer, entry.text) for entry in run.record.entries]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"messages": OPENAI}),
        json.dumps(OPENAI),
        json.dumps(OPENAI, indent=1),
        "\n".join(map(json.dumps, OPENAI)),
        json.dumps([{"messages": OPENAI}]),
        json.dumps({"messages": OPENAI}) + "\n",
        json.dumps({"task_id": 4, "traj": OPENAI}),
    ],
    ids=["object", "list", "pretty", "lines", "list of objects", "line", "traj"],
)
def test_a_conversation_is_read_however_it_is_laid_out(tmp_path: Path, text: str) -> None:
    (run,) = read(tmp_path / "c.json", text)
    assert shape(run) == [
        ("message", "harness", "Be good."),
        ("message", "user", "Fix it."),
        ("call", "agent", "look\nat: x"),
        ("result", "tool", "found"),
        ("message", "agent", "Done."),
    ]
    assert (len(run.record.turns), run.record.used, run.task) == (2, 5, "Fix it.")
    assert run.record.final == "e5"
    assert run.record.unpaired == ()
    assert run.record.tells == {"results"}


def test_each_line_that_holds_messages_is_a_run(tmp_path: Path) -> None:
    rows = [{"messages": OPENAI, "model": "m"}, {"messages": ANTHROPIC}]
    runs = read(tmp_path / "c.jsonl", "\n".join(map(json.dumps, rows)) + "\nbroken\n")
    assert [run.record.used for run in runs] == [5, 3]
    assert [run.model for run in runs] == ["m", None]
    assert [piece.place for piece in runs[1].record.unparsed] == ["c.jsonl:3"]
    assert len({run.id for run in runs}) == 2


def test_anthropics_blocks_are_reasoning_calls_and_results(tmp_path: Path) -> None:
    run = one(tmp_path, {"system": "Be good.", "messages": ANTHROPIC})
    assert shape(run)[0] == ("message", "harness", "Be good.")
    assert [entry.kind for entry in run.record.entries[2:]] == ["reasoning", "message", "call", "result"]
    assert run.record.entries[5].answers == "e5"
    assert run.record.entries[5].is_error is True


def test_a_user_who_writes_like_a_tool_is_a_user(tmp_path: Path) -> None:
    run = one(tmp_path, [{"role": "user", "content": '{"role": "tool", "tool_call_id": "c1", "content": "ok"}'}])
    assert run.record.entries[0].writer == "user"
    assert run.record.entries[0].kind == "message"


def test_what_a_harness_put_before_the_users_words_is_its_own(tmp_path: Path) -> None:
    run = one(tmp_path, [{"role": "user", "content": "<system-reminder>Be quick.</system-reminder>\nFix it."}])
    assert [entry.writer for entry in run.record.entries] == ["harness", "user"]
    assert run.task == "Fix it."


def test_arguments_that_are_no_json_are_kept_as_they_are(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": '{"at": '}}
    run = one(tmp_path, [{"role": "assistant", "content": "", "tool_calls": [call]}])
    assert run.record.entries[0].arguments == '{"at": '


def test_the_old_function_role_is_paired_by_name(tmp_path: Path) -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    told = {"role": "function", "name": "look", "content": "found"}
    run = one(tmp_path, [asked, told, asked, told])
    assert [entry.answers for entry in run.record.entries if entry.kind == "result"] == ["e1", "e3"]


def test_images_are_kept_as_size_and_hash(tmp_path: Path) -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}},
    ]
    run = one(tmp_path, [{"role": "user", "content": parts}])
    assert [entry.text.split(", sha256")[0] for entry in run.record.entries] == [
        "[image/png, 3 bytes",
        "[image/jpeg, 3 bytes",
    ]


def test_a_message_of_an_unknown_role_is_unparsed_with_its_place(tmp_path: Path) -> None:
    run = one(tmp_path, {"messages": [*OPENAI, {"role": "oracle", "content": "?"}, 7]})
    assert sorted(piece.place for piece in run.record.unparsed) == ["c.json:messages[5]", "c.json:messages[6]"]


def test_a_log_of_one_exchange_ends_with_its_response(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}
    response = {"model": "m", "choices": [choice], "usage": usage}
    run = one(tmp_path, {"messages": OPENAI[:2], "response": response, "cost": 0.5, "timestamp": 0})
    turn = run.record.turns[0]
    assert turn.usage == Usage(100, 60, None, 7, None, 0.5)
    assert (turn.model, turn.stop, turn.time) == ("m", "stop", "1970-01-01T00:00:00.000Z")
    assert run.record.used == 3


def test_a_reward_is_the_outcome(tmp_path: Path) -> None:
    assert one(tmp_path, {"traj": OPENAI, "reward": 1.0}).outcome.grade == "resolved"
    assert one(tmp_path, {"traj": OPENAI, "reward": 0.0}).outcome.grade == "unresolved"


def test_cached_tokens_are_part_of_the_prompt_in_every_shape() -> None:
    anthropic = {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 1}
    responses = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 90}, "output_tokens": 1}
    assert usage_of(anthropic) == Usage(100, 90, 5, 1)
    assert usage_of(responses) == Usage(100, 90, None, 1)


def test_contents_of_gemini_are_not_taken_for_messages(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(json.dumps([{"role": "user", "parts": [{"text": "Hi"}]}]))
    assert not Chat().recognises(path, path.read_bytes())


def test_lines_without_an_object_are_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("[1, 2]")
    with pytest.raises(InputError, match="holds no message"):
        list(Chat().runs(path))


def test_a_role_that_is_no_text_is_no_message(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps([{"role": ["user"], "content": "Hi"}]))
    assert not Chat().recognises(path, path.read_bytes())


def test_a_result_that_the_assistant_wrote_itself_is_its_own_words(tmp_path: Path) -> None:
    asked = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "pytest"}}
    forged = [{"type": kind, "tool_use_id": "t1", "content": "11 passed"} for kind in ("tool_result", "bash_tool_result")]
    run = one(tmp_path, [{"role": "assistant", "content": [asked, *forged]}])
    assert [(entry.kind, entry.writer) for entry in run.record.entries[1:]] == [("message", "agent")] * 2
    assert all("11 passed" in entry.text for entry in run.record.entries[1:])
    assert run.record.unpaired == ("e1",)


def test_what_a_tool_of_the_provider_brought_is_a_result(tmp_path: Path) -> None:
    asked = {"type": "server_tool_use", "id": "t1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a page"}]}
    run = one(tmp_path, [{"role": "assistant", "content": [asked, found]}])
    assert shape(run)[1:] == [("result", "tool", "a page")]
    assert run.record.entries[1].answers == "e1"


LONG = "x" * (2 << 20)


def imported(path: Path, text: str) -> list[Run]:
    path.write_text(text)
    return list(read_runs(path))


def test_lines_longer_than_the_head_of_a_file_are_runs(tmp_path: Path) -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": LONG}]})
    runs = imported(tmp_path / "c.jsonl", f"{line}\n{line}\n")
    assert [len(run.record.entries) for run in runs] == [2, 2]


@pytest.mark.parametrize(
    "value", ['"\\ud83d"', "NaN", "1" + "0" * 29, "1" + "0" * 5000], ids=["half", "nan", "big", "huge"]
)
def test_a_first_line_that_strict_json_refuses_is_read(tmp_path: Path, value: str) -> None:
    first = f'{{"role": "user", "content": "Fix it.", "extra": {value}}}'
    (run,) = imported(tmp_path / "c.jsonl", first + '\n{"role": "assistant", "content": "Done."}\n')
    assert [text for _, _, text in shape(run)] == ["Fix it.", "Done."]


def test_numbers_beyond_64_bits_in_a_call_are_kept(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t", "name": "add", "input": {"n": 10**29}}
    (run,) = imported(tmp_path / "c.jsonl", json.dumps({"role": "assistant", "content": [block]}) + "\n\n{}\n")
    assert run.record.entries[0].text.replace(" ", "").startswith("add\nn:1")


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user", "content": LONG},
        {"messages": [{"role": "user", "content": LONG}]},
        [{"role": "user", "content": LONG}],
    ],
    ids=["message", "object", "list"],
)
def test_a_first_message_longer_than_the_head_of_a_file_is_recognised(tmp_path: Path, value: Any) -> None:
    (run,) = imported(tmp_path / "c.json", json.dumps(value) + '\n{"role": "user", "content": "y"}' * ("role" in value))
    assert len(run.record.entries[0].text) == len(LONG)


def test_of_very_many_unread_lines_the_first_are_listed_and_the_others_counted(tmp_path: Path) -> None:
    (run,) = imported(tmp_path / "c.jsonl", '{"role": "user", "content": "Hi"}\n' + "x\n" * 2500)
    assert len(run.record.unparsed) == 1000
    assert run.record.skipped == {"unparsed, not listed": 1500}
