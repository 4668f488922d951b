"""A webhook receiver for the scripts beside it."""

import http.server
import json
import queue
import threading
import urllib.request


class Receiver:
    """Keeps what it is sent, with the headers, in order of arrival."""

    def __init__(self, simulator, wire, secret):
        arrived = self.arrived = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                arrived.put((dict(self.headers), body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}/hooks"
        target = {"wire": wire, "url": self.url, "secret": secret}
        request = urllib.request.Request(
            f"{simulator}/control/webhooks", json.dumps(target).encode(), method="POST"
        )
        urllib.request.urlopen(request, timeout=5).close()

    def take(self, count):
        return [self.arrived.get(timeout=5) for _ in range(count)]


def post(url, body):
    """Plays the browser, or drives the simulator. Redirects are not followed."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        return urllib.request.build_opener(Stay).open(url, body, timeout=5).status
    except urllib.error.HTTPError as answer:
        return answer.code
