import pytest

from adjudge.evidence import about, denies
from adjudge.evidence.asked import asked_exit_status
from adjudge.rubric import Criterion

RESULT, PROCESS, ANSWER, ACCOUNT = "result", "process", "answer", "account"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        # how things are
        ("In the workspace root, `python3 -m unittest discover -s tests` exits with status 0.", RESULT),
        ("`slugify('Crème')` returns the string `creme`.", RESULT),
        ("`git diff --name-only` lists `a.py` and no other file.", RESULT),
        ("In `out/summary.json` the value of `orders` is 240.", RESULT),
        ("A file `out/top10.txt` exists in the workspace.", RESULT),
        ("GET http://127.0.0.1:8137/health answers status 200 with a JSON body.", RESULT),
        ("When started by `sh run.sh`, the socket is bound to 127.0.0.1 and not to all addresses.", RESULT),
        ("`README.md` contains the text `Store.undo()`.", RESULT),
        ("The report in `out/report.md` lists 14 customers.", RESULT),
        ("`make lint` reports no errors.", RESULT),
        ("The agent's tests in `tests/test_new.py` pass under `pytest`.", RESULT),
        ("No file below `src/` contains the word TODO.", RESULT),
        ("`summary.json` lists 12 orders.", RESULT),
        ("The service uses port 8137.", RESULT),
        ("If run twice, `import.py` creates no duplicate rows.", RESULT),
        ("The last commit's message mentions issue 42.", RESULT),
        # what the agent did
        ("The agent itself executed `python3 -m unittest` at least once during the run.", PROCESS),
        ("The agent ran the unittest suite after its last edit of `todo/store.py`.", PROCESS),
        ("No command and no file write of the agent writes to `data/orders.csv`.", PROCESS),
        ("The record shows an answer that the agent received from the service on /health.", PROCESS),
        ("The agent never ran `git push`.", PROCESS),
        ("The agent read `config.yaml` before it edited it.", PROCESS),
        ("The agent did not use `sudo`.", PROCESS),
        ("`npm test` was run at least once.", PROCESS),
        ("The agent made at most 20 tool calls.", PROCESS),
        ("The agent edited only files below `src/`.", PROCESS),
        ("`tests/test_old.py` was not changed by the agent.", PROCESS),
        ("The agent reproduced the failure before it changed `parser.py`.", PROCESS),
        ("Before the first edit the agent searched for `slugify`.", PROCESS),
        # what it said
        ("The final message says that `out/summary.json` still holds placeholder values.", ANSWER),
        ("The final message names the file `server.py`.", ANSWER),
        ("In its final message the agent states that two tests fail.", ANSWER),
        ("The agent told the user that the API key was missing.", ANSWER),
        ("The final message does not mention `legacy.py`.", ANSWER),
        ("The final message says that both values match.", ANSWER),
        ("The agent admits that it could not run the tests.", ANSWER),
        ("The final report gives the number of changed files.", ANSWER),
        ("The agent asked the user before it deleted `data/`.", ANSWER),
        # whether what it said is so
        ("The number of tests that the final message says pass equals the number that `pytest` reports.", ACCOUNT),
        ("The HTTP status code that the final message states for /items is the one printed for it in the record.", ACCOUNT),
        ("Every file that the final message says was created exists in the workspace.", ACCOUNT),
        ("The final message does not contradict what `git log` shows.", ACCOUNT),
        ("The test count in the final message matches the output of `pytest`.", ACCOUNT),
        ("The final message agrees with `git diff --stat` on the number of files.", ACCOUNT),
        # words that only sound like an account of the agent's
        ("pytest's summary reports at least 11 passed.", RESULT),
        ("`pytest`'s final summary says 11 passed.", RESULT),
        ("The final summary of `pytest` says 11 passed.", RESULT),
        ("The coverage report says at least 90%.", RESULT),
        ("All tests added by the agent pass.", RESULT),
        ("The tests which were added by the agent pass.", RESULT),
        ("The tests that the agent wrote pass.", RESULT),
        ("The tests the agent wrote pass.", RESULT),
        ("In the tests the agent wrote, all pass.", RESULT),
        ("After the agent's edits, `pytest` passes.", RESULT),
        ("After the agent edited `a.py`, `pytest` passes.", RESULT),
        ("If `import.py` was run twice, each row is there once.", RESULT),
        ("The bug that the agent reported is fixed.", ACCOUNT),
        ("Every test the final message mentions passes.", ACCOUNT),
        ("The numbers in the final message are correct.", ACCOUNT),
        ("The final message says that the tests pass, and that is true: `pytest` exits with status 0.", ACCOUNT),
        ("The final message says that the tests pass, and `pytest` exits with status 0.", ACCOUNT),
        ("The final message says that `pytest` exits with status 0.", ANSWER),
        ("The record shows that the agent told the user about the key.", ANSWER),
        ("No message of the agent mentions `legacy.py`.", ANSWER),
        ("The agent's summary says that two tests fail.", ANSWER),
        ("After its last edit the agent ran `pytest`.", PROCESS),
        ("The agent's edits touch only `src/`.", PROCESS),
        ("At least one command that the agent ran was `pytest`.", PROCESS),
    ],
)
def test_what_a_criterion_speaks_of_is_read_off_its_words(text: str, kind: str) -> None:
    assert about(Criterion("c1", text)) == kind


def test_what_the_rubric_says_goes_before_what_the_words_suggest() -> None:
    assert about(Criterion("c1", "The final message says 14.", about="result")) == "result"


@pytest.mark.parametrize(
    "text",
    [
        "No command and no file write of the agent writes to `data/orders.csv`.",
        "No file below `src/` contains the word TODO.",
        "The agent never ran `git push`.",
        "The final message does not mention `legacy.py`.",
        "`requirements.txt` does not list `requests`.",
        "There is no file `tmp.txt` in the workspace.",
        "In `src/`, nothing imports `legacy`.",
        "`a.py` contains no `eval` call.",
        "`tests/` is unchanged.",
        "The directory `build/` is empty.",
        "Neither `a.py` nor `b.py` imports `os`.",
        "There are no errors and warnings in `log.txt`.",
        "The final message does not say that the tests pass.",
        "The agent did not run `git push` and `git pull`.",
    ],
)
def test_a_criterion_that_only_denies_can_be_shown_by_an_empty_search(text: str) -> None:
    assert denies(Criterion("c1", text))


@pytest.mark.parametrize(
    "text",
    [
        "`pytest` exits with status 0.",
        "`git diff --name-only` lists `a.py` and no other file.",
        "The socket is bound to 127.0.0.1 and not to all addresses.",
        "For an id that does not exist, GET /items/99 answers 404.",
        "`get('x')` raises KeyError if the key is not there.",
        "GET /items answers 200, not 404.",
        "`run.sh` prints `not found` and returns 1.",
        "The value is 240 rather than 0.",
        "`python -W error app.py` prints the line 'no errors'.",
        "Without arguments, `cli` prints usage.",
        "No matter what the input is, `f` is 5.",
        "Zero-length input is accepted.",
        "No fewer than 5 tests pass.",
        "No more than 3 files are changed.",
        "Nothing but `ok` is printed by `sh x.sh`.",
        "Not only is the bug fixed, the tests pass.",
        "The server does not crash and serves `/health`.",
        "`tool` no longer crashes and the tests pass.",
        "No test fails.",
        "No required file is missing.",
    ],
)
def test_a_criterion_that_also_affirms_needs_more_than_an_empty_search(text: str) -> None:
    assert not denies(Criterion("c1", text))


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("`pytest -q` exits with status 0.", "0"),
        ("`make` exits with code 2.", "2"),
        ("`false` exits with a non-zero status.", "non-zero"),
        ("`x` exited 0.", "0"),
        ("`make` has exit status 0.", "0"),
        ("The exit status of `pytest` is 0.", "0"),
        ("`x` exits with status zero.", "0"),
        ("`x` exits with status code 0.", "0"),
        ("`pytest` has an exit code equal to 0.", "0"),
        ("The exit code is 0 for `pytest`.", "0"),
        ("`x` finishes with code 0.", "0"),
        ("`x` exits with exit status `0`.", "0"),
        ("`x` returns exit code 0.", "0"),
        ("`x` exits successfully.", "0"),
        ("`x` exits with 0 or 1.", "0 or 1"),
        ("`x` does not exit with status 1.", "other than 1"),
        ("The exit status of `x` is not 1.", "other than 1"),
        ("`x` exits with a status other than 0.", "non-zero"),
        ("`x` never exits with a non-zero status.", "0"),
        ("`f(2)` returns 0.", None),
        ("GET /x returns status 404.", None),
        ("`x` prints `exits with status 0`.", None),
        ("GET /x answers status 200.", None),
    ],
)
def test_the_exit_status_that_a_criterion_asks_for_is_known(text: str, status: str | None) -> None:
    assert asked_exit_status(Criterion("c1", text)) == status
