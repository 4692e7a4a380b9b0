"""The steps of an ATIF trajectory (RFC 0001 of Harbor, 1.0 to 1.8), one after another into a record.

Each step of the agent is a turn, unless it says that no model was called for it. Results stand in the step of their call.
"""

from __future__ import annotations

from typing import Any

from adjudge.importers.build import RecordBuilder, count_of
from adjudge.importers.chat_messages import content_text
from adjudge.importers.documents_values import amount, count, listing, mapping, text
from adjudge.importers.injected import add_message
from adjudge.record import Unparsed, Usage


class StepReader:
    """Takes steps in order. `references` are the sub-agents' trajectories that results point at."""

    def __init__(self, builder: RecordBuilder, model: str | None) -> None:
        self.builder = builder
        self.task: str | None = None
        self.references: list[tuple[str, dict[str, Any]]] = []
        self._model = model
        self._reasoning = ""

    def add(self, place: str, step: dict[str, Any]) -> None:
        """Add a step; one that was copied from an earlier part of the run is counted and left out."""
        source, time = step.get("source"), text(step.get("timestamp")) or None
        if step.get("is_copied_context") is True:
            self.builder.skip("copied")
            return
        if source == "agent":
            self._agent(step, time)
        elif source == "user":
            self._user(step, time)
        elif source == "system":
            self._system(step, time)
        else:
            self.builder.unparsed(Unparsed(place, f"a step of unknown source {source!r}"))
            return
        self._results(place, step, time)
        self.builder.use()

    def _user(self, step: dict[str, Any], time: str | None) -> None:
        written = add_message(self.builder, content_text(step.get("message")), time)
        self.task = self.task or written or None

    def _system(self, step: dict[str, Any], time: str | None) -> None:
        if words := content_text(step.get("message")):
            self.builder.message("harness", words, time=time, origin="system")

    def _agent(self, step: dict[str, Any], time: str | None) -> None:
        if step.get("llm_call_count") != 0 or not self.builder.turn:
            usage, model = usage_of(step.get("metrics")), text(step.get("model_name")) or self._model
            stop = text(mapping(step.get("extra")).get("stop_reason")) or None
            self.builder.respond(model=model, usage=usage, stop=stop, time=time)
        reasoning = text(step.get("reasoning_content"))
        if reasoning and reasoning != self._reasoning:  # converters repeat it on each step that they make of one answer
            self.builder.reasoning(reasoning, time=time)
        self._reasoning = reasoning
        calls = [call for call in listing(step.get("tool_calls")) if isinstance(call, dict)]
        words = content_text(step.get("message"))
        if words and words not in map(_placeholder, calls):
            self.builder.message("agent", words, time=time)
        for call in calls:
            name = text(call.get("function_name")) or "unnamed"
            self.builder.call(text(call.get("tool_call_id")) or None, name, call.get("arguments"), time=time)

    def _results(self, place: str, step: dict[str, Any], time: str | None) -> None:
        results = [item for item in listing(mapping(step.get("observation")).get("results")) if isinstance(item, dict)]
        calls = listing(step.get("tool_calls"))
        stated = mapping(step.get("extra")).get("tool_result_is_error") if len(results) == 1 else None
        for result in results:
            key = text(result.get("source_call_id"))
            if not key and len(calls) == len(results) == 1:
                key = text(mapping(calls[0]).get("tool_call_id"))
            self._result(key, result, stated, time)
            for reference in listing(result.get("subagent_trajectory_ref")):
                self.references.append((place, mapping(reference)))

    def _result(self, key: str, result: dict[str, Any], stated: Any, time: str | None) -> None:
        content, extra = content_text(result.get("content")), mapping(result.get("extra"))
        if not key and not content and result.get("subagent_trajectory_ref"):
            return
        stated = extra.get("is_error", stated)
        self.builder.result(
            key or None,
            content,
            exit_status=count_of(extra.get("exit_code")),
            is_error=stated if isinstance(stated, bool) else None,
            time=time,
        )


def _placeholder(call: dict[str, Any]) -> str:
    """What Harbor's converters write as the message of a step that only carries this call."""
    return f"Executed {call.get('function_name')} {call.get('tool_call_id')}".rstrip()


def usage_of(metrics: Any) -> Usage | None:
    """A step's `metrics`; `prompt_tokens` include the cached ones."""
    if not isinstance(metrics, dict) or not metrics:
        return None
    extra = mapping(metrics.get("extra"))
    return Usage(
        prompt=count(metrics.get("prompt_tokens")),
        cached=count(metrics.get("cached_tokens")),
        written=count(extra.get("cache_creation_input_tokens")),
        output=count(metrics.get("completion_tokens")),
        reasoning=count(extra.get("reasoning_tokens")),
        cost=amount(metrics.get("cost_usd")),
    )


def total_of(metrics: Any) -> Usage | None:
    """A trajectory's `final_metrics`."""
    if not isinstance(metrics, dict):
        return None
    total = Usage(
        prompt=count(metrics.get("total_prompt_tokens")),
        cached=count(metrics.get("total_cached_tokens")),
        output=count(metrics.get("total_completion_tokens")),
        cost=amount(metrics.get("total_cost_usd")),
    )
    return None if total == Usage() else total
