"""The application: every command, and what each ending means as an exit status."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from adjudge import __version__
from adjudge.cli import (
    asking,
    checks,
    comparing,
    connecting,
    exporting,
    judging,
    passes,
    profiling,
    reading,
    results,
    reviewing,
    runs,
    serving,
    starting,
)
from adjudge.cli.printing import say
from adjudge.errors import AdjudgeError, InputError

PASSED, FAILED, BAD_INPUT, NOT_JUDGED, OUR_BUG = range(5)


class Stopped(Exception):  # noqa: N818  it is no error
    """A command was ended by Ctrl-C; the message says what had come of it by then, if the command said anything."""


class Commands(TyperGroup):
    """The commands. The parser makes of Ctrl-C an exit status that nobody can tell from others, and says nothing."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:
            raise Stopped(*stopped.args) from stopped


app = typer.Typer(
    name="adjudge",
    cls=Commands,
    help="Judge what an AI agent did: no verdict without an exhibit, and code checks that the exhibit says so.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog=(
        "Exit status: 0 all passed, or all is blameless; 1 some criterion failed, or some dimension is worse; 2 bad input; "
        "3 not judged; 4 a bug of adjudge."
    ),
)
rubrics = typer.Typer(help="Check a rubric before it judges.", no_args_is_help=True, rich_markup_mode=None)
rubrics.command("check")(checks.check_rubric)
app.add_typer(rubrics, name="rubric")
of_passes = typer.Typer(help="Judge many stored runs with one command.", no_args_is_help=True, rich_markup_mode=None)
of_passes.command("plan")(passes.plan_pass)
of_passes.command("start")(passes.start_pass)
of_passes.command("resume")(passes.resume_pass)
of_passes.command("list")(passes.list_passes)
of_passes.command("show")(passes.show_pass)
app.add_typer(of_passes, name="pass")
of_reviews = typer.Typer(no_args_is_help=False, rich_markup_mode=None)
of_reviews.callback(invoke_without_command=True)(reviewing.review)
of_reviews.command("queue")(reviewing.print_queue)
of_reviews.command("add")(reviewing.add)
of_reviews.command("agreement")(reviewing.print_agreement)
of_reviews.command("export")(reviewing.export_reviews)
app.add_typer(of_reviews, name="review")
app.command("judge")(judging.judge)
app.command("run")(starting.run)
app.command("read")(reading.read)
app.command("demo")(judging.demo)
app.command("import")(runs.import_runs)
app.command("list")(runs.list_runs)
app.command("show")(runs.show)
app.command("ask")(asking.ask)
app.command("profile")(profiling.profile_run)
app.command("results")(results.print_results)
app.command("compare")(comparing.compare_agents)
app.command("serve")(serving.serve)
app.command("export")(exporting.export)
app.command("verify")(checks.verify)
app.command("doctor")(checks.doctor)
app.command("connect")(connecting.connect_key)
app.command("disconnect")(connecting.disconnect_key)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"adjudge {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", "-V", help="Print the version.", callback=_version, is_eager=True),
) -> None:
    """Options of `adjudge` itself."""


def run() -> int:
    """Run the command that `sys.argv` names and return its exit status."""
    given, command = _split(_with_address(sys.argv[1:]))
    try:
        ended = app(given, obj=command, standalone_mode=False)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.Abort:
        say("Stopped.")
        return NOT_JUDGED
    except InputError as error:
        say(str(error))
        return BAD_INPUT
    except AdjudgeError as error:
        say(str(error))
        return NOT_JUDGED
    except (Stopped, KeyboardInterrupt) as stopped:
        say(str(stopped) or "Stopped.")
        return 130
    except BrokenPipeError:
        return PASSED
    except SystemExit as exit_:  # so the parser and the printer of tables end where nobody reads on
        if isinstance(exit_.__context__, BrokenPipeError):
            return PASSED
        raise
    except Exception as error:  # noqa: BLE001  the parser's own errors, or a bug, which is printed whole
        return _foreign(error)
    return ended if isinstance(ended, int) else PASSED


def _with_address(arguments: list[str]) -> list[str]:
    """What `--ray` stands for without an address is said: the parser knows no options with or without a value."""
    if arguments[:1] != ["pass"] or "--ray" not in arguments:
        return arguments
    at = arguments.index("--ray") + 1
    given = at < len(arguments) and (":" in arguments[at] or arguments[at] == passes.LOCAL)  # or it is a pass's id
    return arguments if given else [*arguments[:at], passes.LOCAL, *arguments[at:]]


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What is for adjudge, and for `adjudge run` the command of an agent, which stands after `--`."""
    if arguments[:1] != ["run"] or "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _foreign(error: Exception) -> int:
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # a usage error of the command line's parser
        context = getattr(error, "ctx", None)
        say(f"{context.get_usage()}\n{error.format_message()}" if context else str(error.format_message()))
        return BAD_INPUT
    traceback.print_exc()
    say("This is a bug of adjudge. Please report it with the lines above.")
    return OUR_BUG
