"""mini-SWE-agent's messages, one after another into a record."""

from __future__ import annotations

import re
from typing import Any

from adjudge.importers.build import RecordBuilder, count_of
from adjudge.importers.chat_messages import ChatReader, content_text, usage_of
from adjudge.importers.documents_values import listing, mapping, moment, text
from adjudge.record import Unparsed

NOT_EXECUTED = "action was not executed"
"""What stands for the result of an action that ended the run; its -1 is no exit status."""

ACTION = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n```", re.DOTALL)
"""The fence that holds a command, in the versions without tool calls."""

RESULT = re.compile(r"\s*(?:<exception>.*?</exception>\s*)?<returncode>\s*(-?\d{1,9})\s*</returncode>", re.DOTALL)
"""How those versions begin the message that answers a command."""

MARKERS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
"""What a command prints to submit; what it printed besides is then the last message."""


class MiniReader:
    """Takes messages in order. `submitted` says that the run is known to have ended with a submission."""

    def __init__(self, submitted: bool) -> None:
        self.builder = RecordBuilder("mini-swe-agent")
        self.task: str | None = None
        self._chat = ChatReader(self.builder)
        self._submitted = submitted
        self._action: str | None = None
        self._answered = True

    def add(self, place: str, message: dict[str, Any], last: bool) -> None:
        """Add a message; `last` says that none follows."""
        role, extra = message.get("role"), mapping(message.get("extra"))
        time = moment(extra.get("timestamp"))
        if message.get("object") == "response":
            self._response(message, extra, time)
        elif message.get("type") == "function_call_output":
            self._result(text(message.get("call_id")), text(message.get("output")), extra, time)
        elif role == "assistant":
            self._assistant(message, extra, time)
        elif role == "tool":
            self._result(text(message.get("tool_call_id")), content_text(message.get("content")), extra, time)
        elif role == "user":
            self._user(content_text(message.get("content")), extra, time, last)
        elif role == "exit":
            self.builder.event(_exit(message, extra), "api-error" if _is_refused(extra) else "exit", time=time)
        elif role == "system":
            self.builder.message("harness", content_text(message.get("content")), time=time, origin="system")
        else:
            self.builder.unparsed(Unparsed(place, f"a message of unknown role {role!r}"))
            return
        self.builder.use()

    # --- the agent's answers

    def _assistant(self, message: dict[str, Any], extra: dict[str, Any], time: str | None) -> None:
        self._answer(message, mapping(extra.get("response")), extra.get("cost"), time)
        if listing(message.get("tool_calls")):
            return
        actions = [text(mapping(action).get("command")) for action in listing(extra.get("actions"))]
        found = actions or ACTION.findall(content_text(message.get("content")))
        self._answered, self._action = False, None
        if len(found) == 1:
            self._action = f"action {self.builder.turn}"
            self.builder.call(self._action, "bash", {"command": found[0].strip()}, time=time)
            self._submitted = self._submitted or any(marker in found[0] for marker in MARKERS)

    def _answer(self, message: dict[str, Any], response: dict[str, Any], cost: Any, time: str | None) -> None:
        choice = mapping(next(iter(listing(response.get("choices"))), None))
        stop, model = text(choice.get("finish_reason")) or None, text(response.get("model")) or None
        self._chat.assistant(message, usage_of(response.get("usage"), cost), model, stop, time)

    def _response(self, response: dict[str, Any], extra: dict[str, Any], time: str | None) -> None:
        """An answer of OpenAI's Responses interface: reasoning, messages and calls as a list of items."""
        usage, model = usage_of(response.get("usage"), extra.get("cost")), text(response.get("model")) or None
        self.builder.respond(model=model, usage=usage, stop=text(response.get("status")) or None, time=time)
        for item in map(mapping, listing(response.get("output"))):
            if item.get("type") == "reasoning" and (words := content_text(item.get("summary"))):
                self.builder.reasoning(words, time=time)
            elif item.get("type") == "message":
                self.builder.message("agent", content_text(item.get("content")), time=time)
            elif item.get("type") == "function_call":
                name = text(item.get("name")) or "unnamed"
                self.builder.call(text(item.get("call_id")), name, item.get("arguments"), time=time)

    # --- what came back

    def _result(self, key: str | None, shown: str, extra: dict[str, Any], time: str | None) -> None:
        """A result: the whole output if the trajectory has it, else what the agent was shown."""
        fault, status = text(extra.get("exception_info")), count_of(extra.get("returncode"))
        raw = extra.get("raw_output")
        output = raw if isinstance(raw, str) else shown
        self.builder.result(
            key,
            f"{fault}\n{output}".strip("\n") if fault else output,
            name="bash",
            exit_status=None if fault and status == -1 else status,
            is_error=True if fault and fault != NOT_EXECUTED else None,
            time=time,
        )

    def _user(self, words: str, extra: dict[str, Any], time: str | None, last: bool) -> None:
        """A message in the user's role, which the harness uses as well."""
        interrupt, action, answered = text(extra.get("interrupt_type")), self._action, self._answered
        self._action, self._answered = None, True
        match = RESULT.match(words) if action else None
        if interrupt and not interrupt.startswith("User"):
            self._rejected(words, extra, time)
        elif "returncode" in extra:
            self._result(action, words, extra, time)
        elif match:
            status = int(match[1])
            self.builder.result(
                action, words, name="bash", exit_status=None if NOT_EXECUTED in words else status, time=time
            )
        elif action and last and self._submitted:
            self.builder.result(action, words, name="bash", time=time)
        elif not answered:
            self.builder.message("harness", words, time=time, origin="complaint")
        else:
            self.task = self.task or words
            self.builder.message("user", words, time=time)

    def _rejected(self, complaint: str, extra: dict[str, Any], time: str | None) -> None:
        """An answer that the harness did not accept, and its complaint, which is what the answer's calls returned."""
        response = mapping(extra.get("response"))
        if response.get("object") == "response":
            self._response(response, extra, time)
            calls = [text(mapping(item).get("call_id")) for item in listing(response.get("output"))]
        else:
            choice = mapping(next(iter(listing(response.get("choices"))), None))
            message = mapping(choice.get("message")) or {"content": extra.get("model_response")}
            self._answer(message, response, extra.get("cost"), time)
            calls = [text(mapping(call).get("id")) for call in listing(message.get("tool_calls"))]
        for key in filter(self.builder.knows, calls):
            self.builder.result(key, complaint, is_error=True, time=time)
        if not any(calls):
            self.builder.message("harness", complaint, time=time, origin="complaint")


def _is_refused(extra: dict[str, Any]) -> bool:
    """Whether the run ended with an exception of the client that it asks its model with."""
    status, exception = text(extra.get("exit_status")), text(extra.get("exception_str"))
    return exception.startswith("litellm.") or status.startswith(("OpenRouter", "Portkey", "Requesty"))


def _exit(message: dict[str, Any], extra: dict[str, Any]) -> str:
    status, content = text(extra.get("exit_status")), content_text(message.get("content"))
    return content if not status or content.startswith(status) else f"{status}\n{content}".strip()
