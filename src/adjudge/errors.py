"""The errors that adjudge raises on purpose, as one tree.

    AdjudgeError
    ├── InputError      yours: a file, a rubric, a name; the command line exits with 2
    ├── OutsideError    a provider, a disk, a sandbox: retried where that helps, then a row that says so
    │   ├── ModelError      a language model's endpoint
    │   └── MachineError    the place where commands run
    └── JudgingError    this one judgment cannot be had: a row with status "errored"

Anything else that escapes is a bug of adjudge and is not caught.
"""


class AdjudgeError(Exception):
    """The root of everything adjudge raises on purpose; its message is meant for people."""


class InputError(AdjudgeError):
    """What was given cannot be used. The message names the file, the place, what is wrong and what would be right."""


class OutsideError(AdjudgeError):
    """Something that adjudge depends on failed; the same call may succeed later."""


class ModelError(OutsideError):
    """A call to a language model brought no usable reply.

    `kind` says which sort of failure it was, so that callers can tell a full context from a provider that is down:
    `refused` (wrong key, no credit, unknown model), `busy` (429, overloaded), `broken` (a faulty reply or transport),
    `timeout`, `context` (the request is larger than the model's window), `filtered` (a content filter or refusal),
    `budget` (the call would pass the limit that was set), `differs` (a recorded exchange does not know this request).
    `calls` are the ledger's lines (`judgment.Call`) of attempts that were billed all the same.
    """

    def __init__(self, message: str, kind: str, calls: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.calls = calls


class MachineError(OutsideError):
    """A machine could not be opened, or was lost while it was in use."""


class JudgingError(AdjudgeError):
    """A run could not be judged; nothing is guessed in its place."""
