"""Judges recorded exchanges with Modern Treasury by the types of its official Python library, as `judge.mjs` does for the
others.

    python judge.py RECORDING    faults, numbers of shapes and the calls that occurred, as JSON
    python judge.py --fields     every parameter, answer and webhook field, one a line
"""

import importlib.metadata
import json
import re
import sys
import typing
from datetime import date, datetime
from importlib import import_module
from urllib.parse import parse_qsl

import typing_extensions as extensions
from pydantic import BaseModel


def named(module, name):
    return getattr(import_module(f"modern_treasury.types.{module}"), name)


def calls():
    orders, one = "/api/payment_orders", "/api/payment_orders/*"
    order, reversal = named("payment_order", "PaymentOrder"), named("payment_orders.reversal", "Reversal")
    returned = named("return_object", "ReturnObject")
    return [
        ("ping", "GET", "/api/ping", None, named("ping_response", "PingResponse")),
        ("payment_orders.create", "POST", orders, named("payment_order_create_params", "PaymentOrderCreateParams"), order),
        ("payment_orders.list", "GET", orders, named("payment_order_list_params", "PaymentOrderListParams"), list[order]),
        ("payment_orders.retrieve", "GET", one, None, order),
        ("payment_orders.update", "PATCH", one, named("payment_order_update_params", "PaymentOrderUpdateParams"), order),
        ("reversals.create", "POST", f"{one}/reversals", named("payment_orders.reversal_create_params", "ReversalCreateParams"),
         reversal),
        ("reversals.list", "GET", f"{one}/reversals", named("payment_orders.reversal_list_params", "ReversalListParams"),
         list[reversal]),
        ("returns.list", "GET", "/api/returns", named("return_list_params", "ReturnListParams"), list[returned]),
        ("returns.retrieve", "GET", "/api/returns/*", None, returned),
        ("internal_accounts.retrieve", "GET", "/api/internal_accounts/*", None, named("internal_account", "InternalAccount")),
        ("validations.routing_numbers", "GET", "/api/validations/routing_numbers",
         named("validation_validate_routing_number_params", "ValidationValidateRoutingNumberParams"),
         named("routing_number_lookup_request", "RoutingNumberLookupRequest")),
    ]


# The answer fields whose values are listed with what was judged.
SAYS_WHERE_IT_STANDS = ("status", "type")
ERROR = {"errors": {"code": str, "message": str, "parameter": str}}
TOPICS = {
    "payment_order": ("payment_order", "PaymentOrder"),
    "return": ("return_object", "ReturnObject"),
    "reversal": ("payment_orders.reversal", "Reversal"),
}


def fields_of(kind):
    """Name, type and whether it is required, of a record's fields; None if the type is no record."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {info.alias or name: (info.annotation, info.is_required()) for name, info in kind.model_fields.items()}
    if extensions.is_typeddict(kind):
        fields = {}
        for name, hint in extensions.get_type_hints(kind, include_extras=True).items():
            is_required = name in kind.__required_keys__
            if extensions.get_origin(hint) in (extensions.Required, extensions.NotRequired):
                is_required, hint = extensions.get_origin(hint) is extensions.Required, extensions.get_args(hint)[0]
            alias = next((extra.alias for extra in getattr(hint, "__metadata__", ()) if getattr(extra, "alias", None)), name)
            fields[alias] = (hint, is_required)
        return fields
    return None


def plain(kind):
    """A type without what annotates it, as its alternatives."""
    origin = extensions.get_origin(kind)
    if origin in (extensions.Annotated, extensions.Required, extensions.NotRequired):
        return plain(extensions.get_args(kind)[0])
    if origin is typing.Union or type(kind).__name__ == "UnionType":
        return [each for inner in extensions.get_args(kind) for each in plain(inner)]
    return [kind]


def word_fits(value, kind, is_query):
    if extensions.get_origin(kind) is extensions.Literal:
        return value in extensions.get_args(kind)
    if kind is str:
        return True
    if kind in (date, datetime):
        return re.fullmatch(r"\d{4}-\d\d-\d\d(T.*)?", value) is not None
    return is_query and (kind is int and value.lstrip("-").isdigit() or kind is bool and value in ("true", "false"))


def faults(value, kind, at="", is_query=False, note=lambda at, word=None: None):
    """What is wrong with a value, as (field, problem) pairs. `note` is called with every field that is judged, and with its
    value where the library lists the values."""
    kinds = plain(kind)
    if any(extensions.get_origin(each) is extensions.Literal and value in extensions.get_args(each) for each in kinds
           if isinstance(value, str)):
        note(at, value)
    if any(each in (object, typing.Any) for each in kinds):
        return []
    wrong = [(at, f"{json.dumps(value)[:80]} where the library has {kind}")]
    if value is None:
        return [] if type(None) in kinds else wrong
    if isinstance(value, str):
        return [] if any(word_fits(value, each, is_query) for each in kinds) else wrong
    if isinstance(value, bool):
        return [] if bool in kinds else wrong
    if isinstance(value, int):
        return [] if int in kinds or float in kinds else wrong
    if isinstance(value, float):
        return [] if float in kinds else wrong
    if isinstance(value, list):
        for each in kinds:
            if extensions.get_origin(each) is not None and extensions.get_origin(each) is not dict:
                item = extensions.get_args(each)[0]
                return [fault for inner in value for fault in faults(inner, item, f"{at}[]", is_query, note)]
        return wrong
    judged = []
    for each in kinds:
        if extensions.get_origin(each) is dict:
            inner = extensions.get_args(each)[1]
            note(f"{at}.*")
            judged.append([fault for name, entry in value.items() for fault in faults(entry, inner, f"{at}.{name}", is_query)])
        elif (fields := fields_of(each)) is not None:
            judged.append(field_faults(value, each, fields, at, is_query, note))
    return min(judged, key=len) if judged else wrong


def field_faults(value, kind, fields, at, is_query, note):
    found = []
    for name, entry in value.items():
        place = f"{at}.{name}".lstrip(".")
        note(place)
        if name in fields:
            found += faults(entry, fields[name][0], place, is_query, note)
        else:
            found.append((place, f"unknown to the library's {kind.__name__}"))
    for name, (_, is_required) in fields.items():
        if is_required and name not in value:
            found.append((f"{at}.{name}".lstrip("."), f"missing; the library's {kind.__name__} requires it"))
    return found


def error_faults(value):
    inner = value.get("errors") if isinstance(value, dict) else None
    if not isinstance(inner, dict) or not all(isinstance(inner.get(name), str) for name in ("code", "message")):
        return [("errors", "a refusal has errors with a code and a message")]
    unknown = set(inner) - set(ERROR["errors"]) | set(value) - set(ERROR)
    return [(name, "not in a refusal") for name in unknown]


def shape(value):
    if isinstance(value, list):
        return f"[{','.join(sorted({shape(each) for each in value}))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}:{shape(value[name])}" for name in sorted(value)) + "}"
    return type(value).__name__


def query_of(text):
    nested = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        inner = re.fullmatch(r"(\w+)\[(.+)\]", name)
        if inner:
            nested.setdefault(inner[1], {})[inner[2]] = value
        else:
            nested[name] = value
    return nested


def judge(lines):
    seen = {"request": set(), "answer": set(), "webhook": set()}
    sent, answered, webhooks, found, judged = set(), set(), set(), {}, {}

    def look(side, call, value, judge_it):
        def note(field, word=None):
            is_listed = side == "request" or side == "answer" and word and field.split(".")[-1] in SAYS_WHERE_IT_STANDS
            if plant is None and is_listed:
                words = judged.setdefault(f"{call} {side} {field}", set())
                words.update([word] if word else [])

        if plant is None:
            seen[side].add(f"{call} {shape(value)}")
        for field, problem in judge_it(note):
            fault = {"plant": plant, "side": side, "call": call, "field": field, "problem": problem}
            found[tuple(fault.values())] = fault

    table = calls()
    for line in lines:
        plant = line.get("plant")
        if "webhook" in line:
            event = json.loads(line["webhook"])
            topic = event["data"].get("object")
            kind = TOPICS.get(topic)
            if plant is None:
                webhooks.add(f"{topic} {event['event']}")
            unknown = [("data.object", f"unknown: {topic}")]
            look("webhook", f"{topic} {event['event']}", event,
                 lambda note: faults(event["data"], named(*kind), note=note) if kind else unknown)
            continue
        method, path = line["method"], line["path"]
        fitting = [
            call for call in table
            if call[1] == method and re.fullmatch(call[2].replace("*", "[^/]+"), path)
        ]
        if not fitting:
            look("request", f"{method} {path}", {}, lambda note: [("", "no such call in the table of calls")])
            continue
        operation, _, _, params, answer = min(fitting, key=lambda call: call[2].count("*"))
        if line["by"] == "tollgate":
            is_query = method == "GET"
            given = query_of(line["query"]) if is_query else json.loads(line["body"] or "{}")
            sent.add(operation)
            unknown = [(name, "the call takes no parameters") for name in given]
            look("request", operation, given, lambda note: faults(given, params, "", is_query, note) if params else unknown)
        if line["answer"] == "":
            continue
        answered.add(operation)
        value = json.loads(line["answer"])
        if line["status"] >= 400:
            look("answer", f"{operation} {line['status']}", value, lambda note: error_faults(value))
        else:
            look("answer", operation, value, lambda note: faults(value, answer, note=note))
    return {
        "package": library(),
        "shapes": {f"{side}s": len(shapes) for side, shapes in seen.items()},
        "sent": sorted(sent),
        "answered": sorted(answered),
        "webhooks": sorted(webhooks),
        "judged": sorted(place + (f" = {' | '.join(sorted(words))}" if words else "") for place, words in judged.items()),
        "faults": list(found.values()),
    }


def library():
    """The library's name and version."""
    return f"modern-treasury {importlib.metadata.version('modern-treasury')}"


def field_lines(kind, at, depth):
    for each in plain(kind):
        if extensions.get_origin(each) is extensions.Literal:
            yield f"{at} = {' | '.join(sorted(map(str, extensions.get_args(each))))}"
        elif extensions.get_origin(each) not in (None, dict):
            yield from field_lines(extensions.get_args(each)[0], f"{at}[]", depth)
        elif depth > 0 and (fields := fields_of(each)) is not None:
            for name, (inner, is_required) in fields.items():
                place = at + ("" if at.endswith(": ") else ".") + name
                yield f"{place} (required)" if is_required else place
                yield from field_lines(inner, place, depth - 1)


if sys.argv[1] == "--fields":
    print(library())
    for operation, _, _, params, answer in calls():
        lines = list(field_lines(params, f"{operation} parameter: ", 4)) if params else []
        lines += field_lines(answer, f"{operation} answer: ", 3)
        print("\n".join(dict.fromkeys(lines)))
    for topic, kind in TOPICS.items():
        print("\n".join(dict.fromkeys(field_lines(named(*kind), f"webhook {topic}: ", 2))))
else:
    with open(sys.argv[1], encoding="utf-8") as recording:
        print(json.dumps(judge([json.loads(line) for line in recording if line.strip()])))
