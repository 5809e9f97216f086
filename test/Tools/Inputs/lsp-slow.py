"""A kernel whose dependences take long: the server says so, and serves the editor meanwhile."""

import json
import subprocess
import time

import lsp_client
from lsp_client import BEGIN, END, asked, changed, opened
from slow_deps import kernel

URI = "file:///slow.mlir"


def messages(found):
    return [each["message"] for published in found for each in published.get("params", {}).get("diagnostics", [])]


# Opened: a limit, and the rest goes on.
found = lsp_client.talk(BEGIN + opened(URI, kernel(900)) + asked(1, "hover", URI, (6, 20)) + END)
late = [text for text in messages(found) if "dependences of kernel 'slow' were not examined: that takes more than 2 s" in text]
assert len(late) == 1, messages(found)
assert any("i0" in each["result"]["contents"]["value"] for each in found if each.get("id") == 1)


class Editor:
    """Reads answers one by one."""

    def __init__(self):
        self.server = subprocess.Popen(["tally-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, given):
        self.server.stdin.write(given)
        self.server.stdin.flush()

    def next(self):
        head = self.server.stdout.readline()
        self.server.stdout.readline()
        return json.loads(self.server.stdout.read(int(head.removeprefix(b"Content-Length: "))))


# Typed: what is asked meanwhile comes first, and the diagnostics when the editor has nothing more to say.
editor = Editor()
editor.send(BEGIN + opened(URI, kernel(2)))
assert editor.next()["id"] == "begin"
assert editor.next()["params"]["version"] == 1
editor.send(changed(URI, kernel(900), 2))
time.sleep(0.5)
editor.send(asked(1, "completion", URI, (4, 2)))
assert editor.next().get("id") == 1, "the examination came first"
assert editor.next()["params"]["version"] == 2
editor.send(changed(URI, kernel(3), 3))
assert editor.next()["params"]["version"] == 3
editor.send(END)
assert editor.next()["id"] == "end"
assert editor.server.wait(60) == 0
