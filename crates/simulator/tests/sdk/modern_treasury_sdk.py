"""The official Modern Treasury library against the simulator: create, retrieve, list, return, reverse, webhooks."""

import json
import os

import modern_treasury
from modern_treasury import ModernTreasury

from receiver import Receiver, post

SIMULATOR = os.environ["SIMULATOR"]
SECRET = "webhook key of the sdk test"
ACCOUNT = "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01"


def client_with(key):
    return ModernTreasury(
        organization_id="organization_simulator",
        api_key=key,
        base_url=f"{SIMULATOR}/modern_treasury",
        webhook_key=SECRET,
        max_retries=0,
    )


client = client_with("modern_treasury_simulator_key")
receiver = Receiver(SIMULATOR, "modern_treasury", SECRET)


def order(external_id, **more):
    return dict(
        type="ach",
        amount=1999,
        currency="USD",
        direction="credit",
        originating_account_id=ACCOUNT,
        subtype="PPD",
        statement_descriptor="Payout 7",
        external_id=external_id,
        receiving_account={
            "party_name": "Ada Example",
            "party_type": "individual",
            "account_type": "checking",
            "account_details": [{"account_number": "000123456789"}],
            "routing_details": [{"routing_number": "110000000", "routing_number_type": "aba"}],
        },
        **more,
    )


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error.body["errors"]
    raise AssertionError("it was accepted")


def drive(made, action, **body):
    url = f"{SIMULATOR}/control/modern_treasury/payment_orders/{made.id}/{action}"
    assert post(url, json.dumps(body).encode()) == 200, action


# Look around before sending.
assert client.ping().ping == "pong"
account = client.internal_accounts.retrieve(ACCOUNT)
assert (account.currency, account.live_mode) == ("USD", False)
bank = client.validations.validate_routing_number(routing_number="110000000", routing_number_type="aba")
assert "rtp" in bank.supported_payment_types and "ach" in bank.supported_payment_types
refused(modern_treasury.AuthenticationError, client_with("other").ping)

# The answer to a key is repeated, whatever is asked under it.
first = client.payment_orders.with_raw_response.create(**order("sdk-1"), idempotency_key="key-1")
assert first.status_code == 201
made = first.parse()
assert (made.status, made.amount, made.external_id, made.live_mode) == ("approved", 1999, "sdk-1", False)
again = client.payment_orders.create(**{**order("sdk-other"), "amount": 1}, idempotency_key="key-1")
assert (again.id, again.amount) == (made.id, 1999)

# Another API key does not know the key, but nobody gets the same external_id twice.
second = client_with("modern_treasury_simulator_key_second")
taken = refused(
    modern_treasury.UnprocessableEntityError,
    lambda: second.payment_orders.create(**order("sdk-1"), idempotency_key="key-1"),
)
assert taken["parameter"] == "external_id", taken
assert [each.id for each in second.payment_orders.list(external_id="sdk-1")] == [made.id]
assert list(client.payment_orders.list(external_id="nobody")) == []
long = refused(modern_treasury.UnprocessableEntityError, lambda: client.payment_orders.create(**order("x" * 181)))
assert long["parameter"] == "external_id"
client.payment_orders.create(**order("x" * 180))

# Sent, acknowledged, completed, and back again.
for action, status in [("send", "sent"), ("acknowledge", "sent"), ("complete", "completed"), ("return", "returned")]:
    drive(made, action)
    assert client.payment_orders.retrieve(made.id).status == status, action
returned = client.payment_orders.retrieve(made.id)
assert (returned.current_return.code, returned.current_return.returnable_id) == ("R03", made.id)
assert [each.id for each in client.returns.list(returnable_id=made.id, returnable_type="payment_order")] == [
    returned.current_return.id
]

# A reversal says nothing about the money before it is completed.
reversible = client.payment_orders.create(**order("sdk-2"))
refused(
    modern_treasury.UnprocessableEntityError,
    lambda: client.payment_orders.reversals.create(reversible.id, reason="duplicate"),
)
drive(reversible, "complete")
reversal = client.payment_orders.reversals.create(reversible.id, reason="duplicate")
assert (reversal.status, client.payment_orders.retrieve(reversible.id).status) == ("pending", "reversed")
drive(reversible, "complete_reversal")
assert [each.status for each in client.payment_orders.reversals.list(reversible.id)] == ["completed"]

# Approval.
waiting = [client.payment_orders.create(**order(f"sdk-wait-{number}")) for number in range(2)]
for each in waiting:
    drive(each, "require_approval")
assert client.payment_orders.update(waiting[0].id, status="approved").status == "approved"
assert client.payment_orders.update(waiting[1].id, status="denied").status == "denied"
refused(modern_treasury.NotFoundError, lambda: client.payment_orders.retrieve(ACCOUNT))

# The library accepts every delivery, and refuses one whose body was changed.
events = []
for headers, body in receiver.take(7):
    text = body.decode()
    assert client.webhooks.validate_signature(text, headers=headers)
    assert not client.webhooks.validate_signature(text + " ", headers=headers)
    event = json.loads(text)
    names = {name.lower(): value for name, value in headers.items()}
    assert names["x-topic"] == event["data"]["object"] and names["x-webhook-id"]
    if event["data"].get("external_id") == "sdk-1" or event["data"].get("returnable_id") == made.id:
        events.append((names["x-topic"], event["event"], event["data"]["status"]))
assert events == [
    ("payment_order", "created", "approved"),
    ("payment_order", "begin_processing", "processing"),
    ("payment_order", "finish_processing", "sent"),
    ("payment_order", "acknowledged", "sent"),
    ("payment_order", "completed", "completed"),
    ("return", "created", "completed"),
], events
print("ok")
