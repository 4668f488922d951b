"""What schemathesis cannot know by the document alone: ids, tokens and numbers that exist.

The formats of the document name what a field holds; here each gets values that the running server knows, among others
that it does not. FACTS is a file of JSON that the test writes.
"""

import json
import os
from urllib.parse import parse_qsl, urlsplit

import schemathesis
from hypothesis import strategies as st

with open(os.environ["FACTS"], encoding="utf-8") as file:
    FACTS = json.load(file)

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
UNKNOWN = st.builds(lambda first, rest: first + rest, st.sampled_from("01234567"), st.text(DIGITS, min_size=25, max_size=25))

for name, known in FACTS["ids"].items():
    unknown = st.builds("{}_{}".format, st.just(name.removesuffix("-id").split("-or-")[0]), UNKNOWN)
    # One of those there are, four times in five: a path that leads nowhere tests little.
    known = st.sampled_from(known) if known else unknown
    schemathesis.openapi.format(name, st.one_of(known, known, known, known, unknown))


def routing_number(first: str) -> str:
    weights = (3, 7, 1, 3, 7, 1, 3, 7)
    total = sum(weight * int(digit) for weight, digit in zip(weights, first))
    return first + str(-total % 10)


schemathesis.openapi.format("iso-4217", st.sampled_from(["USD", "EUR", "usd", "Gbp", "JPY", "KWD"]))
schemathesis.openapi.format(
    "aba-routing-number", st.text("0123456789", min_size=8, max_size=8).map(routing_number).filter(lambda it: it != "000000000")
)
schemathesis.openapi.format("jwe", st.sampled_from(FACTS["customerTokens"]))
schemathesis.openapi.format(
    "endpoint-url",
    st.sampled_from(["https://shop.example/events", "https://shop.example:8443/e?x=1", "http://127.0.0.1:9/"]),
)
schemathesis.openapi.format(
    "event-cursor",
    st.sampled_from(["2026-11-15T02:27:16.000Z", "2026-11-15T02:27:16.000Z,card_provider_a,evt_1"]),
)


def whole(value):
    """To JSON Schema 5.0 is an integer; to this API it is a decimal, and refused."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {name: item if name == "metadata" else whole(item) for name, item in value.items()}
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, (dict, list)):
        case.body = whole(case.body)
    if isinstance(case.body, dict) and str(case.body.get("customerToken", "")).endswith("…"):
        # The document's example cannot know a token of this environment.
        case.body["customerToken"] = FACTS["customerTokens"][0]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """What schemathesis expects of every API, and this one's contract settles otherwise."""
    if type(failure).__name__ == "MissingHeaderNotRejected":
        # Without any credential, bank transfers answer 403.
        return not (response.status_code == 403 and "/client/v1/ach/" in response.request.url)
    if type(failure).__name__ == "AcceptedNegativeData":
        # An empty field of a query counts as left out.
        fields = parse_qsl(urlsplit(response.request.url).query, keep_blank_values=True)
        return all(value for _, value in fields)
    return True
