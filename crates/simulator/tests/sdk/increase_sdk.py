"""The official Increase library against the simulator: create, retrieve, list, settle, return, webhooks."""

import os

import increase
from increase import Increase

from receiver import Receiver

SIMULATOR = os.environ["SIMULATOR"]
SECRET = "shared secret of the sdk test"
ACCOUNT = "account_simulator"
SOURCE = "account_number_simulator"

client = Increase(
    api_key="increase_simulator_key", base_url=f"{SIMULATOR}/increase", webhook_secret=SECRET, max_retries=0
)
receiver = Receiver(SIMULATOR, "increase", SECRET)
push = dict(
    account_id=ACCOUNT,
    amount=1999,
    statement_descriptor="Payout 7",
    account_number="000123456789",
    routing_number="110000000",
    individual_name="Ada Example",
    standard_entry_class_code="prearranged_payments_and_deposit",
    preferred_effective_date={"settlement_schedule": "future_dated"},
)


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error.body
    raise AssertionError("it was accepted")


# Look around before sending.
bank = client.routing_numbers.list(routing_number="110000000").data[0]
assert (bank.ach_transfers, bank.real_time_payments_transfers) == ("supported", "supported")
assert client.accounts.retrieve(ACCOUNT).status == "open"
before = client.accounts.balance(ACCOUNT)
assert before.available_balance == before.current_balance > 0
assert client.account_numbers.retrieve(SOURCE).account_id == ACCOUNT

# One transfer per key.
transfer = client.ach_transfers.create(**push, idempotency_key="sdk-1")
assert (transfer.status, transfer.amount, transfer.currency) == ("pending_submission", 1999, "USD")
assert transfer.idempotency_key == "sdk-1" and transfer.network == "ach"
again = client.ach_transfers.with_raw_response.create(**push, idempotency_key="sdk-1")
assert again.headers["idempotent-replayed"] == "true"
assert again.parse().id == transfer.id
reused = refused(
    increase.ConflictError, lambda: client.ach_transfers.create(**{**push, "amount": 1}, idempotency_key="sdk-1")
)
assert (reused["type"], reused["resource_id"]) == ("idempotency_key_already_used_error", transfer.id)
found = client.ach_transfers.list(idempotency_key="sdk-1").data
assert [each.id for each in found] == [transfer.id]

# What cannot be sent is refused.
nowhere = refused(
    increase.BadRequestError, lambda: client.ach_transfers.create(**{**push, "routing_number": "790000051"})
)
assert nowhere["type"] == "invalid_parameters_error" and nowhere["errors"]
refused(increase.NotFoundError, lambda: client.ach_transfers.retrieve("ach_transfer_none"))
stranger = Increase(api_key="other", base_url=f"{SIMULATOR}/increase", max_retries=0)
assert refused(increase.AuthenticationError, stranger.ach_transfers.list)["reason"] == "no_credential"

# Sent, acknowledged, settled, corrected, and back again.
early = refused(increase.ConflictError, lambda: client.simulations.ach_transfers.acknowledge(transfer.id))
assert early["type"] == "invalid_operation_error"
sent = client.simulations.ach_transfers.submit(transfer.id)
assert sent.status == "submitted"
assert sent.submission.expected_settlement_schedule == "future_dated"
assert sent.submission.submitted_at < sent.submission.administrative_returns_expected_by
assert client.simulations.ach_transfers.acknowledge(transfer.id).acknowledgement.acknowledged_at
settled = client.simulations.ach_transfers.settle(transfer.id)
assert settled.status == "submitted" and settled.settlement.settled_at
corrected = client.simulations.ach_transfers.create_notification_of_change(
    transfer.id, corrected_account_number="987654321"
)
assert corrected.notifications_of_change[0].change_code == "incorrect_account_number"
returned = client.simulations.ach_transfers.return_(transfer.id, reason="account_closed")
assert returned.status == "returned"
assert returned.return_.raw_return_reason_code == "R02"
assert client.ach_transfers.retrieve(transfer.id).return_.return_reason_code == "account_closed"
assert client.accounts.balance(ACCOUNT).current_balance == before.current_balance

# Approval.
waiting = [client.ach_transfers.create(**push, require_approval=True) for _ in range(2)]
assert client.ach_transfers.cancel(waiting[0].id).cancellation.canceled_at
assert client.ach_transfers.approve(waiting[1].id).status == "pending_submission"
assert [each.id for each in client.ach_transfers.list(limit=1)] == [
    waiting[1].id,
    waiting[0].id,
    transfer.id,
]
assert [each.id for each in client.ach_transfers.list(status={"in": ["returned", "canceled"]})] == [
    waiting[0].id,
    transfer.id,
]

# Real-time payments.
payments = [
    client.real_time_payments_transfers.create(
        source_account_number_id=SOURCE,
        amount=2500,
        creditor_name="Ada Example",
        unstructured_remittance_information="Invoice 7",
        account_number="000123456789",
        routing_number="110000000",
        idempotency_key=f"instant-{number}",
    )
    for number in range(2)
]
assert client.simulations.real_time_payments_transfers.complete(payments[0].id).status == "complete"
rejected = client.simulations.real_time_payments_transfers.complete(
    payments[1].id, rejection={"reject_reason_code": "account_closed"}
)
assert rejected.rejection.reject_reason_code == "account_closed"
assert client.real_time_payments_transfers.retrieve(payments[0].id).acknowledgement.acknowledged_at
listed = client.real_time_payments_transfers.list(idempotency_key="instant-1").data
assert [each.id for each in listed] == [payments[1].id]

# The library accepts every delivery, and refuses one whose body was changed.
events = []
for headers, body in receiver.take(16):
    events.append(client.events.unwrap(body.decode(), headers=headers))
    try:
        client.events.unwrap(body.decode().replace("ach_", "ach-").replace("real_", "real-"), headers=headers)
    except Exception as error:
        assert type(error).__name__ == "WebhookVerificationError", error
    else:
        raise AssertionError("a changed body was accepted")
first = [event.category for event in events if event.associated_object_id == transfer.id]
assert first == ["ach_transfer.created"] + ["ach_transfer.updated"] * 5, first
assert [event.id for event in client.events.list(limit=5)] == [event.id for event in events]
assert client.events.retrieve(events[0].id).associated_object_id == transfer.id

# Accounts, numbers and event subscriptions.
assert client.accounts.retrieve("account_simulator_closed").status == "closed"
assert client.account_numbers.retrieve("account_number_simulator_other").account_id == "account_simulator_other"
made = client.event_subscriptions.create(
    url="https://shop.example/hooks",
    shared_secret="a secret",
    selected_event_categories=[{"event_category": "ach_transfer.updated"}],
    idempotency_key="hook",
)
assert (made.status, made.selected_event_categories[0].event_category) == ("active", "ach_transfer.updated")
assert client.event_subscriptions.update(made.id, status="disabled").status == "disabled"
assert client.event_subscriptions.retrieve(made.id).url == "https://shop.example/hooks"
assert [each.id for each in client.event_subscriptions.list(idempotency_key="hook").data] == [made.id]
assert client.event_subscriptions.update(made.id, status="deleted").status == "deleted"
print("ok")
