"""Holds every example of the document against the schema it stands beside."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

DOCUMENT = Path(__file__).resolve().parents[4] / "docs" / "openapi.json"
document = json.loads(DOCUMENT.read_text(encoding="utf-8"))


def resolved(part):
    while "$ref" in part:
        target = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        part = target
    return part


def examples(content):
    if "example" in content:
        yield content["example"]
    for example in content.get("examples", {}).values():
        yield resolved(example)["value"]


count, faults = 0, []
for path, methods in document["paths"].items():
    for method, operation in methods.items():
        answers = operation["responses"].items()
        parts = [("request", operation.get("requestBody", {})), *((status, resolved(answer)) for status, answer in answers)]
        for place, part in parts:
            content = part.get("content", {}).get("application/json", {})
            for example in examples(content):
                count += 1
                # Schemas refer to each other by their place in the document.
                schema = {"components": document["components"], **content["schema"]}
                for error in Draft202012Validator(schema).iter_errors(example):
                    faults.append(f"{method} {path}, {place}: {error.json_path}: {error.message}")
print(f"{count} examples")
assert count > 500, count
assert not faults, "\n".join(sorted(set(faults)))
