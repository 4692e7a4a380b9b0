"""What a very small model is bound to."""

from adjudge.models.modest import LONGEST, MOST, modest


def test_every_string_and_list_of_a_schema_ends() -> None:
    kind = {"type": "string", "enum": ["a", "b"]}
    number = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    item = {"type": "object", "properties": {"quote": {"type": "string"}, "kind": kind, "value": number}}
    schema = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": item, "maxItems": 50}},
        "required": ["items"],
    }
    bound = {"type": "string", "maxLength": LONGEST}
    assert modest(schema)["properties"]["items"] == {
        "type": "array",
        "maxItems": MOST,
        "items": {"type": "object", "properties": {"quote": bound, "kind": kind, "value": number}},
    }
    assert modest(schema)["required"] == ["items"]
    assert "maxLength" not in item["properties"]["quote"]  # type: ignore[index]  # the one who asks keeps its own


def test_a_tighter_bound_stays() -> None:
    assert modest({"type": "string", "maxLength": 9}) == {"type": "string", "maxLength": 9}
