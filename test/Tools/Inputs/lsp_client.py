"""A client of tally-lsp-server: messages as an editor frames them, and the answers to them."""

import json
import subprocess


def message(**members):
    body = json.dumps({"jsonrpc": "2.0", **members}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def answers(output):
    """All messages in what the server has written."""
    found = []
    while output:
        head, rest = output.split(b"\r\n\r\n", 1)
        size = int(head.removeprefix(b"Content-Length: "))
        found.append(json.loads(rest[:size]))
        output = rest[size:]
    return found


def talk(given, expected=0, timeout=120):
    """All that the server answers to these bytes; it has to end with this status."""
    done = subprocess.run(["tally-lsp-server"], input=given, stdout=subprocess.PIPE, timeout=timeout,
                          stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == expected, f"exit status {done.returncode} instead of {expected}"
    return answers(done.stdout)


BEGIN = message(id="begin", method="initialize",
                params={"processId": None, "rootUri": None, "capabilities": {}})
BEGIN += message(method="initialized", params={})
END = message(id="end", method="shutdown") + message(method="exit")


def opened(uri, text):
    return message(method="textDocument/didOpen", params={
        "textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": text}})


def changed(uri, text, version):
    return message(method="textDocument/didChange", params={
        "textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]})


def asked(number, method, uri, position=None, **more):
    params = {"textDocument": {"uri": uri}, **more}
    if position is not None:
        params["position"] = {"line": position[0], "character": position[1]}
    return message(id=number, method=f"textDocument/{method}", params=params)


def position(text, offset):
    """Line and UTF-16 unit of a character of the text."""
    before = text[:offset].split("\n")
    return len(before) - 1, len(before[-1].encode("utf-16-le")) // 2
