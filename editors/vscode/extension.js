// Colours come from the grammar. What needs an understanding of the kernel (errors, hover, completion,
// definitions, symbols) comes from tally-lsp-server, which this starts for each window.

const { window, workspace } = require("vscode");

const howToInstall = "tally: only colours and snippets. For errors and hover, run 'npm install' in the folder of this " +
  "extension and restart VS Code.";

let client;

/// The library that talks to language servers; nothing if it was not installed.
function clientLibrary() {
  try {
    return require("vscode-languageclient/node");
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    return undefined;
  }
}

exports.activate = async () => {
  const library = clientLibrary();
  if (!library) {
    window.showInformationMessage(howToInstall);
    return;
  }
  const command = workspace.getConfiguration("tally").get("server");
  client = new library.LanguageClient("tally", "tally", { command }, { documentSelector: [{ language: "tally" }] });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`tally: cannot start '${command}' (${error.message}); name it in the setting 'tally.server'`);
  }
};

exports.deactivate = () => client && client.stop();
