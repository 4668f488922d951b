"""What happens when the network, a gateway or Tollgate fails in between."""

import json
import time
import unittest
import uuid

import tollgate
from tollgate import Tollgate

from sandbox import NOTES, Proxy

QUOTE = {"amountMinor": "12500", "currency": "USD"}
DIRECT = Tollgate(NOTES["baseUrl"], NOTES["secretKey"])


def client(proxy, **options):
    return Tollgate(proxy.url, NOTES["secretKey"], **options)


def failure(status, code, headers=None):
    error = {"code": code, "requestId": "req_1", "details": []}
    body = {"success": False, "data": None, "message": "Not now.", "error": error}
    return status, {"Content-Type": "application/json", **(headers or {})}, json.dumps(body).encode()


class Retries(unittest.TestCase):
    def test_a_lost_answer_is_asked_for_again_with_the_same_key_and_makes_one_payment(self):
        with Proxy("lose", "drop", "pass") as proxy:
            body = {**QUOTE, "description": f"lost {uuid.uuid4()}"}
            prepared = client(proxy).payments.create_checkout(body)
        self.assertEqual(len(proxy.seen), 3)
        self.assertEqual(len(set(proxy.seen)), 1)
        self.assertTrue(proxy.seen[0].startswith("sdk-"))
        # The sandbox had made it at the first try: the same key finds the same payment.
        again = DIRECT.payments.create_checkout(body, idempotency_key=proxy.seen[0])
        self.assertEqual(again["serviceReference"], prepared["serviceReference"])

    def test_a_lost_answer_to_a_confirmation_charges_once(self):
        with Proxy("pass", "lose", "pass") as proxy:
            payments = client(proxy).payments
            reference = payments.create_component({**QUOTE, "amountMinor": "125000"})["serviceReference"]
            confirmed = payments.confirm(reference, {"sourceId": "cnon:card-nonce-ok"})
        self.assertEqual((confirmed["transaction"]["status"], confirmed["replayed"]), ("succeeded", True))

    def test_what_may_have_happened_is_said_to_be_unknown_with_the_key_to_ask_again(self):
        with Proxy("lose", "lose", "lose") as proxy, self.assertRaises(tollgate.OutcomeUnknownError) as caught:
            client(proxy).payments.create_checkout(QUOTE)
        self.assertEqual(len(proxy.seen), 3)
        self.assertEqual(caught.exception.idempotency_key, proxy.seen[0])
        found = DIRECT.payments.create_checkout(QUOTE, idempotency_key=proxy.seen[0])
        self.assertEqual(found["status"], "prepared")

    def test_a_read_that_fails_is_just_that(self):
        with Proxy("drop") as proxy, self.assertRaises(tollgate.ConnectionError):
            client(proxy, max_retries=0).fees.quote(QUOTE)

    def test_a_server_that_does_not_answer_is_given_up_on_in_time(self):
        for step in ("stall", "drip"):
            with self.subTest(step), Proxy(step, step) as proxy:
                started = time.monotonic()
                with self.assertRaisesRegex(tollgate.ConnectionError, "in time"):
                    client(proxy, timeout=0.3, max_retries=1).fees.quote(QUOTE)
                self.assertEqual(len(proxy.seen), 2)
                self.assertLess(time.monotonic() - started, 30)

    def test_a_gateways_error_and_ours_are_tried_again(self):
        gateway = (502, {}, b"<h1>Bad gateway</h1>")
        with Proxy(gateway, failure(503, "store_unavailable", {"Retry-After": "1"}), "pass") as proxy:
            started = time.monotonic()
            self.assertEqual(client(proxy).fees.quote(QUOTE)["totalDebitMinor"], "12956")
        self.assertEqual(len(proxy.seen), 3)
        self.assertGreaterEqual(time.monotonic() - started, 1)

    def test_what_another_try_cannot_cure_is_not_tried_again(self):
        with Proxy(failure(503, "provider_not_configured")) as proxy:
            with self.assertRaises(tollgate.ServiceError) as caught:
                client(proxy).fees.quote(QUOTE)
        self.assertEqual((caught.exception.code, len(proxy.seen)), ("provider_not_configured", 1))
        with Proxy(failure(429, "rate_limited", {"Retry-After": "60"})) as proxy:
            with self.assertRaises(tollgate.RateLimitError) as caught:
                client(proxy).fees.quote(QUOTE)
        self.assertEqual((caught.exception.retry_after_seconds, len(proxy.seen)), (60, 1))
        with Proxy(failure(503, "outcome_unknown")) as proxy, self.assertRaises(tollgate.OutcomeUnknownError):
            client(proxy, max_retries=0).payments.create_checkout(QUOTE)

    def test_a_key_goes_nowhere_else(self):
        with Proxy((307, {"Location": NOTES["baseUrl"]}, b"")) as proxy:
            with self.assertRaises(tollgate.ApiError) as caught:
                client(proxy).fees.quote(QUOTE)
        self.assertEqual((caught.exception.status, len(proxy.seen)), (307, 1))

    def test_a_field_with_a_typo_is_pointed_out(self):
        with self.assertWarnsRegex(tollgate.TollgateWarning, "metdata"):
            DIRECT.fees.quote({**QUOTE, "metdata": {}})


if __name__ == "__main__":
    unittest.main()
