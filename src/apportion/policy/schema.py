"""The JSON Schema of a policy, for editors: completion, hover text and red lines while typing.

It is derived from the models, so the two cannot drift apart; `load_policy` remains the judge, since references between
rules, exact numbers and time zones are beyond what a schema can say.
"""

from typing import Any

from apportion.policy.document import SECTIONS, Policy

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    schema: dict[str, Any] = _tidy(Policy.model_json_schema(by_alias=True))
    parts = schema["$defs"]
    del parts["Pool"]["properties"]["otherwise"]
    parts["Pool"]["required"] = [
        key for key in parts["Pool"].get("required", []) if key != "method"
    ]  # it has a usual one
    parts["FacetRule"]["minProperties"] = 2  # `when` and at least one facet
    teams = schema["properties"]["teams"]
    teams["additionalProperties"] = {"anyOf": [teams["additionalProperties"], {"type": "null"}]}
    for section in SECTIONS:
        schema["properties"][section]["type"] = [schema["properties"][section]["type"], "null"]
    return {"$schema": DIALECT, "title": "Apportion policy"} | {
        key: value for key, value in schema.items() if key != "title"
    }


def _tidy(value: Any) -> Any:
    """Without pydantic's titles, defaults and nulls: an absent key is left out, never written as null."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: _tidy(item)
        for key, item in value.items()
        if key != "default" and not (key == "title" and isinstance(item, str))
    }
    choices = [choice for choice in kept.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        return choices[0] | {key: item for key, item in kept.items() if key != "anyOf"}
    return kept | {"anyOf": choices} if choices else kept
