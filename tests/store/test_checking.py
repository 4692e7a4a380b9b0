"""Whoever changes a stored judgment is found out, even if they give the changed blob the name that fits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from adjudge.entries import EntryWriter
from adjudge.errors import InputError
from adjudge.judgment import Judgment
from adjudge.record import Entry
from adjudge.reviews.values import Said
from adjudge.run import Run
from adjudge.store.checking import verify_stored
from adjudge.store.reviews import add_review
from adjudge.store.store import Store
from adjudge.verifying import Finding


def findings(store: Store) -> list[Finding]:
    return list(verify_stored(store, "j-0a1b2c3d4e5f6071").findings)


def test_a_judgment_as_it_was_stored_is_sound(stored: Store) -> None:
    checked = verify_stored(stored, "j-0a1b2c3d4e5f6071")
    assert checked.sound
    assert (checked.verdicts, checked.citations) == (3, 3)


def test_a_changed_byte_of_the_judgment_is_found(stored: Store, forger: Any) -> None:
    forger.put(forger.data()[:-1] + b"\0")
    (found,) = findings(stored)
    assert "does not match its name" in found.words


def test_a_missing_judgment_is_found(stored: Store, forger: Any) -> None:
    forger.sql("DELETE FROM judgment_blobs")
    (found,) = findings(stored)
    assert "number 1 of judgment_blobs: is not there" in found.words


def test_data_that_somebody_made_text_are_found(stored: Store, forger: Any) -> None:
    with stored.reading() as connection:
        kind = connection.dialect.name
    if kind != "sqlite":
        pytest.skip("PostgreSQL keeps nothing else in such a column")
    forger.sql("UPDATE judgment_blobs SET data = CAST(x'ff01' AS TEXT)")
    (found,) = findings(stored)
    assert "number 1 of judgment_blobs" in found.words


def test_a_row_that_leads_to_another_judgment_is_found(stored: Store, judgment: Judgment, forger: Any) -> None:
    stored.add_judgment(msgspec.structs.replace(judgment, id="j-ffffffffffffffff"))
    of_other = "SELECT blob, blob_number FROM judgments WHERE id = 'j-ffffffffffffffff'"
    forger.sql(f"UPDATE judgments SET (blob, blob_number) = ({of_other})")
    (found,) = findings(stored)
    assert "leads to another judgment, j-ffffffffffffffff" in found.words


def test_a_changed_byte_of_an_entry_is_found(stored: Store, forger: Any) -> None:
    frames = forger.json(forger.name("runs"))["entries"][0]
    path = forger.blob(frames["blob"])
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)
    damage, *consequences = findings(stored)
    assert damage.place == "record"
    assert "were changed or damaged" in damage.words
    assert consequences, "what cites the record can no longer be checked"


def test_a_changed_byte_in_one_part_of_a_long_record_is_blamed_on_what_cites_it(
    stored: Store, forger: Any, run: Run, judgment: Judgment
) -> None:
    writer = EntryWriter()
    for entry in run.record.entries:
        writer.add(entry)
    for number in range(5, 3_000):
        writer.add(Entry(f"e{number}", "event", "harness", 3, "x" * 200))
    long = msgspec.structs.replace(
        run, id="r-long", record=msgspec.structs.replace(run.record, entries=writer.finish(), final=None)
    )
    stored.add_run(long)
    stored.add_judgment(msgspec.structs.replace(judgment, id="j-long", run="r-long"))
    (head,) = forger.sql("SELECT blob FROM runs WHERE id = 'r-long'")
    path = forger.blob(forger.json(head[0])["entries"][0]["blob"])
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])
    places = [found.place for found in verify_stored(stored, "j-long").findings]
    assert places == ["record", "counted", "said"]  # the look is not in the record: `notes` still stands


def test_a_changed_byte_of_a_sub_agents_entry_is_found(stored: Store, forger: Any) -> None:
    frames = forger.json(forger.name("runs"))["entries"][1]
    path = forger.blob(frames["blob"])
    path.write_bytes(b"\0" * path.stat().st_size)
    assert [found.place for found in findings(stored)] == ["record of sub-agent helper"]


def test_a_changed_quote_is_found(stored: Store, forger: Any) -> None:
    def change(value: dict[str, Any]) -> None:
        value["judgment"]["verdicts"][0]["holdings"][0]["citation"]["quote"] = "there are 99999 files"

    forger.forge(change)
    first, second = findings(stored)
    assert (first.place, second.place) == ("counted", "counted")
    assert first.words.endswith("was observed in e3, now it is faulty (the quote is not in e3)")
    assert second.words.startswith("stored is pass, the gate says fail (evidence)")


def test_a_citation_that_names_another_exhibit_is_found(stored: Store, forger: Any) -> None:
    def change(value: dict[str, Any]) -> None:
        value["judgment"]["verdicts"][0]["holdings"][0]["citation"]["exhibit"] = "e99"

    forger.forge(change)
    assert "there is no exhibit 'e99'" in findings(stored)[0].words


def test_a_changed_look_is_found(stored: Store, forger: Any) -> None:
    def change(value: dict[str, Any]) -> None:
        value["judgment"]["looks"][0]["text"] = "count: 12400"

    forger.forge(change)
    assert {found.place for found in findings(stored)} == {"notes"}


def test_a_fail_turned_into_a_pass_is_found(stored: Store, forger: Any) -> None:
    def change(value: dict[str, Any]) -> None:
        verdict = value["judgment"]["verdicts"][2]
        verdict["passed"] = True
        del verdict["cause"]
        verdict["holdings"] = []
        value["judgment"]["score"] = 1.0

    forger.forge(change)
    forger.sql("UPDATE judgments SET score = 1.0, passed = 3")
    (found,) = findings(stored)
    assert (found.place, found.words) == (
        "notes",
        "stored is pass, the gate says fail (evidence): no citation holds",
    )


def test_a_pass_turned_into_a_fail_is_found(stored: Store, forger: Any) -> None:
    def change(value: dict[str, Any]) -> None:
        value["judgment"]["verdicts"][0]["passed"] = False

    forger.forge(change)
    assert [(found.place, found.words) for found in findings(stored)] == [
        ("row", "passed is 2 in the row and 1 in the judgment"),
        ("score", "stored is 0.6666666666666666, the verdicts give 0.3333333333333333"),
        ("counted", "stored is fail (None), the gate says fail (unproven)"),
    ]


def test_a_pass_on_the_agents_words_about_a_result_is_found(stored: Store, forger: Any) -> None:
    def change(value: dict[str, Any]) -> None:
        holding = {"citation": {"exhibit": "e4", "quote": "I counted 12400"}, "standing": "said", "source": "e4"}
        value["judgment"]["verdicts"][0]["holdings"] = [holding]

    forger.forge(change)
    (found,) = findings(stored)
    assert found.place == "counted"
    assert "the gate says fail (evidence)" in found.words


def test_a_changed_score_in_the_row_is_found(stored: Store, forger: Any) -> None:
    forger.sql("UPDATE judgments SET score = 1.0")
    assert findings(stored) == [Finding("row", "score is 1.0 in the row and 0.6666666666666666 in the judgment")]


def test_a_changed_score_in_the_judgment_is_found(stored: Store, forger: Any) -> None:
    forger.forge(lambda value: value["judgment"].update(score=1.0))
    assert [found.place for found in findings(stored)] == ["row", "score"]


def test_a_verdict_that_was_taken_out_is_found(stored: Store, forger: Any) -> None:
    def change(value: dict[str, Any]) -> None:
        del value["judgment"]["verdicts"][2]
        value["judgment"]["score"] = 1.0

    forger.forge(change)
    forger.sql("UPDATE judgments SET score = 1.0, passed = 2, criteria = 2")
    assert findings(stored) == [Finding("rubric", "it asks counted, said, notes; the verdicts are for counted, said")]


def test_another_rubric_is_found(stored: Store, forger: Any) -> None:
    forger.forge_rubric(lambda value: value["rubric"]["criteria"][0].update(text="There is a file"))
    assert [found.place for found in findings(stored)] == ["rubric"]


def test_a_judgment_moved_to_another_run_is_found(stored: Store, forger: Any, run: Any) -> None:
    stored.add_run(msgspec.structs.replace(run, id="r-other"))
    forger.sql("UPDATE judgments SET run = 'r-other'")
    assert findings(stored) == [Finding("row", "run is 'r-other' in the row and 'r-00112233aabbccdd' in the judgment")]


def test_a_missing_run_is_found(stored: Store, forger: Any) -> None:
    forger.blob(forger.name("runs")).unlink()
    assert [found.place for found in findings(stored)] == ["store"]


def test_an_unknown_judgment_is_the_askers_mistake(stored: Store) -> None:
    with pytest.raises(InputError, match="there is no judgment"):
        verify_stored(stored, "j-unknown")


def test_an_errored_judgment_is_sound(stored: Store, judgment: Judgment) -> None:
    errored = msgspec.structs.replace(judgment, id="j-errored", status="errored", verdicts=(), score=None, reason="no key")
    stored.add_judgment(errored)
    assert verify_stored(stored, "j-errored").sound


# --- items and reviews


def reviewed(store: Store) -> str:
    first = add_review(store, Said("j-0a1b2c3d4e5f6071", "notes", "Ada", "blind", "L1 shows it.", passed=False))
    said = Said("j-0a1b2c3d4e5f6071", "notes", "Ada", "seen", "L1 shows it.", approved=True, supersedes=first.id)
    return add_review(store, said).id


def test_reviews_as_they_were_stored_are_sound(stored: Store) -> None:
    reviewed(stored)
    checked = verify_stored(stored, "j-0a1b2c3d4e5f6071")
    assert checked.sound
    assert checked.reviews == 2


@pytest.mark.parametrize(
    "change", ["reason = 'L1 hides it.'", "approved = (1 = 0)", "reviewer = 'Bea'", "picked = 'random'", "item = 'said'"]
)
def test_a_changed_review_is_found(stored: Store, forger: Any, change: str) -> None:
    identifier = reviewed(stored)
    forger.sql(f"UPDATE reviews SET {change} WHERE id = ?", identifier)
    assert f"review {identifier}" in {finding.place for finding in findings(stored)}


def test_a_review_that_was_taken_away_from_below_another_is_found(stored: Store, forger: Any) -> None:
    identifier = reviewed(stored)
    forger.sql("UPDATE reviews SET judgment = ? WHERE number = 0", stored_elsewhere(stored))
    (found,) = findings(stored)
    assert (found.place, found.words.endswith("the one before it is None")) == (f"review {identifier}", True)


def stored_elsewhere(store: Store) -> str:
    """Another judgment to which a row can be moved."""
    other = msgspec.structs.replace(store.judgment("j-0a1b2c3d4e5f6071"), id="j-other")
    store.add_judgment(other)
    return other.id


def test_a_changed_item_is_found(stored: Store, forger: Any) -> None:
    forger.sql("UPDATE judged_items SET answer = 1 WHERE item = ?", "notes")
    (found,) = findings(stored)
    assert "the row of notes" in found.words
