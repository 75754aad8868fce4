"""Debian's firefox-esr without a driver: it speaks WebDriver BiDi itself, over a WebSocket on loopback."""

import json
import re
import shutil
import subprocess

BINARY = "firefox-esr"
_LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


def missing():
    """Why there is no Firefox here, or None."""
    if shutil.which(BINARY) is None:
        return f"{BINARY} is not installed: apt-get install {BINARY}"
    try:
        import websocket  # noqa: F401
    except ImportError:
        return "websocket-client is not installed: pip install 'tercet[dev]'"
    return None


class Firefox:
    """One window of a headless Firefox."""

    def __init__(self, profile):
        import websocket

        command = [BINARY, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = next(filter(None, map(_LISTENING.search, self.process.stderr)))
        self.socket = websocket.create_connection(f"{found[1]}/session", suppress_origin=True, timeout=60)
        self.count, self.errors = 0, []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self.window = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def call(self, method, **parameters):
        """The result of a command; entries of the log that come meanwhile are kept."""
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            found = json.loads(self.socket.recv())
            if found.get("method") == "log.entryAdded" and found["params"]["level"] in ("error", "warn"):
                self.errors.append(found["params"]["text"])
            if found.get("id") == self.count:
                assert found["type"] == "success", found
                return found["result"]

    def open(self, address, width, height):
        """Goes to an address in a window of this size."""
        viewport = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=self.window, viewport=viewport)
        self.call("browsingContext.navigate", context=self.window, url=address, wait="complete")

    def evaluate(self, expression):
        """What an expression is, as a value of JSON; promises are waited for."""
        wrapped = f"Promise.resolve({expression}).then(found => JSON.stringify(found ?? null))"
        target = {"context": self.window}
        found = self.call("script.evaluate", expression=wrapped, target=target, awaitPromise=True)
        assert found["type"] == "success", found
        return json.loads(found["result"]["value"])

    def close(self):
        """Ends the session and the program."""
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stderr.close()
