"""Chromium without a window, driven by its DevTools protocol through two pipes: real time, real keys, and every error that it reports.

    with Browser() as browser:
        page = browser.open(path, width=1232)
        page.wait_for(READY)
        page.press("+")
        page.value("location.hash")
        page.errors                 # what scripts threw, and what stands on the console or in the browser's log

Nothing outside is reached: the browser's proxy is a closed port.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--proxy-server=127.0.0.1:9", "--hide-scrollbars", "--remote-debugging-pipe")
SECONDS = 60.0  # for one answer of the browser
PATIENCE = 15.0  # for what the page is waited for
HEIGHT = 1200

# The script of a page of `tally report` has come to its end.
READY = "document.documentElement?.dataset.ready === 'yes'"


def program():
    for name in NAMES:
        if shutil.which(name):
            return name
    sys.exit("no Chromium: install Debian's package 'chromium'")


class Browser:
    """Messages are JSON, each with a zero byte at its end; the browser reads file 3 and writes file 4."""

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.to = os.pipe()
        self.back, theirs_out = os.pipe()
        command = f'exec {program()} "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, "chromium", *OPTIONS, f"--user-data-dir={self.home.name}"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(theirs_in, theirs_out),
            env=dict(os.environ, HOME=self.home.name))
        os.close(theirs_in)
        os.close(theirs_out)
        self.read = b""
        self.number = 0
        self.events = []
        return self

    def __exit__(self, *_):
        try:
            self.ask("Browser.close")
            self.process.wait(timeout=10)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.terminate()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.home.cleanup()

    def message(self, until):
        """The next one, an event or an answer."""
        while b"\0" not in self.read:
            if not select.select([self.back], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError(f"the browser says nothing for {SECONDS} s")
            part = os.read(self.back, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self.read += part
        text, _, self.read = self.read.partition(b"\0")
        return json.loads(text)

    def ask(self, method, session=None, **parameters):
        self.number += 1
        question = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.to, json.dumps(question).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while True:
            found = self.message(until)
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                return found["result"]
            self.events.append(found)

    def open(self, path, width=1232):
        """A new page of this width; the address of a file, from when it is asked for."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, path.resolve().as_uri(), width)


class Page:
    def __init__(self, browser, session, address, width):
        self.browser, self.session = browser, session
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        self.start = time.monotonic()
        failed = self.ask("Page.navigate", url=address).get("errorText")
        assert not failed, f"{address}: {failed}"

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def seconds(self):
        """Since the page was asked for."""
        return time.monotonic() - self.start

    def value(self, expression):
        found = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, f"{expression}: {found['exceptionDetails']}"
        return found["result"].get("value")

    def wait_for(self, expression):
        """Until it is true and the page has been painted; whether that comes in time, and without an error."""
        until = time.monotonic() + PATIENCE
        while not self.value(f"!!({expression})"):
            if time.monotonic() > until or self.errors:
                return False
            time.sleep(0.01)
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        return True

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if kind == "keyDown" and len(key) == 1 else {}))

    @property
    def errors(self):
        """Texts of what went wrong so far."""
        return [text for event in self.browser.events if event.get("sessionId") == self.session
                for text in (error_of(event["method"], event["params"]),) if text]


def error_of(method, parameters):
    if method == "Runtime.exceptionThrown":
        details = parameters["exceptionDetails"]
        return details.get("exception", {}).get("description", details["text"])
    if method == "Runtime.consoleAPICalled":
        return "console: " + " ".join(str(argument.get("value", argument.get("description"))) for argument in parameters["args"])
    if method == "Log.entryAdded":
        return "log: " + parameters["entry"]["text"]
    return None
