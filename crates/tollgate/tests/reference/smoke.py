"""A quote, a card payment and a bank transfer through the Python client that was generated from the document.

TOLLGATE_NOTES: the running sandbox's `sandbox.json`. The client is the package `tollgate_client`. Prints "ok" last.
"""

import json
import os

from tollgate_client import AuthenticatedClient
from tollgate_client.api.bank_transfers import customer_token_issue, transfer_make
from tollgate_client.api.card_payments import component_confirm, component_prepare
from tollgate_client.api.fees import fee_quote
from tollgate_client.api.transactions import transaction_list, transaction_read
from tollgate_client.models import (
    BankAccountType,
    ComponentRequest,
    CustomerTokenRequest,
    ErrorCode,
    Failure,
    PaymentMethod,
    QuoteRequest,
    TransactionStatus,
    TransferRequest,
    WebPayments,
    WebPaymentsConfirmation,
)

with open(os.environ["TOLLGATE_NOTES"], encoding="utf-8") as file:
    notes = json.load(file)
client = AuthenticatedClient(base_url=notes["baseUrl"], token=notes["secretKey"])

# A quote: an amount beyond 2^53 as digits comes back as the same digits.
quote = fee_quote.sync(client=client, body=QuoteRequest(amount_minor="9007199254740993", currency="USD")).data
assert quote.amount_minor == "9007199254740993", quote
assert int(quote.total_debit_minor) == int(quote.amount_minor) + int(quote.fee_minor), quote
assert quote.breakdown.payment_method is PaymentMethod.WEB_CARD, quote

# A refusal is a typed failure that names the field.
refused = fee_quote.sync(client=client, body=QuoteRequest(amount_minor="0", currency="USD"))
assert isinstance(refused, Failure) and refused.error.code is ErrorCode.INVALID_BODY, refused
assert [fault.field for fault in refused.error.details] == ["amountMinor"], refused

# A card payment: large enough for the rule that leads to the second provider.
request = ComponentRequest(amount_minor=150_000, currency="USD", description="By the generated client")
payment = component_prepare.sync(client=client, body=request).data
assert isinstance(payment.component, WebPayments), payment
body = WebPaymentsConfirmation(source_id="cnon:card-nonce-ok")
confirmed = component_confirm.sync(payment.service_reference, client=client, body=body).data
assert confirmed.transaction.status is TransactionStatus.SUCCEEDED and not confirmed.replayed, confirmed

# A bank transfer, and the same once more.
customer = CustomerTokenRequest(
    external_customer_id="customer-1", email="ada@example.com", first_name="Ada", last_name="Lovelace"
)
token = customer_token_issue.sync(client=client, body=customer).data.customer_token
order = TransferRequest(
    idempotency_key="generated-client-1",
    amount_minor="125000",
    currency="USD",
    customer_token=token,
    routing_number="021000021",
    account_number="123456789",
    bank_account_type=BankAccountType.CHECKING,
    bank_name="First Bank",
    account_name="Ada Lovelace",
)
first = transfer_make.sync_detailed(client=client, body=order)
again = transfer_make.sync_detailed(client=client, body=order)
assert (first.status_code, again.status_code) == (201, 200), (first, again)
assert not first.parsed.data.replayed and again.parsed.data.replayed, again
assert again.headers["idempotent-replayed"] == "true", again.headers
assert first.parsed.data.bank_account.last4 == "6789", first

# Both are found again.
reference = first.parsed.data.transaction.service_reference
assert transaction_read.sync(reference, client=client).data.transfer.account_name == "Ada Lovelace"
listed = {item.service_reference for item in transaction_list.sync(client=client, limit=10).data.items}
assert {reference, payment.service_reference} <= listed, listed
print("ok")
