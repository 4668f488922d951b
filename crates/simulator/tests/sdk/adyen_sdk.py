"""The official Adyen library against the simulator: sessions, links, payments, requests that are only received, set-up,
and its judgment of the signatures."""

import json
import os
from urllib.parse import urlsplit

import Adyen
from Adyen.util import is_valid_hmac_notification

from receiver import Receiver, post

SIMULATOR = os.environ["SIMULATOR"]
MERCHANT = "TollgateTestECOM"
SECRET = "0123456789ABCDEF" * 4
receiver = Receiver(SIMULATOR, "adyen", SECRET)

adyen = Adyen.Adyen(xapikey="adyen_simulator_key", platform="test")
checkout, management = adyen.checkout, adyen.management
apis = [checkout.payments_api, checkout.payment_links_api, checkout.modifications_api, checkout.utility_api]
for api in apis:
    api.baseUrl = f"{SIMULATOR}/adyen/v72"
for api in [management.my_api_credential_api, management.webhooks_merchant_level_api, management.account_merchant_level_api]:
    api.baseUrl = f"{SIMULATOR}/adyen/v3"



def amount(value):
    return {"value": value, "currency": "USD"}


def drive(path, body=None):
    assert post(f"{SIMULATOR}/control/adyen/{path}", json.dumps(body or {}).encode()) == 200, path


def items(count):
    bodies = [json.loads(body) for _, body in receiver.take(count)]
    for body in bodies:
        assert is_valid_hmac_notification(body, SECRET), body
        changed = json.loads(json.dumps(body))
        changed["notificationItems"][0]["NotificationRequestItem"]["amount"]["value"] += 1
        assert not is_valid_hmac_notification(changed, SECRET), body
    return [body["notificationItems"][0]["NotificationRequestItem"] for body in bodies]


# A session, paid by a customer, and what its result says.
order = {
    "merchantAccount": MERCHANT,
    "amount": amount(1999),
    "reference": "order-ü:1",
    "returnUrl": "https://shop.example.test/done",
    "countryCode": "US",
    "additionalData": {"manualCapture": "true"},
}
session = checkout.payments_api.sessions(order, idempotency_key="sdk-1")
assert session.status_code == 201, session.raw_response
again = checkout.payments_api.sessions(order, idempotency_key="sdk-1")
assert again.message["sessionData"] == session.message["sessionData"]
drive(f"sessions/{session.message['id']}/pay")
(paid,) = items(1)
assert (paid["eventCode"], paid["success"], paid["merchantReference"]) == ("AUTHORISATION", "true", "order-ü:1")
payment = paid["pspReference"]

# Requests are only received; the notifications say what came of them.
for call, body, event in [
    ("capture_authorised_payment", {"amount": amount(1500), "reference": "cap-1"}, ("CAPTURE", "true")),
    ("cancel_authorised_payment_by_psp_reference", {"reference": "void-1"}, ("CANCELLATION", "false")),
    ("refund_captured_payment", {"amount": amount(500), "reference": "re-1"}, ("REFUND", "true")),
    ("refund_or_cancel_payment", {"reference": "rev-1"}, ("CANCEL_OR_REFUND", "false")),
]:
    answer = getattr(checkout.modifications_api, call)({"merchantAccount": MERCHANT, **body}, payment)
    assert (answer.status_code, answer.message["status"]) == (201, "received"), answer.raw_response
    (told,) = items(1)
    assert (told["eventCode"], told["success"]) == event, told
    assert (told["pspReference"], told["originalReference"]) == (answer.message["pspReference"], payment)
cancel = {"merchantAccount": MERCHANT, "paymentReference": "made up", "reference": "tc-1"}
assert checkout.modifications_api.cancel_authorised_payment(cancel).message["status"] == "received"
try:
    body = {"merchantAccount": MERCHANT, "amount": amount(5)}
    checkout.modifications_api.capture_authorised_payment(body, "NOBODY")
    raise AssertionError("an unknown payment was captured")
except Adyen.AdyenAPIUnprocessableEntity as error:
    assert error.error_code == "167", error

# Links are read and withdrawn.
link = {"merchantAccount": MERCHANT, "amount": amount(5), "reference": "link-1", "captureDelayHours": 0}
link = checkout.payment_links_api.payment_links(link).message
assert checkout.payment_links_api.get_payment_link(link["id"]).message["status"] == "active"
assert post(link["url"], b"number=4111111111111111&expiry=03/30&cvc=737") == 200
assert checkout.payment_links_api.get_payment_link(link["id"]).message["status"] == "completed"
assert items(1)[0]["additionalData"]["paymentLinkId"] == link["id"]
other = checkout.payment_links_api.payment_links({"merchantAccount": MERCHANT, "amount": amount(5), "reference": "l"})
expired = checkout.payment_links_api.update_payment_link({"status": "expired"}, other.message["id"])
assert expired.message["status"] == "expired"

# A payment of the server's own: refused by the holder's name, then with the issuer's question.
card = {
    "type": "scheme",
    "encryptedCardNumber": "test_5454545454545454",
    "encryptedExpiryMonth": "test_03",
    "encryptedExpiryYear": "test_2030",
    "encryptedSecurityCode": "test_737",
}
direct = {"merchantAccount": MERCHANT, "amount": amount(1999), "reference": "direct", "returnUrl": "https://shop.example.test/"}
refused = checkout.payments_api.payments({**direct, "paymentMethod": {**card, "holderName": "NOT_ENOUGH_BALANCE"}}).message
assert (refused["resultCode"], refused["refusalReasonCode"]) == ("Refused", "12"), refused
asked = checkout.payments_api.payments({**direct, "paymentMethod": card}).message
assert asked["resultCode"] == "RedirectShopper", asked
assert post(asked["action"]["url"], b"password=password") == 303
token = "X6XtfGC3!" + urlsplit(asked["action"]["url"]).path.split("/")[-1]
done = checkout.payments_api.payments_details({"details": {"redirectResult": token}}).message
assert done["resultCode"] == "Authorised", done
assert [item["success"] for item in items(2)] == ["false", "true"]
assert checkout.payments_api.payment_methods({"merchantAccount": MERCHANT}).message["paymentMethods"][0]["type"] == "scheme"

# Disputes.
drive(f"payments/{done['pspReference']}/capture")
drive(f"payments/{done['pspReference']}/dispute")
assert [item["eventCode"] for item in items(3)] == ["CAPTURE", "NOTIFICATION_OF_CHARGEBACK", "CHARGEBACK"]

# A webhook with a key that the provider makes.
webhook = {"type": "standard", "url": receiver.url, "active": True, "communicationFormat": "json"}
webhook = management.webhooks_merchant_level_api.set_up_webhook(webhook, MERCHANT).message
SECRET = management.webhooks_merchant_level_api.generate_hmac_key(MERCHANT, webhook["id"]).message["hmacKey"]
tested = management.webhooks_merchant_level_api.test_webhook({"types": ["CAPTURE"]}, MERCHANT, webhook["id"]).message
assert [one["responseCode"] for one in tested["data"]] == ["200"] * 4
assert [item["amount"]["currency"] for item in items(4)] == ["EUR", "EUR", "GBP", "GBP"]
assert management.webhooks_merchant_level_api.list_all_webhooks(MERCHANT).message["itemsTotal"] == 2
management.webhooks_merchant_level_api.remove_webhook(MERCHANT, webhook["id"])
assert management.my_api_credential_api.get_api_credential_details().message["clientKey"] == "test_SIMULATOR"
assert management.account_merchant_level_api.get_merchant_account(MERCHANT).message["captureDelay"] == "manual"
print("ok")
