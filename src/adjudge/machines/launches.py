"""Which launches of an agent a machine takes."""

from __future__ import annotations

from adjudge.errors import InputError
from adjudge.machines.local import LONGEST_COMMAND
from adjudge.ports import Launch

_ITS_FILES = ("no such file or directory", "permission denied", "exec format error")


def check_launch(launch: Launch) -> None:
    """See to it that a process could be started so.

    Raises:
        InputError: the program's path is not absolute, a text cannot be given to a process, or a file lies elsewhere.
    """
    if not launch.arguments or not launch.arguments[0].startswith("/"):
        raise InputError(f"arguments: must begin with the absolute path of a program, got {launch.arguments[:1]!r}")
    for text in (*launch.arguments, *launch.environment, *launch.environment.values()):
        _check_text(text)
    if fault := next((name for name in launch.environment if not name or "=" in name), None):
        raise InputError(f"environment: {fault!r} cannot be the name of a variable")
    for path in launch.files:
        check_in_home(path)


def not_started(program: str, words: str) -> InputError:
    """The fault of a program that could not be started inside.

    `words` are those of the system or of the engine; where they only tell the program's path again, it is told once.
    """
    told = words.lower()
    why = next((reason for reason in _ITS_FILES if reason in told), None) if program in words else None
    advice = f"{why}; it must be an executable file inside, and so must the interpreter that its first line names"
    return InputError(f"{program}: cannot be started inside: {advice if why else words}")


def check_in_home(path: str) -> str:
    """The path, if it names something in a home, relative to it.

    Raises:
        InputError: it does not.
    """
    _check_text(path)
    if not path or path.startswith("/") or not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise InputError(f"{path!a}: must be a path relative to the agent's home, without '.' and '..'")
    return path


def _check_text(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        size = -1
    if size < 0 or "\0" in text:
        raise InputError(f"{text[:80]!a}: a process cannot be given a text that holds a NUL or is no Unicode")
    if size > LONGEST_COMMAND:
        raise InputError(
            f"{text[:80]!a}…: has {size} bytes; a process can be given at most {LONGEST_COMMAND} in one argument"
        )
