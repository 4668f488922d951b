"""Every kind of payment, against the sandbox."""

import json
import time
import unittest
import uuid

import tollgate
from tollgate import Tollgate

from sandbox import NOTES, Receiver, admin, pay_intent

CLIENT = Tollgate(NOTES["baseUrl"], NOTES["secretKey"])
SMALL = {"amountMinor": "12500", "currency": "USD"}
LARGE = {"amountMinor": "125000", "currency": "USD"}
CUSTOMER = {"externalCustomerId": "c-1", "email": "ann@example.com", "firstName": "Ann", "lastName": "Smith"}
TRANSFER = {
    "amountMinor": "5000",
    "currency": "USD",
    "routingNumber": "110000000",
    "accountNumber": "000123456789",
    "bankAccountType": "checking",
    "bankName": "First Bank",
    "accountName": "Ann Smith",
}


def key():
    return f"test-{uuid.uuid4()}"


class Flows(unittest.TestCase):
    def test_a_quote_is_exact(self):
        quote = CLIENT.fees.quote(SMALL)
        self.assertEqual((quote["feeMinor"], quote["totalDebitMinor"]), ("456", "12956"))
        large = CLIENT.fees.quote({**SMALL, "amountMinor": 2**53 + 1})
        self.assertEqual(large["amountMinor"], "9007199254740993")

    def test_a_hosted_checkout_is_prepared_and_read_back(self):
        prepared = CLIENT.payments.create_checkout({**SMALL, "description": "Order 1"})
        self.assertTrue(prepared["checkoutUrl"].startswith("http"))
        payment = CLIENT.payments.retrieve(prepared["serviceReference"])
        self.assertEqual((payment["status"], payment["transaction"]), ("prepared", None))
        with self.assertRaises(tollgate.NotFoundError) as caught:
            CLIENT.transactions.retrieve(prepared["serviceReference"])
        self.assertEqual(caught.exception.code, "not_paid_yet")

    def test_the_first_providers_component_is_paid_and_refunded(self):
        prepared = CLIENT.payments.create_component(SMALL)
        reference, component = prepared["serviceReference"], prepared["component"]
        self.assertEqual(component["type"], "card_provider_a_payment_element")
        pay_intent(component)
        confirmed = CLIENT.payments.confirm(reference, {"paymentIntentId": component["paymentIntentId"]})
        self.assertEqual(confirmed["transaction"]["status"], "succeeded")

        part = {"idempotencyKey": key(), "amountMinor": "2500", "reason": "requested_by_customer"}
        refund = CLIENT.refunds.create(reference, part)["refund"]
        self.assertEqual((refund["status"], refund["amountMinor"]), ("succeeded", "2500"))
        again = CLIENT.refunds.create(reference, part)
        self.assertEqual((again["replayed"], again["refund"]), (True, refund))
        self.assertEqual(CLIENT.refunds.retrieve(refund["refundReference"]), refund)
        self.assertEqual(CLIENT.refunds.list(reference)["items"], [refund])
        with self.assertRaises(tollgate.ConflictError) as caught:
            CLIENT.refunds.create(reference, {"idempotencyKey": key(), "amountMinor": "12500"})
        self.assertEqual(caught.exception.code, "refund_exceeds_remaining")
        self.assertEqual(caught.exception.details[0]["field"], "amountMinor")

    def test_the_second_providers_component_is_declined_then_paid(self):
        reference = CLIENT.payments.create_component(LARGE)["serviceReference"]
        declined = CLIENT.payments.confirm(reference, {"sourceId": "cnon:card-nonce-declined"})["transaction"]
        self.assertEqual(declined["status"], "failed")
        self.assertTrue(declined["failure"]["message"])
        paid = CLIENT.payments.confirm(reference, {"sourceId": "cnon:card-nonce-ok"})["transaction"]
        self.assertEqual(paid["status"], "succeeded")

    def test_what_is_authorized_is_captured_in_part_or_voided(self):
        def hold():
            reference = CLIENT.payments.create_component({**LARGE, "capture": "manual"})["serviceReference"]
            held = CLIENT.payments.confirm(reference, {"sourceId": "cnon:card-nonce-ok"})["transaction"]
            self.assertEqual(held["status"], "authorized")
            return reference

        part = {"idempotencyKey": key(), "amountMinor": "100000"}
        captured = CLIENT.transactions.capture(hold(), part)["transaction"]
        self.assertEqual((captured["status"], captured["amountMinor"]), ("succeeded", "100000"))
        voided = CLIENT.transactions.void(hold(), {"idempotencyKey": key()})["transaction"]
        self.assertEqual(voided["status"], "canceled")

    def test_a_bank_transfer_is_previewed_sent_and_replayed(self):
        token = CLIENT.customer_tokens.create(CUSTOMER)["customerToken"]
        self.assertEqual(CLIENT.transfers.preview(SMALL)["routing"]["channel"], "standard_ach")
        body = {**TRANSFER, "customerToken": token, "idempotencyKey": key()}
        sent = CLIENT.transfers.create(body)
        self.assertEqual((sent["transaction"]["status"], sent["replayed"]), ("processing", False))
        self.assertEqual(sent["bankAccount"]["last4"], "6789")
        again = CLIENT.transfers.create(body)
        self.assertTrue(again["replayed"])
        self.assertEqual(again["transaction"]["serviceReference"], sent["transaction"]["serviceReference"])
        with self.assertRaises(tollgate.RejectedError) as caught:
            CLIENT.transfers.create({**body, "idempotencyKey": key(), "routingNumber": "790000051"})
        self.assertTrue(caught.exception.service_reference.startswith("ach_"))
        self.assertEqual(CLIENT.wallets.list()["items"][0]["currency"], "USD")
        with self.assertRaises(tollgate.NotFoundError):
            CLIENT.transfers.cancel("ach_00000000000000000000000000")

    def test_a_list_is_read_page_by_page(self):
        for _ in range(3):
            reference = CLIENT.payments.create_component(LARGE)["serviceReference"]
            CLIENT.payments.confirm(reference, {"sourceId": "cnon:card-nonce-ok"})
        items = CLIENT.transactions.list({"limit": 100, "status": "succeeded"})["items"]
        page = CLIENT.transactions.list({"limit": 1})
        self.assertEqual((len(page["items"]), page["nextCursor"] is None), (1, False))
        every = CLIENT.transactions.list_all({"limit": 2, "status": "succeeded"})
        names = [one["serviceReference"] for one in every]
        self.assertEqual(names, [one["serviceReference"] for one in items])
        self.assertGreaterEqual(len(names), 3)

    def test_failures_are_typed_and_name_every_field(self):
        with self.assertRaises(tollgate.InvalidRequestError) as caught:
            CLIENT.fees.quote({"amountMinor": "0", "currency": "XXXX"})
        self.assertEqual([one["field"] for one in caught.exception.details], ["amountMinor", "currency"])
        self.assertTrue(caught.exception.request_id.startswith("req_"))
        self.assertEqual(caught.exception.docs_url, f"{NOTES['baseUrl']}/docs/errors#invalid_body")
        with self.assertRaises(tollgate.AuthenticationError):
            Tollgate(NOTES["baseUrl"], NOTES["secretKey"] + "x").fees.quote(SMALL)
        with self.assertRaises(tollgate.PermissionError):
            Tollgate(NOTES["baseUrl"], NOTES["publishableKey"]).fees.quote(SMALL)
        with self.assertRaises(tollgate.NotFoundError):
            CLIENT.transactions.retrieve("pay_00000000000000000000000000")
        with self.assertRaises(TypeError):
            CLIENT.fees.quote({"amountMinor": 125.0, "currency": "USD"})

    def test_our_own_webhooks_are_verified_and_nobody_elses(self):
        with Receiver() as inbox:
            wanted = {"url": f"{inbox.url}/events", "events": ["transaction.succeeded"]}
            endpoint = admin("POST", "/event-endpoints", wanted)
            self.addCleanup(admin, "DELETE", f"/event-endpoints/{endpoint['id']}")
            reference = CLIENT.payments.create_component(LARGE)["serviceReference"]
            CLIENT.payments.confirm(reference, {"sourceId": "cnon:card-nonce-ok"})
            body, headers = inbox.next(reference)
        secret = endpoint["secret"]
        event = tollgate.verify_webhook(body, headers, secret)
        self.assertEqual(event["type"], "transaction.succeeded")
        self.assertEqual(event["data"]["transaction"]["serviceReference"], reference)
        self.assertEqual(tollgate.verify_webhook(body.decode(), headers, ["whsec_AAAA", secret]), event)

        known = {name.lower(): value for name, value in headers.items()}
        self.assertEqual(event["id"], known["webhook-id"])
        for name, refused in {
            "another body": (body + b" ", known, secret),
            "another secret": (body, known, "whsec_AAAA"),
            "another id": (body, {**known, "webhook-id": "evt_other"}, secret),
            "no signature": (body, {**known, "webhook-signature": ""}, secret),
            "an empty signature": (body, {**known, "webhook-signature": "v1,"}, secret),
            "another alphabet": (body, {**known, "webhook-signature": "v1,ä"}, secret),
        }.items():
            with self.subTest(name), self.assertRaises(tollgate.WebhookVerificationError):
                tollgate.verify_webhook(*refused)
        for minutes in (6, -6):
            with self.assertRaises(tollgate.WebhookVerificationError):
                tollgate.verify_webhook(body, known, secret, now=time.time() + minutes * 60)
        with self.assertRaises(TypeError):
            tollgate.verify_webhook(json.loads(body), known, secret)
        with self.assertRaises(ValueError):
            tollgate.verify_webhook(body, known, "whsec_")


if __name__ == "__main__":
    unittest.main()
