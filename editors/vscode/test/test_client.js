// The extension starts the server that the setting names, or says what is missing. The editor and the
// client library are played here; the server is the real one.
//
// node test_client.js

const assert = require("assert");
const { spawn } = require("child_process");
const Module = require("module");
const path = require("path");

const load = Module._load;

/// Starts the command as the library does, and asks for its name and version.
class LanguageClient {
  constructor(id, name, server, options) {
    assert.deepStrictEqual(options.documentSelector, [{ language: "tally" }]);
    this.command = server.command;
  }

  start() {
    return new Promise((resolve, reject) => {
      this.process = spawn(this.command, { stdio: ["pipe", "pipe", "inherit"] });
      this.process.on("error", reject);
      this.process.stdout.on("data", (text) => {
        LanguageClient.answer = String(text);
        resolve();
      });
      const ask = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize",
                                   params: { processId: null, rootUri: null, capabilities: {} } });
      this.process.stdin.write(`Content-Length: ${ask.length}\r\n\r\n${ask}`);
    });
  }

  stop() {
    this.process.kill();
  }
}

/// The extension in an editor with this setting; what it tells the user.
async function activate(server, library) {
  const told = [];
  const vscode = {
    window: { showInformationMessage: (text) => told.push(text), showErrorMessage: (text) => told.push(text) },
    workspace: { getConfiguration: (section) => ({ get: (name) => ({ "tally.server": server })[`${section}.${name}`] }) },
  };
  Module._load = (name, ...rest) => {
    if (name === "vscode") return vscode;
    if (name === "vscode-languageclient/node") {
      if (library) return library;
      throw Object.assign(new Error("not installed"), { code: "MODULE_NOT_FOUND" });
    }
    return load(name, ...rest);
  };
  const file = path.join(__dirname, "..", "extension.js");
  delete require.cache[file];
  const extension = require(file);
  await extension.activate();
  return { told, extension };
}

(async () => {
  const { main, contributes } = require("../package.json");
  assert.strictEqual(main, "./extension.js");
  const server = contributes.configuration.properties["tally.server"].default;

  const started = await activate(server, { LanguageClient });
  assert.deepStrictEqual(started.told, []);
  assert.match(LanguageClient.answer, /"name":"tally-lsp-server"/);
  started.extension.deactivate();

  const alone = await activate(server, undefined);
  assert.strictEqual(alone.told.length, 1);
  assert.match(alone.told[0], /npm install/);
  alone.extension.deactivate();

  const missing = await activate("no-such-server", { LanguageClient });
  assert.strictEqual(missing.told.length, 1);
  assert.match(missing.told[0], /cannot start 'no-such-server' .*'tally\.server'/);
})();
