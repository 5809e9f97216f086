"""From `initialize` to `exit`: the order of messages, and what is not a message at all."""

import json

import lsp_client
from lsp_client import BEGIN, END, asked, message, opened

URI = "file:///k.mlir"
TEXT = 'tally.kernel @k {\n  tally.engine "e"\n}\n'


def codes(found):
    return {each.get("id"): each["error"]["code"] for each in found if "error" in each}


# Questions have their time.
found = lsp_client.talk(asked(1, "hover", URI, (0, 0)) + BEGIN + BEGIN + opened(URI, TEXT)
                        + asked(2, "hover", "file:///other.mlir", (0, 0))
                        + message(id=3, method="textDocument/unheardOf", params={})
                        + message(id=4, method="textDocument/hover", params={"wrong": True})
                        + message(method="$/unheardOf", params={})
                        + asked(5, "hover", URI, (0, 3))
                        + message(id=6, method="shutdown") + asked(7, "hover", URI, (0, 3))
                        + message(method="exit"))
assert codes(found) == {1: -32002, "begin": -32600, 2: -32602, 3: -32601, 4: -32602, 7: -32600}, codes(found)
assert [each["id"] for each in found if each.get("result", {})] == ["begin", 5]

# What is no message is passed over.
for wrong in [b"{", b"]", b"42", b"\xff\xfe", b'{"id":', b'{"id":9}', b"null", b"[]",
              b'{"jsonrpc":"2.0","method":7,"params":{}}']:
    frame = b"Content-Length: %d\r\n\r\n" % len(wrong) + wrong
    found = lsp_client.talk(BEGIN + frame + opened(URI, TEXT) + asked(1, "hover", URI, (0, 3)) + END)
    assert {each.get("id") for each in found if "result" in each} >= {"begin", 1, "end"}, wrong
    assert codes(found) in ({None: -32700}, {None: -32600}), found

# Without `shutdown`, the end is not in order.
lsp_client.talk(BEGIN + message(method="exit"), expected=1)
lsp_client.talk(BEGIN + opened(URI, TEXT), expected=1)

# A document that is closed has no messages and answers no questions.
wrong = opened(URI, 'tally.kernel @k {\n  tally.instr "a" on "e"\n}\n')
found = lsp_client.talk(BEGIN + wrong + message(method="textDocument/didClose",
                                                params={"textDocument": {"uri": URI}})
                        + asked(1, "hover", URI, (0, 3)) + END)
sizes = [len(each["params"]["diagnostics"]) for each in found if "params" in each]
assert len(sizes) == 2 and sizes[0] > 0 and sizes[1] == 0, sizes
assert codes(found) == {1: -32602}, codes(found)


def edit(begin, end, text):
    (line, character), (last_line, last_character) = begin, end
    return {"range": {"start": {"line": line, "character": character},
                      "end": {"line": last_line, "character": last_character}}, "text": text}


# Changes of parts of a text, in UTF-16: one sign takes two units.
TEXT = 'tally.kernel @k {\r\n  // \U0001d11e\r\n  tally.engine "\U0001d11ee"\r\n}\r\n'
changes = [edit((2, 18), (2, 19), "pe"), edit((9, 9), (9, 9), "// end")]
found = lsp_client.talk(BEGIN + opened(URI, TEXT) + message(
    method="textDocument/didChange",
    params={"textDocument": {"uri": URI, "version": 2}, "contentChanges": changes})
    + asked(1, "documentSymbol", URI) + END)
kernel = next(each["result"] for each in found if each.get("id") == 1)[0]
assert kernel["children"][0]["name"] == "\U0001d11epe", kernel
assert kernel["children"][0]["selectionRange"]["end"] == {"line": 2, "character": 20}, kernel
assert kernel["range"]["end"] == {"line": 3, "character": 1}, kernel

# Fields of a header are as in HTTP.
def framed(header, **members):
    body = json.dumps({"jsonrpc": "2.0", **members}).encode()
    return header % len(body) + body


oddly = [b"content-length: %d\r\n\r\n", b"Content-Length:%d\r\n\r\n", b"X-Other: 1\r\nCONTENT-LENGTH:  %d \r\n\r\n",
         b"Content-Type: application/json\r\nContent-Length: %d\n\n"]
found = lsp_client.talk(BEGIN + b"".join(
    framed(header, id=number, method="no/such") for number, header in enumerate(oddly)) + END)
assert all(codes(found)[number] == -32601 for number in range(len(oddly))), codes(found)
