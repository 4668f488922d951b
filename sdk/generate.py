#!/usr/bin/env python3
"""Writes the types of both SDKs from the API's own document, `docs/openapi.json`.

    python3 sdk/generate.py           # writes them
    python3 sdk/generate.py --check   # fails if they are not current

What is generated: the client API's operations and every type they and the webhooks use. Everything else is written by hand.
"""

import json
import keyword
import sys
from pathlib import Path

SDK = Path(__file__).resolve().parent
DOCUMENT = SDK.parent / "docs" / "openapi.json"
PREFIX = "#/components/schemas/"
# What no operation of the client API names: the bodies of webhooks, and of failures.
MORE = ["EventBody", "FailureDetail"]
NOTE = "Generated from docs/openapi.json by sdk/generate.py; do not edit."


class Api:
    def __init__(self, document):
        self.schemas = document["components"]["schemas"]
        self.operations = {}
        wanted = list(MORE)
        for path, methods in document["paths"].items():
            if not path.startswith("/client/"):
                continue
            for method, operation in methods.items():
                headers = [one["name"] for one in operation.get("parameters", []) if one["in"] == "header"]
                takes_key = "Idempotency-Key" in headers
                self.operations[operation["operationId"]] = (method.upper(), path, takes_key)
                wanted += self.used_by(operation)
                wanted += self.add_query(operation)
        self.types = self.closure(wanted)

    def used_by(self, operation):
        body = operation.get("requestBody", {})
        success = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
        for part in [body, *success]:
            schema = part.get("content", {}).get("application/json", {}).get("schema", {})
            name = schema.get("$ref", "").removeprefix(PREFIX)
            # Answers come in an envelope, which the clients open.
            envelope = self.schemas.get(name, {}).get("properties", {}) if part is not body else {}
            yield from references(envelope.get("data", schema))

    def add_query(self, operation):
        """The filters of a list, as a type of their own."""
        query = [one for one in operation.get("parameters", []) if one["in"] == "query"]
        if not query:
            return []
        name = operation["operationId"].title().replace("_", "") + "Query"
        fields = {one["name"]: {"description": one.get("description"), **one["schema"]} for one in query}
        self.schemas[name] = {"type": "object", "properties": fields}
        return [name]

    def closure(self, wanted):
        known = set()
        while wanted:
            name = wanted.pop()
            if name not in known:
                known.add(name)
                wanted += references(self.schemas[name])
        return sorted(known)


def references(schema):
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(PREFIX)
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from references(part)


class Language:
    """How a schema is written as a type."""

    def of(self, schema):
        if "$ref" in schema:
            return self.name(schema["$ref"].removeprefix(PREFIX))
        if "enum" in schema:
            return self.literals(schema["enum"])
        if "const" in schema:
            return self.literals([schema["const"]])
        for kind in ("oneOf", "anyOf"):
            if kind in schema:
                return self.union([self.of(one) for one in schema[kind]])
        kinds = schema.get("type", "object")
        if isinstance(kinds, list):
            return self.union([self.of({**schema, "type": kind}) for kind in kinds])
        if kinds == "array":
            return self.list(self.of(schema["items"]))
        return self.plain[kinds]

    def name(self, name):
        return name

    def union(self, types):
        return " | ".join(dict.fromkeys(types))


def sentences(schema):
    """What a type or field says of itself, or, where it may be null, what its only other form says."""
    own = schema.get("description")
    others = [one for one in schema.get("oneOf", []) if one.get("type") != "null"]
    if own is None and len(others) == 1 and "oneOf" in schema:
        own = others[0].get("description")
    return " ".join(own.split()) if own else None


class TypeScript(Language):
    plain = {"string": "string", "integer": "number", "boolean": "boolean", "null": "null", "object": "Record<string, unknown>"}

    def literals(self, values):
        return " | ".join(json.dumps(value) for value in values)

    def list(self, item):
        return f"({item})[]" if " " in item else f"{item}[]"

    def comment(self, schema, indent=""):
        text = sentences(schema)
        return [f"{indent}/** {text.replace('*/', '* /')} */"] if text else []

    def write(self, api):
        lines = [f"// {NOTE}", ""]
        for name in api.types:
            schema = api.schemas[name]
            lines += self.comment(schema)
            if "properties" not in schema:
                lines += [f"export type {name} = {self.of(schema)};", ""]
                continue
            lines.append(f"export interface {name} {{")
            for field, part in schema["properties"].items():
                optional = "" if field in schema.get("required", []) else "?"
                lines += self.comment(part, "  ")
                lines.append(f"  {field}{optional}: {self.of(part)};")
            lines += ["}", ""]
        lines.append("/** Method, path, and whether it takes the `Idempotency-Key` header. */")
        lines.append("export const OPERATIONS = {")
        for name, (method, path, takes_key) in api.operations.items():
            lines.append(f"  {name}: {json.dumps([method, path, takes_key])},")
        lines += ["} as const;", "", "export type OperationName = keyof typeof OPERATIONS;", ""]
        return "\n".join(lines)


class Python(Language):
    plain = {"string": "str", "integer": "int", "boolean": "bool", "null": "None", "object": "dict[str, Any]"}

    def literals(self, values):
        return f"Literal[{', '.join(repr(value) for value in values)}]"

    def list(self, item):
        return f"list[{item}]"

    def kind(self, schema, field, part):
        kind = self.of(part)
        return kind if field in schema.get("required", []) else f"NotRequired[{kind}]"

    def functional(self, name, schema):
        """A field that is a word of the language can only be written so."""
        fields = {field: self.kind(schema, field, part) for field, part in schema["properties"].items()}
        text = sentences(schema)
        return ["", *([f"# {text}"] if text else []), f"{name} = TypedDict({json.dumps(name)}, {json.dumps(fields)})", ""]

    def write(self, api):
        shapes = [name for name in api.types if "properties" in api.schemas[name]]
        aliases = [name for name in api.types if name not in shapes]
        lines = [f'"""The API\'s types. {NOTE}"""', "", "from __future__ import annotations", ""]
        lines += ["from typing import Any, Literal, NotRequired, TypeAlias, TypedDict", ""]
        for name in shapes:
            schema = api.schemas[name]
            if any(keyword.iskeyword(field) for field in schema["properties"]):
                lines += self.functional(name, schema)
                continue
            lines += ["", f"class {name}(TypedDict):"]
            if text := sentences(schema):
                lines += [f"    {json.dumps(text, ensure_ascii=False)}", ""]
            for field, part in schema["properties"].items():
                lines.append(f"    {field}: {self.kind(schema, field, part)}")
                if text := sentences(part):
                    lines.append(f"    {json.dumps(text, ensure_ascii=False)}")
            lines.append("")
        # An alias is a value of the module: the types it names have to be there before it.
        written = set(shapes)
        lines.append("")
        while aliases:
            ready = [name for name in aliases if written.issuperset(references(api.schemas[name]))]
            for name in ready:
                schema = api.schemas[name]
                text = sentences(schema)
                lines += [f"# {text}"] if text else []
                lines.append(f"{name}: TypeAlias = {self.of(schema)}")
            aliases = [name for name in aliases if name not in ready]
            written.update(ready)
        lines += ["", "# Method, path, and whether it takes the `Idempotency-Key` header."]
        lines.append("OPERATIONS: dict[str, tuple[str, str, bool]] = {")
        for name, operation in api.operations.items():
            lines.append(f"    {json.dumps(name)}: {operation!r},".replace("'", '"'))
        lines += ["}", ""]
        return "\n".join(lines)


def main():
    api = Api(json.loads(DOCUMENT.read_text()))
    files = {
        SDK / "typescript" / "src" / "generated.ts": TypeScript().write(api),
        SDK / "python" / "src" / "tollgate" / "types.py": Python().write(api),
    }
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(SDK.parent)} is not current: run `python3 sdk/generate.py`", file=sys.stderr)
        sys.exit(1 if stale else 0)
    for path in stale:
        path.write_text(files[path])
        print(f"wrote {path.relative_to(SDK.parent)}")


if __name__ == "__main__":
    main()
