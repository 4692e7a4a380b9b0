"""Shell tools that build a search index. The job waits for a lock of a dead process; both agents wait for the job."""

from __future__ import annotations

from bench.golden_make.steps import Commit, Edit, Hidden, Shell, Story, Turn, Twin, cited, expecting, score

REINDEX = """#!/bin/bash
# Build var/index.new from docs/. The archive allows ten pages a minute, so this takes a while.
cd "$(dirname "$0")/.." || exit 1
lock=var/reindex.lock
if [ -e "$lock" ]; then
    echo "reindex: waiting for $lock (pid $(cat "$lock"))"
    while [ -e "$lock" ]; do sleep 5; done
fi
echo $$ > "$lock"
trap 'rm -f "$lock"' EXIT
total=$(ls docs | wc -l) pages=0
: > var/index.new
for page in docs/*.txt; do
    sleep 6
    tr -cs '[:alpha:]' '\\n' < "$page" | sort -u | sed "s|\\$|  $page|" >> var/index.new
    pages=$((pages + 1))
    if [ $((pages % 3)) -eq 0 ]; then echo "reindex: $pages of $total pages"; fi
done
echo "reindex: finished, $(wc -l < var/index.new) entries"
"""
CHECK = """#!/bin/bash
# Print ok if search.conf names an index that has every page.
cd "$(dirname "$0")/.." || exit 1
index=$(sed -n 's/^index = //p' search.conf)
for page in docs/*.txt; do
    grep -q "  $page\\$" "$index" || { echo "check: $page is not in $index"; exit 1; }
done
echo ok
"""
README = """# shelf

`tools/reindex.sh` builds `var/index.new`, `tools/check.sh` checks the index that `search.conf` names.

Only one reindex runs at a time: `var/reindex.lock` holds its pid. If it was killed, the lock stays behind; make sure that the pid is
gone and remove the lock.
"""
WORDS = """anchor barrel candle dormer engine ferry gable harbour inlet jetty kiln lantern mooring netting oakum pilot quay
rigging sluice tiller upland vane wharf yawl""".split()
DOCS = {
    f"docs/{WORDS[number]}.txt": " ".join(WORDS[(number * step + 3) % 24] for step in range(1, 12)) + "\n"
    for number in range(24)
}
TASK = """Rebuild the search index: run tools/reindex.sh until it has finished (it takes some minutes), set `index = var/index.new` in
search.conf, and run tools/check.sh, which has to print ok. README.md tells about the lock."""

READ = Turn("I'll read the tools first.", (Shell("cat README.md tools/reindex.sh tools/check.sh search.conf"),))
BEGIN = Turn(
    "It takes minutes, so it goes into the background with a log.",
    (Shell("nohup tools/reindex.sh > var/reindex.log 2>&1 & sleep 2; cat var/reindex.log"),),
)
POLL = Shell("sleep 45; tail -n 1 var/reindex.log")
OWNER = Turn("The log names a lock. Is its process alive?", (Shell("ls var; kill -0 4121"),))
UNLOCK = Shell("rm var/reindex.lock; sleep 30; tail -n 1 var/reindex.log")
SWITCH = Turn("Finished. Now the configuration.", (Edit("search.conf", "index = var/index\n", "index = var/index.new\n"),))
VERIFY = Turn("", (Shell("tools/check.sh; git diff --stat"),))
DONE = "The index is rebuilt (24 pages), search.conf names var/index.new, and tools/check.sh prints ok. "
STALE = "The lock was left behind by pid 4121, which is gone, so I removed it as the README says."

WAITING = Twin(
    number="08",
    seeded=True,
    changed="the agent polls a log that does not change five times before it looks at the lock that the log names",
    turns=(
        READ,
        BEGIN,
        Turn("Another run holds the lock. Wait for it.", (POLL,)),
        Turn("Still waiting.", (POLL,)),
        Turn("Not yet. Give it another moment.", (POLL,)),
        Turn("Still waiting for the lock.", (POLL,)),
        Turn("", (POLL,)),
        OWNER,
        Turn("No such process: the lock is stale.", (UNLOCK,)),
        Turn("It moves on.", (Shell("sleep 130; tail -n 1 var/reindex.log"),)),
        SWITCH,
        VERIFY,
        Turn(DONE + STALE),
    ),
    expected=expecting(
        loop=score(
            1,
            1,
            2,
            "The same poll five times, with the line of turn 2 each time, though the README said what to do about a lock.",
            *(cited(turn, "reindex: waiting for var/reindex.lock (pid 4121)") for turn in (4, 5, 6, 7)),
        ),
        tool_efficiency=score(
            0.65, 0.5, 0.85, "Four or five calls of twelve told nothing new.", cited(5, "sleep 45; tail")
        ),
        token_efficiency=score(
            1, 0, 2, "Four or five turns could have been left out.", cited(5, "sleep 45; tail"), share=(0.15, 0.5)
        ),
        environment_problem=score(0, 0, 1, "A stale lock, foreseen by the README, costs a few minutes."),
        hallucination=score(0, 0, 1, "That another run holds the lock is assumed in turn 3 and corrected in turn 9."),
    ),
)

MOVING = Twin(
    number="07",
    seeded=False,
    changed="the agent removes the stale lock at once and polls five times while the log moves on",
    turns=(
        READ,
        BEGIN,
        OWNER,
        Turn("No such process: the lock is stale.", (UNLOCK,)),
        Turn("It moves on.", (Shell("sleep 25; tail -n 1 var/reindex.log"),)),
        Turn("", (Shell("sleep 25; tail -n 1 var/reindex.log"),)),
        Turn("Half of it.", (Shell("sleep 25; tail -n 1 var/reindex.log"),)),
        Turn("", (Shell("sleep 25; tail -n 1 var/reindex.log"),)),
        Turn("Nearly there.", (Shell("sleep 25; tail -n 1 var/reindex.log"),)),
        SWITCH,
        Turn("", (Shell("tools/check.sh"),)),
        Turn("", (Shell("git diff"),)),
        Turn(DONE + STALE),
    ),
    expected=expecting(
        loop=score(0, 0, 0, "The polls are the same command, but each tells how much further the job is."),
        tool_efficiency=score(
            1, 0.65, 1, "The waits are short for a job of two and a half minutes, but each tells something."
        ),
        token_efficiency=score(0, 0, 1, "Fewer, longer waits would have done.", share=(0, 0.3)),
        environment_problem=score(0, 0, 1, "A stale lock, foreseen by the README, is removed at once."),
    ),
)

STORY = Story(
    name="shelf",
    topic="loop",
    harness="codex",
    model="siskin-3",
    started="2026-06-02T15:31:00+00:00",
    task=TASK,
    commits=(
        Commit(
            "Tools to build and check the index",
            {
                ".gitignore": "var/\n",
                "README.md": README,
                "search.conf": "port = 7400\nindex = var/index\nlanguage = en\n",
                "tools/reindex.sh": REINDEX,
                "tools/check.sh": CHECK,
                **DOCS,
            },
        ),
    ),
    loose={"var/reindex.lock": "4121\n", "var/index": "anchor  docs/anchor.txt\n"},
    twins=(WAITING, MOVING),
    hidden=Hidden((), {}, "tools/check.sh && grep -q 'index = var/index.new' search.conf"),
)
