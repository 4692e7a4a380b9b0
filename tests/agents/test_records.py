"""Which recording stands for an attempt."""

import json
from pathlib import Path

from adjudge.agents.records import FROM_OUTPUT, FROM_TEXT, find_record

FIXTURES = Path(__file__).parent.parent / "importers" / "fixtures"


def written(folder: Path, stdout: str = "", stderr: str = "") -> Path:
    (folder / "home").mkdir()
    (folder / "stdout").write_text(stdout)
    (folder / "stderr").write_text(stderr)
    return folder


def chat(text: str, time: str | None = None) -> str:
    message = {"role": "assistant", "content": text, **({"timestamp": time} if time else {})}
    return json.dumps({"messages": [{"role": "user", "content": "Do it."}, message]})


def test_the_agents_own_record_is_taken(tmp_path: Path) -> None:
    scratch = written(tmp_path, stdout="Done, as I said.\n")
    (scratch / "home" / "sessions").mkdir()
    (scratch / "home" / "sessions" / "one.json").write_text(chat("Done."))
    found = find_record(scratch / "home", ["sessions"], scratch, "Do it.")
    assert (found.run.record.format, found.notes) == ("chat", ())


def test_without_one_what_it_streamed_stands_in_and_that_is_said(tmp_path: Path) -> None:
    scratch = written(tmp_path, stdout=chat("Done."))
    found = find_record(scratch / "home", ["sessions"], scratch, "Do it.")
    assert (found.run.record.format, found.notes) == ("chat", (FROM_OUTPUT,))


def test_without_any_the_output_is_the_record_as_text(tmp_path: Path) -> None:
    scratch = written(tmp_path, stdout="I am done.\n", stderr="a warning\n")
    found = find_record(scratch / "home", ["sessions"], scratch, "Do it.")
    assert (found.run.record.format, found.notes) == ("output", (FROM_TEXT,))
    texts = [entry.text for entry in found.run.record.entries]
    assert texts[0] == "Do it."
    assert "I am done." in "".join(texts)


def test_a_command_that_never_had_a_record_is_not_said_to_lack_one(tmp_path: Path) -> None:
    scratch = written(tmp_path, stdout="I am done.\n")
    assert find_record(scratch / "home", [], scratch, None).notes == ()


def test_of_several_sessions_the_first_that_began_is_the_attempt(tmp_path: Path) -> None:
    scratch = written(tmp_path)
    for name, day in (("b.jsonl", "2026-01-01"), ("a.jsonl", "2026-01-02")):
        rows = [
            {"type": "user", "sessionId": name, "uuid": "1", "timestamp": f"{day}T00:00:00Z",
             "message": {"role": "user", "content": name}},
            {"type": "assistant", "sessionId": name, "uuid": "2", "parentUuid": "1",
             "timestamp": f"{day}T00:00:01Z",
             "message": {"id": "m", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "ok"}]}},
        ]  # fmt: skip
        (scratch / "home" / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = find_record(scratch / "home", ["."], scratch, None)
    assert found.run.record.entries[0].text == "b.jsonl"
    assert found.notes == ("it left further sessions, which are not in the record: 1",)


def test_a_link_of_the_agents_is_not_followed_to_a_file_of_the_host(tmp_path: Path) -> None:
    scratch = written(tmp_path)
    outside = tmp_path / "outside.json"
    outside.write_text(chat("a session of the host's"))
    (scratch / "home" / "session.json").symlink_to(outside)
    found = find_record(scratch / "home", ["session.json"], scratch, None)
    assert found.run.record.format == "output"


def test_a_description_of_the_agents_is_not_followed_to_a_file_of_the_host(tmp_path: Path) -> None:
    scratch = written(tmp_path)
    outside = tmp_path / "outside.json"
    outside.write_text(chat("a session of the host's"))
    for folder in ("sessions", "sessions/inner"):
        (scratch / "home" / folder).mkdir()
        (scratch / "home" / folder / "run.yaml").write_text(f"record: {outside}\nagent_version: forged\n")
    found = find_record(scratch / "home", ["sessions"], scratch, None)
    assert (found.run.record.format, found.run.agent_version) == ("output", None)
