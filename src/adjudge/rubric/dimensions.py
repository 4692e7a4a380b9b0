"""The one schema of a rubric of dimensions, whatever syntax it was written in."""

from __future__ import annotations

from typing import Any, Literal

from adjudge.errors import InputError
from adjudge.rubric.fields import LONGEST, read_id, read_text, refuse_repeated, refuse_unknown, told
from adjudge.rubric.values import RATIO, SEVERITY, Dimension, Scale

MOST = 50
"""Dimensions of one rubric."""

MOST_TEXTS = 50
"""Examples of what is not a finding, or causes, of one dimension."""

LONGEST_EXAMPLE = 1000
"""Characters of an example of what is not a finding."""

LONGEST_CAUSE = 100
"""Characters of a cause, which is a name and not an explanation."""

FARTHEST = 1_000_000
"""How far from 0 the ends of a scale may lie."""

_SCALES = {"severity": SEVERITY, "ratio": RATIO}
_KEYS = ("id", "scale", "baseline", "worse", "description", "guidance", "not_findings", "causes")
_MISSING = {
    "id": "it names the dimension in every score",
    "scale": "severity, ratio, or a mapping with least and most",
    "baseline": "the value of a run that is not to blame",
    "worse": "higher or lower: the direction in which values accuse",
    "description": "it must say what is scored",
}


def read_dimensions(data: dict[Any, Any], source: str, name: str) -> tuple[str, str, tuple[Dimension, ...]]:
    """The name, the version and the dimensions that a parsed file holds; `name` is used where it gives none.

    Raises:
        InputError: it is not such a rubric; the message starts with `source` and the place.
    """
    refuse_unknown(source, data, ("name", "version", "dimensions"))
    name = read_text(source, "name", data["name"]) if "name" in data else name
    version = _version(source, data)
    items = data.get("dimensions")
    if not isinstance(items, list) or not items:
        raise InputError(f'{source}: "dimensions" must be a list with at least one dimension, got {told(items)}')
    if len(items) > MOST:
        raise InputError(f"{source}: has {len(items)} dimensions; at most {MOST} can be scored, and a dozen is plenty")
    dimensions = tuple(_dimension(f"{source}: dimensions[{at}]", item) for at, item in enumerate(items))
    refuse_repeated(source, "dimensions", [dimension.id for dimension in dimensions])
    return name, version, dimensions


def _version(source: str, data: dict[Any, Any]) -> str:
    """The version as text: `3` and `"3"` are one, `1.10` would lose its end."""
    if "version" not in data:
        raise InputError(
            f'{source}: "version" is missing; it must be a text or a whole number, and change with the content'
        )
    version = data["version"]
    return read_text(source, "version", str(version) if type(version) is int else version, most=64)


def _dimension(at: str, item: Any) -> Dimension:
    if not isinstance(item, dict):
        raise InputError(f"{at}: must be a mapping with {', '.join(_MISSING)}, got {told(item)}")
    refuse_unknown(at, item, _KEYS)
    for key, wanted in _MISSING.items():
        if key not in item:
            raise InputError(f'{at}: "{key}" is missing; {wanted}')
    scale, worse = _scale(at, item["scale"]), _worse(at, item["worse"])
    return Dimension(
        id=read_id(at, item["id"]),
        scale=scale,
        baseline=_baseline(at, item["baseline"], scale, worse),
        worse=worse,
        description=read_text(at, "description", item["description"]),
        guidance=read_text(at, "guidance", item["guidance"], most=2 * LONGEST) if "guidance" in item else "",
        not_findings=_texts(at, "not_findings", item, LONGEST_EXAMPLE),
        causes=_texts(at, "causes", item, LONGEST_CAUSE),
    )


def _scale(at: str, value: Any) -> Scale:
    if isinstance(value, str) and value in _SCALES:
        return _SCALES[value]
    if not isinstance(value, dict):
        raise InputError(f'{at}: "scale" must be severity, ratio, or a mapping with least and most, got {told(value)}')
    at = f"{at}.scale"
    refuse_unknown(at, value, ("least", "most", "whole"))
    whole = value.get("whole", True)
    if type(whole) is not bool:
        raise InputError(f'{at}: "whole" must be true or false, got {told(whole)}')
    least, most = (_end(at, key, value.get(key), whole) for key in ("least", "most"))
    if not least < most:
        raise InputError(f'{at}: "most" must be above "least", which is {least:g}, got {most:g}')
    return Scale(least, most, whole)


def _end(at: str, key: str, value: Any, whole: bool) -> float:
    number = _number(at, key, value)
    if whole and number != int(number):
        raise InputError(f'{at}: "{key}" must be a whole number where "whole" is not false, got {told(value)}')
    return number


def _number(at: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= FARTHEST:  # NaN neither
        raise InputError(f'{at}: "{key}" must be a number from {-FARTHEST} to {FARTHEST}, got {told(value)}')
    return float(value)


def _worse(at: str, value: Any) -> Literal["higher", "lower"]:
    if value == "higher":
        return "higher"
    if value == "lower":
        return "lower"
    raise InputError(f'{at}: "worse" must be higher or lower, got {told(value)}')


def _baseline(at: str, value: Any, scale: Scale, worse: Literal["higher", "lower"]) -> float:
    baseline = _number(at, "baseline", value)
    numbers = f"a {'whole ' if scale.whole else ''}number from {scale.least:g} to {scale.most:g}"
    if not scale.holds(baseline):
        raise InputError(f'{at}: "baseline" must be on the scale, {numbers}, got {told(value)}')
    if baseline == (scale.most if worse == "higher" else scale.least):
        better = "lower" if worse == "higher" else "higher"
        raise InputError(
            f'{at}: nothing is worse than a "baseline" of {told(value)} if {worse} is worse, so that it could never '
            f"accuse; write `worse: {better}`, or another baseline"
        )
    return baseline


def _texts(at: str, key: str, item: dict[Any, Any], most: int) -> tuple[str, ...]:
    """A list of different texts, each in one line; nothing if it is left out."""
    values = item.get(key, [])
    if not isinstance(values, list):
        raise InputError(f'{at}: "{key}" must be a list of texts, got {told(values)}')
    if len(values) > MOST_TEXTS:
        raise InputError(f'{at}: "{key}" has {len(values)} texts; at most {MOST_TEXTS} are read')
    found: list[str] = []
    for number, value in enumerate(values):
        each = " ".join(read_text(at, f"{key}[{number}]", value, most=most).split())
        if each in found:
            raise InputError(f'{at}: "{key}[{number}]" is the same as "{key}[{found.index(each)}]"; write each once')
        found.append(each)
    return tuple(found)
