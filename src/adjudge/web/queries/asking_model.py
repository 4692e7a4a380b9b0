"""Whether a model can be asked to judge, and if not, why."""

from __future__ import annotations

from adjudge.errors import InputError, ModelError
from adjudge.models.names import read_name
from adjudge.rubric import Rubric
from adjudge.settings import Settings
from adjudge.wiring.models import needs_model

NO_MODEL = (
    "No model is named to judge with. Name one here as PROVIDER/MODEL, or set ADJUDGE_MODEL before `adjudge serve`; its "
    "provider's key is set in the environment too, or connected under Agents."
)


def why_no_model(settings: Settings) -> str | None:
    """Why the model of the settings cannot be asked, and what to do; `None` if nothing speaks against it."""
    if settings.model is None:
        return NO_MODEL
    try:
        read_name(settings.model, settings)
    except InputError as error:
        return f"{error}."
    except ModelError as error:
        return f"{error}, or under Agents. No verdict is guessed."
    return None


def require_asking(rubric: Rubric | None, settings: Settings) -> None:
    """Do nothing if what the rubric needs can be asked.

    Raises:
        InputError: it needs a model, and none can be had; the message says why.
    """
    if rubric is not None and needs_model(rubric) and (why := why_no_model(settings)):
        raise InputError(why)
