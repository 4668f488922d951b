"""Judges deliveries with the Standard Webhooks project's own library.

Reads a JSON list of {"secret", "headers", "body"} from standard input, each body as text, and writes a JSON list that
says of each whether the library accepts it.
"""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def accepts(delivery):
    try:
        Webhook(delivery["secret"]).verify(delivery["body"], delivery["headers"])
    except WebhookVerificationError:
        return False
    return True


json.dump([accepts(delivery) for delivery in json.load(sys.stdin)], sys.stdout)
