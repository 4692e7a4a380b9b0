from __future__ import annotations

import asyncio
import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.store.conftest import Place

from adjudge.entries import EntryWriter
from adjudge.errors import InputError, OutsideError
from adjudge.judgment import Judgment
from adjudge.record import Entry, Record
from adjudge.rubric import CommandProbe, Criterion, FileProbe, Rubric
from adjudge.run import Outcome, Run
from adjudge.store.store import Store, open_store


def same(record: Record) -> tuple[object, ...]:
    rest = msgspec.structs.replace(record, entries=(), children=())
    return rest, tuple(record.entries), tuple(same(child) for child in record.children)


def test_a_run_comes_back_as_it_was_given(store: Store, run: Run) -> None:
    assert store.add_run(run) == run.id
    back = store.run(run.id)
    assert same(back.record) == same(run.record)
    assert msgspec.structs.replace(back, record=run.record) == run


def test_a_sub_agents_entry_is_found_in_a_stored_run(store: Store, run: Run) -> None:
    store.add_run(run)
    entry = store.run(run.id).record.entry("s1.e1")
    assert entry is not None
    assert entry.text == "The helper was here."


def test_a_record_of_plain_tuples_is_kept_too(store: Store, run: Run) -> None:
    plain = msgspec.structs.replace(run, record=msgspec.structs.replace(run.record, entries=tuple(run.record.entries)))
    store.add_run(plain)
    assert same(store.run(run.id).record) == same(run.record)


def test_an_empty_record_is_kept(store: Store) -> None:
    store.add_run(Run("r-empty", Record("chat", ()), "empty.jsonl"))
    assert len(store.run("r-empty").record.entries) == 0


def test_importing_twice_is_one_row(store: Store, run: Run) -> None:
    assert [store.add_run(run), store.add_run(run)] == [run.id, run.id]
    assert len(store.runs()) == 1


def test_a_judgment_and_its_rubric_come_back_as_they_were_given(stored: Store, judgment: Judgment, rubric: Rubric) -> None:
    assert stored.judgment(judgment.id) == judgment
    assert stored.rubric(rubric.hash) == rubric


def test_probes_survive_in_a_rubric(stored: Store, judgment: Judgment) -> None:
    probes = (Criterion("a", "x", CommandProbe("true", stdout="1\n")), Criterion("b", "y", FileProbe("f", exists=True)))
    rubric = Rubric("probes", probes, "ee" * 32, "probes.yaml")
    stored.add_judgment(msgspec.structs.replace(judgment, id="j-2", rubric_hash=rubric.hash), rubric)
    assert stored.rubric(rubric.hash) == rubric


def test_adding_a_judgment_again_changes_nothing(stored: Store, judgment: Judgment) -> None:
    stored.add_judgment(judgment)
    assert len(stored.judgments()) == 1


def test_a_judgment_is_never_changed(stored: Store, judgment: Judgment) -> None:
    with pytest.raises(InputError, match="is never changed"):
        stored.add_judgment(msgspec.structs.replace(judgment, score=1.0))
    assert stored.judgment(judgment.id) == judgment


def test_a_judgment_of_an_unknown_run_is_refused(store: Store, judgment: Judgment, rubric: Rubric) -> None:
    with pytest.raises(InputError, match=r"run 'r-00112233aabbccdd', which is not in the store"):
        store.add_judgment(judgment, rubric)


def test_a_judgment_whose_rubric_nobody_has_is_refused(store: Store, run: Run, judgment: Judgment) -> None:
    store.add_run(run)
    with pytest.raises(InputError, match="which is not in the store: hand it over"):
        store.add_judgment(judgment)


def test_a_second_judgment_needs_its_rubric_no_more(stored: Store, judgment: Judgment) -> None:
    stored.add_judgment(msgspec.structs.replace(judgment, id="j-second"))
    assert [row.id for row in stored.judgments(judgment.run)] == ["j-second", judgment.id]


def test_a_judgment_without_a_rubric_is_kept(stored: Store, judgment: Judgment) -> None:
    bare = msgspec.structs.replace(judgment, id="j-bare", rubric=None, rubric_hash=None, verdicts=(), score=None)
    stored.add_judgment(bare)
    assert stored.judgment("j-bare") == bare


def test_a_lone_surrogate_does_not_lose_a_judgment(stored: Store, judgment: Judgment) -> None:
    stored.add_judgment(msgspec.structs.replace(judgment, id="j-odd", summary="half \ud83d of a sign", reason="\0 \udc00"))
    assert stored.judgment("j-odd").summary == "half \ufffd of a sign"
    assert stored.judgments()[0].reason == "\ufffd \ufffd"


def test_a_list_shows_what_there_is(stored: Store, judgment: Judgment) -> None:
    stored.add_judgment(msgspec.structs.replace(judgment, id="j-later", score=None, status="errored", reason="no key"))
    (row,) = stored.runs()
    assert (row.id, row.agent, row.model, row.task) == ("r-00112233aabbccdd", "codex", "gpt", "Count the files.")
    assert (row.turns, row.entries, row.outcome) == (2, 4, Outcome(exit_status=0, grade="resolved"))
    assert (row.judgments, row.status, row.score) == (2, "errored", None)


def test_an_exit_status_of_any_size_is_kept(store: Store, run: Run) -> None:
    store.add_run(msgspec.structs.replace(run, outcome=Outcome(exit_status=0xC0000005)))
    assert store.run(run.id).outcome.exit_status == 0xC0000005
    assert [row.outcome.exit_status for row in store.runs()] == [None]


def test_a_list_never_shows_half_a_credential(store: Store, run: Run) -> None:
    secret = "sk-or-v1-" + "0123456789abcdef" * 4
    store.add_run(msgspec.structs.replace(run, task="x" * 170 + " " + secret))
    assert "sk-or-v1-0123" not in str(store.runs()[0].task)


def test_a_run_that_nobody_judged_is_listed_without_a_score(store: Store, run: Run) -> None:
    store.add_run(run)
    assert [(row.judgments, row.status, row.score) for row in store.runs()] == [(0, None, None)]


def test_judgments_are_listed_the_latest_first(stored: Store, judgment: Judgment) -> None:
    stored.add_judgment(msgspec.structs.replace(judgment, id="j-9"))
    first, second = stored.judgments()
    assert [first.id, second.id] == ["j-9", judgment.id]
    assert (second.rubric, second.passed, second.criteria) == ("files", 2, 3)
    assert second.score == pytest.approx(2 / 3)
    assert second.cost == pytest.approx(0.0125)


def test_an_id_is_found_by_its_beginning(stored: Store) -> None:
    assert stored.find_run("r-0011") == "r-00112233aabbccdd"
    assert stored.find_judgment("j-0a1b") == "j-0a1b2c3d4e5f6071"


def test_an_ambiguous_beginning_names_the_candidates(stored: Store, run: Run) -> None:
    stored.add_run(msgspec.structs.replace(run, id="r-0011ffff"))
    with pytest.raises(InputError, match="could be r-00112233aabbccdd, r-0011ffff: give more"):
        stored.find_run("r-0011")


def test_an_id_that_is_also_a_beginning_is_found(stored: Store, run: Run) -> None:
    stored.add_run(msgspec.structs.replace(run, id="r-00112233"))
    assert stored.find_run("r-00112233") == "r-00112233"


@pytest.mark.parametrize("prefix", ["r-9", "%", "_", "r-0011_", "r-\0", "r-\udc80"])
def test_what_begins_no_id_is_not_found(stored: Store, prefix: str) -> None:
    with pytest.raises(InputError, match="there is no run"):
        stored.find_run(prefix)


def test_an_unknown_id_is_said_to_be_unknown(stored: Store) -> None:
    with pytest.raises(InputError, match="there is no judgment 'j-none'"):
        stored.judgment("j-none")


async def test_landing_does_not_block_the_loop(stored: Store, judgment: Judgment) -> None:
    many = [msgspec.structs.replace(judgment, id=f"j-many{number:02}") for number in range(20)]
    await asyncio.gather(*(stored.land(each) for each in many))
    assert len(stored.judgments()) == 21


async def test_a_judgment_lands_even_if_its_waiter_is_cancelled(stored: Store, judgment: Judgment) -> None:
    landing = asyncio.ensure_future(stored.land(msgspec.structs.replace(judgment, id="j-cancelled")))
    await asyncio.sleep(0)
    landing.cancel()
    stored.add_judgment(msgspec.structs.replace(judgment, id="j-after"))  # queued behind it
    assert stored.judgment("j-cancelled").id == "j-cancelled"


def test_closing_lands_what_is_queued(place: Place, run: Run) -> None:
    store = place.open()
    for number in range(5):
        store.add_run(msgspec.structs.replace(run, id=f"r-{number}"))
    store.close()
    store.close()
    with place.open() as again:
        assert len(again.runs()) == 5


def long_record(count: int) -> Record:
    writer = EntryWriter()
    for number in range(1, count + 1):
        writer.add(Entry(f"e{number}", "result", "tool", number, f"line {number} " + "x" * 40))
    return Record("chat", writer.finish())


def test_one_entry_of_a_long_record_reads_only_its_frame(store: Store, place: Place, run: Run) -> None:
    store.add_run(msgspec.structs.replace(run, record=long_record(50_000)))
    ((head,),) = place.sql("SELECT blob FROM runs")
    (blob,) = [path for path in place.blobs.glob("??/*.zst") if path.stem != head]
    data = bytearray(blob.read_bytes())
    data[: len(data) * 9 // 10] = bytes(len(data) * 9 // 10)  # all but the last frames are gone
    blob.write_bytes(data)

    opened = store.run(run.id).record
    assert opened.entries[49_999].text.startswith("line 50000 ")
    with pytest.raises(OutsideError, match="were changed or damaged"):
        opened.entries[0]


def test_a_damaged_blob_is_never_read_as_if_it_were_whole(stored: Store, forger: Any, judgment: Judgment) -> None:
    data = bytearray(forger.data())
    data[len(data) // 2] ^= 1
    forger.put(bytes(data))
    with pytest.raises(OutsideError, match="changed or damaged"):
        stored.judgment(judgment.id)


def test_a_row_cannot_lead_outside_of_the_blobs(stored: Store, forger: Any, run: Run) -> None:
    forger.sql("UPDATE runs SET blob = '../../../etc/passwd'")
    with pytest.raises(OutsideError, match="is not the name of a blob"):
        stored.run(run.id)


def test_a_missing_blob_is_named(stored: Store, forger: Any, run: Run) -> None:
    path = forger.blob(forger.name("runs"))
    path.unlink()
    with pytest.raises(OutsideError, match=path.name):
        stored.run(run.id)


def test_a_blob_is_named_by_the_sum_of_its_bytes(stored: Store, place: Place) -> None:
    paths = list(place.blobs.glob("??/*.zst"))
    sums = subprocess.run(["sha256sum", *map(str, paths)], capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in sums.splitlines()] == [path.stem for path in paths]
    assert list((place.blobs / "unfinished").iterdir()) == []


def with_summary(judgment: Judgment, size: int) -> Judgment:
    """A judgment whose blob has about that many bytes and a thousand more: its summary does not compress further."""
    return msgspec.structs.replace(judgment, id=f"j-{size}", summary=os.urandom(size).hex())


def test_a_judgment_of_up_to_64_kib_lies_in_the_database_and_a_larger_one_among_the_blobs(
    store: Store, place: Place, run: Run, rubric: Rubric, judgment: Judgment
) -> None:
    store.add_run(run)
    small, large = with_summary(judgment, 62_000), with_summary(judgment, 66_000)
    store.add_judgment(small, rubric)
    before = set(place.blobs.glob("??/*.zst"))
    store.add_judgment(large, rubric)
    ((data,),) = place.sql("SELECT data FROM judgment_blobs")
    (path,) = set(place.blobs.glob("??/*.zst")) - before
    names = dict(place.sql("SELECT id, blob FROM judgments"))
    assert names == {small.id: hashlib.sha256(data).hexdigest(), large.id: path.stem}
    assert [store.judgment(each.id) for each in (small, large)] == [small, large]


def test_a_blob_of_a_newer_layout_says_which_adjudge_wrote_it(stored: Store, forger: Any, judgment: Judgment) -> None:
    forger.forge(lambda value: value.update(layout=2, adjudge="3.1.4"))
    with pytest.raises(InputError, match=r"written by adjudge 3\.1\.4 in layout 2"):
        stored.judgment(judgment.id)


def test_blobs_may_lie_behind_a_url(place: Place, run: Run, rubric: Rubric, judgment: Judgment) -> None:
    with open_store(place.store, blobs="memory://adjudge-test/blobs") as store:
        store.add_run(run)
        store.add_judgment(judgment, rubric)
        assert same(store.run(run.id).record) == same(run.record)
        assert store.judgment(judgment.id) == judgment
        store.require_room()  # there is no disk that could be full
    assert not place.blobs.exists()


def test_blobs_may_lie_in_a_folder_of_their_own(place: Place, run: Run, tmp_path: Path) -> None:
    with open_store(place.store, blobs=str(tmp_path / "a" / "b")) as store:
        store.add_run(run)
        store.require_blobs()
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert list((tmp_path / "a" / "b").glob("??/*.zst"))
    assert not place.blobs.exists()


def test_a_folder_of_blobs_that_is_not_there_is_not_made_anew(place: Place, run: Run, tmp_path: Path) -> None:
    with place.open() as store:
        store.add_run(run)
    with pytest.raises(
        InputError, match=r"elsewhere: is not there, and .* has runs: name the folder or URL of their blobs"
    ):
        open_store(place.store, blobs=str(tmp_path / "elsewhere"))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(("url", "words"), [("s3://b/blobs", "s3fs"), ("nix://b/blobs", "Protocol not known: nix")])
def test_a_url_for_blobs_that_nothing_here_knows_is_refused(place: Place, url: str, words: str) -> None:
    with pytest.raises(InputError, match=f"{url}: blobs cannot be kept there: .*{words}"):
        open_store(place.store, blobs=url)


def test_a_store_is_closed_to_other_users_and_to_git(store: Store, place: Place) -> None:
    assert stat.S_IMODE(place.closed.stat().st_mode) == 0o700
    assert (place.closed / ".gitignore").read_text() == "*\n"


def test_whether_a_row_can_be_written_is_tried_without_leaving_one(store: Store, place: Place) -> None:
    before = place.sql("SELECT * FROM stamps")
    assert store.require_writing().startswith(("SQLite 3.", "PostgreSQL 1"))
    assert place.sql("SELECT * FROM stamps") == before


def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "adjudge.db").write_text("this is a text, long enough to be more than a header of a database " * 20)
    with pytest.raises(OutsideError, match="is not a store, or is damaged"):
        open_store(tmp_path)


def test_a_store_within_a_file_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutsideError, match="file"):
        open_store(tmp_path / "file" / "store")


def test_listing_an_existing_store_imports_neither_alembic_nor_fsspec(stored: Store, place: Place) -> None:
    code = (
        "import sys; from adjudge.store.store import open_store\n"
        "with open_store(sys.argv[1], sys.argv[2] or None) as store: print(len(store.runs()))\n"
        "print('alembic' in sys.modules, 'fsspec' in sys.modules)"
    )
    command = [sys.executable, "-c", code, place.store, place.apart or ""]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False", "False"]
