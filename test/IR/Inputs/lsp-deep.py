"""Gives tally-lsp-server a document that nests deep, and fails unless it lives to the end."""

import json
import subprocess


def message(**members):
    body = json.dumps({"jsonrpc": "2.0", **members}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


document = {"uri": "file:///deep.mlir", "languageId": "mlir", "version": 1,
            "text": '"tally.loop"() ({' * 30000}
given = message(id=0, method="initialize",
                params={"processId": None, "rootUri": None, "capabilities": {}})
given += message(method="initialized", params={})
given += message(method="textDocument/didOpen", params={"textDocument": document})
given += message(id=1, method="shutdown") + message(method="exit")
done = subprocess.run(["tally-lsp-server"], input=given, stdout=subprocess.PIPE, timeout=120,
                      stderr=subprocess.DEVNULL, check=False)
assert done.returncode == 0, f"exit status {done.returncode}"
assert b'"uri":"file:///deep.mlir"' in done.stdout, "no diagnostics of the document"
