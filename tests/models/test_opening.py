"""From a name to a model."""

import pytest

from adjudge.errors import InputError, ModelError
from adjudge.models.opening import open_model
from adjudge.settings import Settings

from .fault_server import FaultServer, a_request, answer, chat

pytestmark = pytest.mark.xdist_group("models")  # what they import takes seconds in every process


async def test_an_address_is_opened_and_answers() -> None:
    async with FaultServer(answer(chat("Yes."))) as server:
        model = open_model(f"{server.url}/v1#m", Settings())
        try:
            reply = await model.answer(a_request())
        finally:
            await model.close()
        assert server.asked[0].path == "/v1/chat/completions"
    assert (model.name, reply.text) == (f"{server.url}/v1#m", "Yes.")


async def test_the_deadline_of_the_settings_is_kept() -> None:
    async with FaultServer(answer({"error": {"message": "wait"}}, 429, retry_after="60")) as server:
        model = open_model(f"{server.url}/v1#m", Settings(deadline=30.0))
        try:
            with pytest.raises(ModelError, match="asks to wait 60 s"):
                await model.answer(a_request())
        finally:
            await model.close()


def test_an_unknown_name_opens_nothing() -> None:
    with pytest.raises(InputError):
        open_model("nobody/nothing", Settings())
