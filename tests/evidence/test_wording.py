import pytest

from adjudge.evidence import about, denies
from adjudge.evidence.wording import asked_exit_status
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
        ("`x` prints `exits with status 0`.", None),
        ("GET /x answers status 200.", None),
    ],
)
def test_the_exit_status_that_a_criterion_asks_for_is_known(text: str, status: str | None) -> None:
    assert asked_exit_status(Criterion("c1", text)) == status
