"""What the tests share: the sandbox they run against, and a network in between that can fail."""

from __future__ import annotations

import http.client
import json
import os
import queue
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

with open(os.environ["TOLLGATE_NOTES"], encoding="utf-8") as _file:
    NOTES = json.load(_file)


def admin(method, path, body=None):
    """The operator's side, which the SDK does not have."""
    request = urllib.request.Request(
        f"{NOTES['baseUrl']}/admin/v1/environments/{NOTES['environmentId']}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {NOTES['adminToken']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)["data"]


def pay_intent(component, card="pm_card_visa"):
    """The simulated provider's browser, without a browser: a card for a payment that is prepared."""
    fields = {"client_secret": component["clientSecret"], "payment_method": card, "return_url": "http://127.0.0.1/"}
    request = urllib.request.Request(
        f"{NOTES['simulators']['stripe']['baseUrl']}/v1/payment_intents/{component['paymentIntentId']}/confirm",
        data=urllib.parse.urlencode(fields).encode(),
        headers={"Authorization": f"Bearer {component['publishableKey']}"},
    )
    urllib.request.urlopen(request, timeout=30).close()


class _Server:
    def __init__(self, handler):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        # Handlers that stall on purpose are not waited for.
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class Proxy(_Server):
    """A proxy in front of the sandbox. For each request it takes the next of `plan`: "pass", "drop" (before the sandbox
    sees it), "lose" (the sandbox answers, the answer is lost), "stall" (no answer at all), "drip" (an answer that comes a
    byte at a time), or an answer of its own: status, headers, body."""

    def __init__(self, *plan):
        self.seen = []
        self.released = threading.Event()
        outer, steps = self, list(plan)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                step = steps.pop(0) if steps else "pass"
                outer.seen.append(self.headers.get("Idempotency-Key"))
                if step == "stall":
                    outer.released.wait(30)
                elif step == "drip":
                    self.drip()
                elif isinstance(step, tuple):
                    self.answer(*step)
                elif step != "drop":
                    answer = self.forward(content)
                    if step == "pass":
                        self.answer(*answer)
                self.close_connection = True

            do_GET = do_POST

            def drip(self):
                self.send_response(200)
                self.end_headers()
                while not outer.released.wait(0.05):
                    try:
                        self.wfile.write(b" ")
                    except OSError:
                        return

            def forward(self, content):
                connection = http.client.HTTPConnection(urllib.parse.urlsplit(NOTES["baseUrl"]).netloc, timeout=30)
                headers = {name: value for name, value in self.headers.items() if name != "Host"}
                connection.request(self.command, self.path, content, headers)
                response = connection.getresponse()
                return response.status, dict(response.headers), response.read()

            def answer(self, status, headers, body):
                self.send_response_only(status)
                for name, value in headers.items():
                    if name.lower() not in ("connection", "content-length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(Handler)

    def __exit__(self, *parts):
        self.released.set()
        super().__exit__(*parts)


class Receiver(_Server):
    """Receives webhooks and keeps them as they came."""

    def __init__(self):
        self.deliveries = deliveries = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(204)
                self.end_headers()
                deliveries.put((body, dict(self.headers)))

            def log_message(self, *_):
                pass

        super().__init__(Handler)

    def next(self, marker):
        while True:
            body, headers = self.deliveries.get(timeout=30)
            if marker.encode() in body:
                return body, headers
