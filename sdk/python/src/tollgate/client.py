"""The client API, a group of methods for each kind of thing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import cast

from .transport import Transport
from .types import (
    CaptureRequest,
    ComponentRequest,
    Confirmation,
    CardFeeRequest,
    ConfirmationRequest,
    CustomerToken,
    CustomerTokenRequest,
    Payment,
    PaymentRequest,
    PreparedPayment,
    Quote,
    QuoteRequest,
    Refund,
    RefundList,
    RefundRequest,
    RefundResult,
    SwitchRequest,
    Transaction,
    TransactionList,
    TransactionListQuery,
    TransactionRead,
    Transfer,
    TransferPreview,
    TransferPreviewRequest,
    TransferRequest,
    VoidRequest,
    WalletList,
)

_NOTES = "tollgate-data/sandbox.json"


class Tollgate:
    """The client API. Requests and answers are dictionaries, named as the API names them; amounts are strings of minor
    units, exact however large. Safe to share between threads.

    `base_url` is where your Tollgate is, `api_key` a secret key (`sk_…`) of the environment. `timeout` is in seconds, for
    each try of a call; a call is tried again up to `max_retries` times.
    """

    def __init__(self, base_url: str, api_key: str, *, timeout: float = 30.0, max_retries: int = 2) -> None:
        transport = Transport(base_url, api_key, timeout, max_retries)
        self.fees = Fees(transport)
        self.payments = Payments(transport)
        self.transactions = Transactions(transport)
        self.refunds = Refunds(transport)
        self.customer_tokens = CustomerTokens(transport)
        self.transfers = Transfers(transport)
        self.wallets = Wallets(transport)

    @classmethod
    def from_environment(cls, *, timeout: float = 30.0, max_retries: int = 2) -> Tollgate:
        """By `TOLLGATE_URL` and `TOLLGATE_KEY`; where they are not set, by the notes of a sandbox started in this folder."""
        base_url, api_key = os.environ.get("TOLLGATE_URL"), os.environ.get("TOLLGATE_KEY")
        if not base_url or not api_key:
            try:
                with open(_NOTES, encoding="utf-8") as file:
                    notes = json.load(file)
            except OSError as cause:
                raise ValueError("set TOLLGATE_URL and TOLLGATE_KEY, or start the sandbox in this folder") from cause
            base_url, api_key = base_url or notes["baseUrl"], api_key or notes["secretKey"]
        return cls(base_url, api_key, timeout=timeout, max_retries=max_retries)


class _Resource:
    def __init__(self, transport: Transport) -> None:
        self._call = transport.call


class Fees(_Resource):
    def quote(self, body: QuoteRequest, *, timeout: float | None = None) -> Quote:
        """What a payment would cost and where it would go. Nothing is recorded."""
        return cast(Quote, self._call("fee_quote", body=body, timeout=timeout))


class Payments(_Resource):
    def create_checkout(
        self, body: PaymentRequest, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> PreparedPayment:
        """Prepares a payment on the provider's own page: send the customer to `checkoutUrl`."""
        answer = self._call("payment_prepare", body=body, idempotency_key=idempotency_key, timeout=timeout)
        return cast(PreparedPayment, answer)

    def create_component(
        self, body: ComponentRequest, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> PreparedPayment:
        """Prepares a payment with card fields on your page: hand the result to `mount` of `tollgate.js`."""
        answer = self._call("component_prepare", body=body, idempotency_key=idempotency_key, timeout=timeout)
        return cast(PreparedPayment, answer)

    def decide_fee(self, reference: str, body: CardFeeRequest, *, timeout: float | None = None) -> PreparedPayment:
        """Decides the fee of a component's payment for the card behind a token of the browser's. Nothing is charged."""
        path = {"reference": reference}
        return cast(PreparedPayment, self._call("component_card", path=path, body=body, timeout=timeout))

    def confirm(self, reference: str, body: ConfirmationRequest, *, timeout: float | None = None) -> Confirmation:
        """Completes a component's payment with what the browser sent. A decline is a `failed` transaction."""
        path = {"reference": reference}
        return cast(Confirmation, self._call("component_confirm", path=path, body=body, timeout=timeout))

    def switch(self, reference: str, body: SwitchRequest, *, timeout: float | None = None) -> PreparedPayment:
        """After a decline: prepares the same payment again at the next provider of its route. Mount the new component."""
        path = {"reference": reference}
        return cast(PreparedPayment, self._call("component_switch", path=path, body=body, timeout=timeout))

    def retrieve(self, reference: str, *, timeout: float | None = None) -> Payment:
        """A preparation, and its transaction once there is one."""
        return cast(Payment, self._call("payment_read", path={"reference": reference}, timeout=timeout))


class Transactions(_Resource):
    def retrieve(self, reference: str, *, timeout: float | None = None) -> TransactionRead:
        answer = self._call("transaction_read", path={"reference": reference}, timeout=timeout)
        return cast(TransactionRead, answer)

    def list(self, query: TransactionListQuery | None = None, *, timeout: float | None = None) -> TransactionList:
        """One page, newest first."""
        return cast(TransactionList, self._call("transaction_list", query=query, timeout=timeout))

    def list_all(
        self, query: TransactionListQuery | None = None, *, timeout: float | None = None
    ) -> Iterator[Transaction]:
        """All of them; each page is read when the one before it is used up."""
        wanted: TransactionListQuery = {**query} if query else {}
        while True:
            page = self.list(wanted, timeout=timeout)
            yield from page["items"]
            if page["nextCursor"] is None:
                return
            wanted["before"] = page["nextCursor"]

    def capture(self, reference: str, body: CaptureRequest, *, timeout: float | None = None) -> Confirmation:
        """Takes the money of an `authorized` payment, or a part of it."""
        path = {"reference": reference}
        return cast(Confirmation, self._call("payment_capture", path=path, body=body, timeout=timeout))

    def void(self, reference: str, body: VoidRequest, *, timeout: float | None = None) -> Confirmation:
        """Releases the money of an `authorized` payment."""
        path = {"reference": reference}
        return cast(Confirmation, self._call("payment_void", path=path, body=body, timeout=timeout))


class Refunds(_Resource):
    def create(self, reference: str, body: RefundRequest, *, timeout: float | None = None) -> RefundResult:
        """Gives money back; all that is left of the payment where no amount is given."""
        path = {"reference": reference}
        return cast(RefundResult, self._call("refund_create", path=path, body=body, timeout=timeout))

    def retrieve(self, refund: str, *, timeout: float | None = None) -> Refund:
        return cast(Refund, self._call("refund_read", path={"refund": refund}, timeout=timeout))

    def list(self, reference: str, *, timeout: float | None = None) -> RefundList:
        """The refunds of a transaction."""
        return cast(RefundList, self._call("refund_list", path={"reference": reference}, timeout=timeout))


class CustomerTokens(_Resource):
    def create(
        self, body: CustomerTokenRequest, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> CustomerToken:
        """Seals a customer's details for transfers."""
        answer = self._call("customer_token_issue", body=body, idempotency_key=idempotency_key, timeout=timeout)
        return cast(CustomerToken, answer)


class Transfers(_Resource):
    def preview(self, body: TransferPreviewRequest, *, timeout: float | None = None) -> TransferPreview:
        """What a transfer would cost and which way it would go. Nothing is reserved."""
        return cast(TransferPreview, self._call("transfer_preview", body=body, timeout=timeout))

    def create(self, body: TransferRequest, *, timeout: float | None = None) -> Transfer:
        """Sends money from the wallet.

        The key is yours to choose and to store before you call: after a crash, the same key finds the same transfer.
        """
        return cast(Transfer, self._call("transfer_make", body=body, timeout=timeout))

    def cancel(self, reference: str, *, timeout: float | None = None) -> Confirmation:
        """Cancels a transfer that was not handed to the bank yet."""
        return cast(Confirmation, self._call("transfer_cancel", path={"reference": reference}, timeout=timeout))


class Wallets(_Resource):
    def list(self, *, timeout: float | None = None) -> WalletList:
        """What each wallet of the environment holds."""
        return cast(WalletList, self._call("client_wallet", timeout=timeout))
