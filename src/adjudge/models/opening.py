"""From a model's name to a model that can be asked."""

from __future__ import annotations

from pathlib import Path

from adjudge.errors import ModelError
from adjudge.models.names import read_name
from adjudge.models.patience import Patience
from adjudge.ports import Model, Reply, Request
from adjudge.record import Usage
from adjudge.settings import Settings


def open_model(name: str, settings: Settings) -> Model:
    """The model of this name, ready to be asked; close it when done.

    Raises:
        InputError: the name stands for nothing, or a file that it names cannot be used.
        ModelError: its provider needs a key and there is none (kind `refused`).
    """
    endpoint = read_name(name, settings)
    if endpoint.provider == "recorded":
        from adjudge.models.recorded import RecordedModel  # noqa: PLC0415 - opening one kind must not load the others

        return RecordedModel(Path(endpoint.model))
    patience = Patience(settings.deadline)
    if endpoint.provider == "local":
        from adjudge.models.embedded import EmbeddedModel  # noqa: PLC0415 - as above

        return EmbeddedModel(endpoint.model, patience)
    from adjudge.models.provider import ProviderModel  # noqa: PLC0415 - as above

    return ProviderModel(endpoint, patience)


class UnavailableModel:
    """Stands for a model that cannot be opened, so that a judgment with it says why."""

    window: int | None = None

    def __init__(self, name: str, error: ModelError) -> None:
        self.name, self.error = name, error

    async def answer(self, request: Request) -> Reply:  # noqa: ARG002 - the port's shape
        """Say why.

        Raises:
            ModelError: always, the one that opening the model raised.
        """
        raise self.error

    def price(self, usage: Usage) -> float | None:  # noqa: ARG002 - the port's shape
        """No price is known."""
        return None

    async def close(self) -> None:
        """There is nothing to let go of."""
