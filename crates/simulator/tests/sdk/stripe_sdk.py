"""The official Stripe library against the simulator: create, confirm, refund, list, webhooks."""

import os

import stripe

from receiver import Receiver, post

SIMULATOR = os.environ["SIMULATOR"]
SECRET = "whsec_from_the_sdk_test"

client = stripe.StripeClient("sk_test_simulator", base_addresses={"api": f"{SIMULATOR}/stripe"})
receiver = Receiver(SIMULATOR, "stripe", SECRET)

# Create, with nested parameters and odd characters.
intent = client.v1.payment_intents.create(
    {
        "amount": 1999,
        "currency": "usd",
        "automatic_payment_methods": {"enabled": True, "allow_redirects": "never"},
        "metadata": {"order id": "a&b=c ü"},
    },
    {"idempotency_key": "sdk-1"},
)
assert intent.status == "requires_payment_method", intent
assert intent.metadata["order id"] == "a&b=c ü"
again = client.v1.payment_intents.create(
    {
        "amount": 1999,
        "currency": "usd",
        "automatic_payment_methods": {"enabled": True, "allow_redirects": "never"},
        "metadata": {"order id": "a&b=c ü"},
    },
    {"idempotency_key": "sdk-1"},
)
assert again.id == intent.id
assert again.last_response.headers["Idempotent-Replayed"] == "true"
try:
    client.v1.payment_intents.create({"amount": 1, "currency": "eur"}, {"idempotency_key": "sdk-1"})
    raise AssertionError("a reused key was accepted")
except stripe.IdempotencyError:
    pass

# Decline, then pay, on one intent.
try:
    client.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_chargeDeclined"})
    raise AssertionError("a declined card was accepted")
except stripe.CardError as error:
    assert error.code == "card_declined", error
    assert error.error.decline_code == "generic_decline"
    assert error.error.payment_intent.status == "requires_payment_method"
paid = client.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"})
assert paid.status == "succeeded"
read = client.v1.payment_intents.retrieve(intent.id, {"expand": ["latest_charge"]})
assert read.latest_charge.payment_method_details.card.last4 == "4242"
assert read.latest_charge.captured

# Refund in two parts and list them.
first = client.v1.refunds.create({"payment_intent": intent.id, "amount": 500})
rest = client.v1.refunds.create({"payment_intent": intent.id, "reason": "requested_by_customer"})
assert (first.status, rest.amount) == ("succeeded", 1499)
listed = client.v1.refunds.list({"payment_intent": intent.id, "limit": 1})
assert [refund.id for refund in listed.auto_paging_iter()] == [rest.id, first.id]
assert client.v1.charges.retrieve(read.latest_charge.id).refunded
assert client.v1.refunds.retrieve(first.id, {"expand": ["charge"]}).charge.amount_refunded == 1999

# The library names the parameter that does not exist.
try:
    client.v1.payment_intents.create({"amount": 1999, "currency": "usd", "colour": "red"})
    raise AssertionError("an unknown parameter was accepted")
except stripe.InvalidRequestError as error:
    assert (error.code, error.param) == ("parameter_unknown", "colour")
try:
    stripe.StripeClient("sk_test_wrong", base_addresses={"api": f"{SIMULATOR}/stripe"}).v1.refunds.list()
    raise AssertionError("a wrong key was accepted")
except stripe.AuthenticationError:
    pass

# Capture and cancel.
held = client.v1.payment_intents.create(
    {"amount": 700, "currency": "eur", "capture_method": "manual", "confirm": True, "payment_method": "pm_card_visa"}
)
assert held.status == "requires_capture"
assert client.v1.charges.retrieve(held.latest_charge).payment_method_details.card.capture_before > held.created
assert client.v1.payment_intents.capture(held.id).amount_received == 700
part = client.v1.payment_intents.create(
    {"amount": 700, "currency": "eur", "capture_method": "manual", "confirm": True, "payment_method": "pm_card_visa"}
)
captured = client.v1.payment_intents.capture(
    part.id, {"amount_to_capture": 300, "expand": ["latest_charge.refunds"]}, {"idempotency_key": "sdk-capture"}
)
assert (captured.status, captured.amount, captured.amount_received) == ("succeeded", 700, 300)
# What is released is no refund.
assert captured.latest_charge.refunds.data == []
assert captured.latest_charge.amount_captured == 300
assert client.v1.refunds.create({"payment_intent": part.id}).amount == 300
try:
    client.v1.payment_intents.cancel(part.id)
    raise AssertionError("a captured payment was canceled")
except stripe.InvalidRequestError as error:
    assert error.code == "payment_intent_unexpected_state", error
voided = client.v1.payment_intents.create(
    {"amount": 700, "currency": "eur", "capture_method": "manual", "confirm": True, "payment_method": "pm_card_visa"}
)
voided = client.v1.payment_intents.cancel(voided.id, {"cancellation_reason": "requested_by_customer"})
assert (voided.status, voided.amount_capturable) == ("canceled", 0)
try:
    client.v1.payment_intents.capture(voided.id)
    raise AssertionError("a canceled payment was captured")
except stripe.InvalidRequestError as error:
    assert error.code == "payment_intent_unexpected_state", error
try:
    client.v1.payment_intents.create(
        {"amount": 700, "currency": "usd", "payment_method_types": ["card"]}
    )
    raise AssertionError("a parameter that this version does not have was taken")
except stripe.InvalidRequestError as error:
    assert error.code == "payment_method_types_no_longer_supported", error
try:
    client.v1.payment_intents.create(
        {"amount": 700, "currency": "usd", "capture_method": "manual", "allowed_payment_method_types": ["us_bank_account"]}
    )
    raise AssertionError("a bank debit was to be held")
except stripe.InvalidRequestError as error:
    assert "No valid payment method types" in error.user_message, error
open_intent = client.v1.payment_intents.create({"amount": 700, "currency": "eur"})
assert client.v1.payment_intents.cancel(open_intent.id).status == "canceled"

# Hosted checkout, paid as a browser would.
session = client.v1.checkout.sessions.create(
    {
        "mode": "payment",
        "success_url": "https://shop.test/done?session={CHECKOUT_SESSION_ID}",
        "cancel_url": "https://shop.test/back",
        "client_reference_id": "ours",
        "line_items": [
            {
                "quantity": 1,
                "price_data": {"currency": "usd", "unit_amount": 1250, "product_data": {"name": "Tea"}},
            }
        ],
        "payment_intent_data": {"metadata": {"ours": "7"}},
    }
)
assert (session.status, session.payment_intent) == ("open", None)
assert post(session.url, b"number=4242424242424242&expiry=12/34&cvc=123") == 303
session = client.v1.checkout.sessions.retrieve(session.id, {"expand": ["payment_intent"]})
assert (session.status, session.payment_status) == ("complete", "paid")
assert session.payment_intent.metadata["ours"] == "7"
other = client.v1.checkout.sessions.create(
    {
        "mode": "payment",
        "success_url": "https://shop.test/done",
        "line_items": [
            {"quantity": 2, "price_data": {"currency": "usd", "unit_amount": 30, "product_data": {"name": "Bun"}}}
        ],
    }
)
assert client.v1.checkout.sessions.expire(other.id).status == "expired"

# The library accepts every delivery, and its events are the ones listed.
events = [
    stripe.Webhook.construct_event(body, headers["stripe-signature"], SECRET)
    for headers, body in receiver.take(32)
]
kinds = [event.type for event in events]
for kind in [
    "payment_intent.created",
    "payment_intent.succeeded",
    "payment_intent.payment_failed",
    "payment_intent.canceled",
    "charge.succeeded",
    "charge.failed",
    "charge.refunded",
    "refund.created",
    "checkout.session.completed",
    "checkout.session.expired",
]:
    assert kind in kinds, (kind, kinds)
listed = {event.id for event in client.v1.events.list({"limit": 100}).data}
assert {event.id for event in events} <= listed
assert client.v1.events.retrieve(events[0].id).data.object.id == intent.id

# The account, its mode, and its webhook endpoints, whose secret is shown once.
assert client.v1.balance.retrieve().livemode is False
assert client.v1.accounts.retrieve_current().charges_enabled
endpoint = client.v1.webhook_endpoints.create(
    {"url": "https://shop.example/hooks", "enabled_events": ["charge.refunded"], "metadata": {"a": "b"}}
)
assert endpoint.secret.startswith("whsec_") and endpoint.status == "enabled"
read = client.v1.webhook_endpoints.retrieve(endpoint.id)
assert (read.url, read.metadata["a"], "secret" in read.to_dict()) == ("https://shop.example/hooks", "b", False)
assert client.v1.webhook_endpoints.update(endpoint.id, {"disabled": True}).status == "disabled"
assert endpoint.id in [each.id for each in client.v1.webhook_endpoints.list().data]
assert client.v1.webhook_endpoints.delete(endpoint.id).deleted
print("ok")
