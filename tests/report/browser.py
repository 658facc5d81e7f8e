"""Chromium without a window, spoken to over two pipes: pages opened, looked at and measured.

Messages of the DevTools protocol are JSON, each ended by a zero byte; the browser reads them from
its descriptor 3 and writes to 4. Nothing beyond Python's own library is needed.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One browser with one page."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="cull_browser_")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        # Descriptors 3 and 4 of the child, whatever they are here.
        high = [os.dup(to_read), os.dup(to_write)]
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
                   "--user-data-dir=" + self.profile, "about:blank"]

        def arrange():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(command, preexec_fn=arrange, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for descriptor in (to_read, to_write, *high):
            os.close(descriptor)
        self.pending, self.events, self.number, self.session = b"", [], 0, None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        try:
            os.write(self.to, b'{"id":0,"method":"Browser.close"}\0')
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        """The next message."""
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.back], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.back, 1 << 20) if ready else b""
            if not piece:
                raise TimeoutError("the browser does not answer")
            self.pending += piece
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, timeout=120, **arguments):
        """The result of a method; events on the way are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError("%s: %s" % (method, answer["error"]))
            else:
                return answer["result"]

    def open(self, path, width, dark=False, height=900, media=""):
        """Load a file at a width, for the screen or media="print"; what happened since is in self.events."""
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + 120
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive(deadline))

    def ask(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def picture(self, path):
        """The whole page as a PNG file."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def paper(self):
        """The page as the bytes of a PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])

    def complaints(self):
        """Errors and warnings of the console, exceptions, and requests for anything but this file."""
        found = []
        for event in self.events:
            method, values = event.get("method"), event.get("params", {})
            if method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
                found.append("console: %s" % values["args"])
            elif method == "Runtime.exceptionThrown":
                found.append("exception: %s" % values["exceptionDetails"].get("text"))
            elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
                found.append("log: %s" % values["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not values["request"]["url"].startswith(("file:", "data:")):
                found.append("request: %s" % values["request"]["url"])
        return found
