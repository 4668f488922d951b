"""Serves localstripe on the loopback interface, without its habit of writing its state to a file.

Usage: serve.py PORT
"""

import sys

from aiohttp import web
from localstripe.resources import store
from localstripe.server import app

type(store).dump_to_disk = lambda self: None
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
