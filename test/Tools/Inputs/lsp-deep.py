"""Gives tally-lsp-server what nests deep, and fails unless it lives to the end."""

import lsp_client

URI = "file:///deep.mlir"
DEEP = 30000

found = lsp_client.talk(
    lsp_client.BEGIN + lsp_client.opened(URI, '"tally.loop"() ({' * DEEP)
    + lsp_client.asked(1, "hover", URI, (0, 5)) + lsp_client.END)
assert any(each.get("params", {}).get("diagnostics") for each in found), "no diagnostics"

found = lsp_client.talk(
    lsp_client.BEGIN + lsp_client.opened(URI, 'tally.loop "A" trips 2 {\n' * DEEP)
    + lsp_client.asked(1, "documentSymbol", URI) + lsp_client.asked(2, "completion", URI, (DEEP, 0))
    + lsp_client.END)
assert any("error" not in each and each.get("id") == 2 for each in found), "no completion"

deep = b"[" * 1000000
body = b"Content-Length: %d\r\n\r\n" % len(deep) + deep
found = lsp_client.talk(lsp_client.BEGIN + body + lsp_client.END)
assert any(each.get("id") == "end" for each in found), "no answer after JSON that nests deep"
