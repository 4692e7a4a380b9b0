"""What a layer is told of the tools and of the answer's schema, drawn up once for all requests that have the same.

A layer goes through a schema several times, and for a rubric of nine dimensions that takes longer than all else of a call.
"""

from __future__ import annotations

from typing import Any

from pydantic_ai.models import Model as Layer
from pydantic_ai.models import ModelRequestParameters

from adjudge.models.conversation import parameters_of
from adjudge.ports import Request, Tool


class Parameters:
    """Gives the parameters of requests to one layer, and remembers the last with what the layer makes of them.

    Requests have the same if their schema and their tools are the very same values; who asks must not change those.
    """

    def __init__(self, layer: Layer[Any]) -> None:
        self._schema: dict[str, Any] | None = None
        self._tools: tuple[Tool, ...] = ()
        self._plain = False
        self._given: ModelRequestParameters | None = None
        self._customize = layer.customize_request_parameters
        self._customized: ModelRequestParameters | None = None
        layer.customize_request_parameters = self._remembered  # type: ignore[method-assign]  # a hook of the layer's

    def of(self, request: Request, plain: bool) -> ModelRequestParameters:
        """The tools, and the schema of the answer unless `plain`."""
        the_same = request.schema is self._schema and request.tools is self._tools and plain == self._plain
        if self._given is None or not the_same:
            self._given, self._customized = parameters_of(request, plain), None
            self._schema, self._tools, self._plain = request.schema, request.tools, plain
        return self._given

    def _remembered(self, model_request_parameters: ModelRequestParameters) -> ModelRequestParameters:
        if model_request_parameters is not self._given:
            return self._customize(model_request_parameters)
        if self._customized is None:
            self._customized = self._customize(self._given)
        return self._customized
