"""The official Square library against the simulator: pay, refund, list, links, webhooks."""

import os

from square import Square
from square.core.api_error import ApiError
from square.utils.webhooks_helper import verify_signature

from receiver import Receiver, post

SIMULATOR = os.environ["SIMULATOR"]
KEY = "signature key of the sdk test"
LOCATION = "LSIMULATOR001"

client = Square(token="square_simulator_token", base_url=f"{SIMULATOR}/square")
receiver = Receiver(SIMULATOR, "square", KEY)
money = {"amount": 1999, "currency": "USD"}


def codes(call):
    try:
        call()
    except ApiError as error:
        return [entry.code for entry in error.errors]
    raise AssertionError("it was accepted")


locations = client.locations.list().locations
assert locations[0].id == LOCATION
assert client.locations.get(location_id=LOCATION).location.status == "ACTIVE"

# Pay once per key.
payment = client.payments.create(
    source_id="cnon:card-nonce-ok", idempotency_key="sdk-1", amount_money=money, reference_id="ours"
).payment
assert (payment.status, payment.card_details.status) == ("COMPLETED", "CAPTURED")
again = client.payments.create(
    source_id="cnon:card-nonce-ok", idempotency_key="sdk-1", amount_money=money, reference_id="ours"
).payment
assert again.id == payment.id
reused = codes(lambda: client.payments.create(source_id="cnon:card-nonce-ok", idempotency_key="sdk-1", amount_money={"amount": 1, "currency": "USD"}))
assert reused == ["IDEMPOTENCY_KEY_REUSED"]
declined = codes(lambda: client.payments.create(source_id="cnon:card-nonce-declined", idempotency_key="sdk-2", amount_money=money))
assert declined == ["GENERIC_DECLINE"]
assert client.payments.get(payment_id=payment.id).payment.reference_id == "ours"
listed = [each.id for each in client.payments.list(limit=1)]
assert len(listed) == 2 and listed[1] == payment.id, listed

# Hold, then complete or cancel.
held = [
    client.payments.create(
        source_id="cnon:card-nonce-ok", idempotency_key=f"hold-{number}", amount_money=money, autocomplete=False
    ).payment
    for number in range(3)
]
assert held[0].status == "APPROVED"
assert client.payments.complete(payment_id=held[0].id, version_token=held[0].version_token).payment.status == "COMPLETED"
assert client.payments.cancel(payment_id=held[1].id).payment.status == "CANCELED"
client.payments.cancel_by_idempotency_key(idempotency_key="hold-2")
assert client.payments.get(payment_id=held[2].id).payment.status == "CANCELED"

# Lower what is held, then complete exactly that version, once.
part = client.payments.create(
    source_id="cnon:card-nonce-ok", idempotency_key="part-1", amount_money=money, autocomplete=False, delay_duration="P7D"
).payment
assert part.delayed_until > part.created_at
lowered = client.payments.update(
    payment_id=part.id,
    idempotency_key="part-1-lower",
    payment={"amount_money": {"amount": 700, "currency": "USD"}, "version_token": part.version_token},
).payment
assert (lowered.status, lowered.amount_money.amount) == ("APPROVED", 700)
stale = codes(lambda: client.payments.complete(payment_id=part.id, version_token=part.version_token))
assert stale == ["VERSION_MISMATCH"]
done = client.payments.complete(payment_id=part.id, version_token=lowered.version_token).payment
assert (done.status, done.amount_money.amount) == ("COMPLETED", 700)
assert codes(lambda: client.payments.cancel(payment_id=part.id)) == ["BAD_REQUEST"]
too_much = codes(lambda: client.refunds.refund_payment(idempotency_key="part-back", payment_id=part.id, amount_money=money))
assert too_much == ["REFUND_AMOUNT_INVALID"]
delayed = codes(lambda: client.payments.create(source_id="cnon:card-nonce-ok", idempotency_key="now-1", amount_money=money, delay_duration="P7D"))
assert delayed == ["BAD_REQUEST"]

# Refund.
refund = client.refunds.refund_payment(
    idempotency_key="back-1", payment_id=payment.id, amount_money={"amount": 500, "currency": "USD"}, reason="broken"
).refund
assert refund.status == "PENDING"
assert client.refunds.get(refund_id=refund.id).refund.status == "COMPLETED"
assert [each.id for each in client.refunds.list()] == [refund.id]
assert client.payments.get(payment_id=payment.id).payment.refunded_money.amount == 500

# A payment link, paid as a browser would.
link = client.checkout.payment_links.create(
    idempotency_key="link-1",
    quick_pay={"name": "Tea", "price_money": {"amount": 1250, "currency": "USD"}, "location_id": LOCATION},
    checkout_options={"redirect_url": "https://shop.test/done"},
).payment_link
assert client.checkout.payment_links.get(id=link.id).payment_link.order_id == link.order_id
assert post(link.url, b"number=4111111111111111&expiry=12/34&cvc=123") == 303
order = client.orders.get(order_id=link.order_id).order
assert (order.state, order.net_amount_due_money.amount) == ("OPEN", 0)
assert client.payments.get(payment_id=order.tenders[0].id).payment.order_id == link.order_id
assert client.checkout.payment_links.delete(id=link.id).cancelled_order_id is None

# The library accepts every delivery, and refuses one signed for another address.
for headers, body in receiver.take(17):
    signature = headers["x-square-hmacsha256-signature"]
    given = dict(request_body=body.decode(), signature_header=signature, signature_key=KEY)
    assert verify_signature(**given, notification_url=receiver.url)
    assert not verify_signature(**given, notification_url=receiver.url + "/")

# Webhook subscriptions: the key is with one of them, not in the list.
made = client.webhooks.subscriptions.create(
    idempotency_key="sdk-hook",
    subscription={"name": "Hook", "event_types": ["payment.updated"], "notification_url": "https://shop.example/hooks"},
).subscription
assert made.signature_key and made.enabled
changed = client.webhooks.subscriptions.update(subscription_id=made.id, subscription={"enabled": False}).subscription
assert changed.enabled is False
assert made.id not in [each.id for each in client.webhooks.subscriptions.list()]
listed = [each for each in client.webhooks.subscriptions.list(include_disabled=True) if each.id == made.id]
assert listed and listed[0].signature_key is None
assert client.webhooks.subscriptions.get(subscription_id=made.id).subscription.signature_key == made.signature_key
client.webhooks.subscriptions.delete(subscription_id=made.id)
print("ok")
