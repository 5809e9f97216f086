#!/usr/bin/env python3
"""Runs every installed program from an empty environment and another directory.

usage: check-install.py PREFIX [MLIR_OPT]

What was installed has to find its shared libraries, its machines and each other by itself: no
variable, no build folder, no sources help it. The programs are run where they were installed and, since
a tree may be moved, from a copy elsewhere. The plugin is loaded into a stock mlir-opt.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KERNEL = """tally.kernel @k {
  tally.engine "sync" weight 16
  tally.engine "scalar"
  tally.loop "A" trips "n" max 1000 {
    tally.instr "load" on "sync"
    tally.instr "scale" on "scalar"
  }
  tally.dep "load" -> "scale"
  tally.dep "scale" -> "load" at "A" = 2
}
"""
WRONG = 'tally.kernel @k {\n  tally.instr "x" on "pool"\n}\n'
PIPELINE = "builtin.module(tally-sync{strategy=per-loop machine=trn2},tally-to-scf,cse)"
TIMEOUT_SECONDS = 60


NKI = """import nki, nki.isa as nisa, nki.language as nl
@nki.jit
def scale(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(4):
        tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:(i + 1) * 128])
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128], src=tile)
    return out
"""


class Failure(Exception):
    pass


class Installed:
    def __init__(self, prefix, folder):
        self.prefix, self.folder = prefix, folder

    def run(self, command, status=0, given=b""):
        """What the command prints, in an empty environment."""
        done = subprocess.run([str(part) for part in command], cwd=self.folder, env={}, input=given,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT_SECONDS, check=False)
        text = done.stdout.decode(errors="replace")
        if done.returncode != status:
            raise Failure(f"{command[0]}: exit status {done.returncode}, with this output:\n{text}")
        return text

    def expect(self, command, *texts, status=0, given=b""):
        output = self.run(command, status, given)
        for text in texts:
            if text not in output:
                raise Failure(f"{command[0]}: no '{text}' in:\n{output}")

    def program(self, name):
        return self.prefix / "bin" / name

    def tally(self):
        program = self.program("tally")
        kernel = self.folder / "k.mlir"
        kernel.write_text(KERNEL, encoding="utf-8")
        self.expect([program, "--version"], "tally")
        self.expect([program, "plan", kernel, "--machine=trn2"], "machine 'trn2'")
        self.expect([program, "check", "k.mlir", "--machine=trn2"], "verdict: yes")
        self.expect([program, "machine", "check", "trn1", "trn2", "teaching"], "machine 'trn1'")
        # Its own machines, not those of a build or of sources that happen to be there.
        machines = self.prefix / "share/tally/machines"
        self.expect([program, "machine", "check", "nosuch"],
                    f"there is no 'nosuch.json' in '{machines}';", status=2)

    def shell(self):
        """Completion and the manual are there, and complete what the installed program has."""
        share = self.prefix / "share"
        completion = share / "bash-completion/completions/tally"
        script = (f'PATH={self.prefix}/bin:/usr/bin:/bin; source {completion}; COMP_WORDS=(tally machine check tr); '
                  'COMP_CWORD=3; _tally; echo ${COMPREPLY[@]}')
        self.expect(["/bin/bash", "-c", script], "trn1 trn2")
        for file in ["man/man1/tally.1", "man/man1/tally-machine-check.1", "zsh/site-functions/_tally",
                     "man/man1/tally-nki.1", "man/man1/tally-nki-compare.1", "man/man1/tally-nki-corpus.1", "zsh/site-functions/_tally-nki",
                     "bash-completion/completions/tally-nki", "tally/editors/vscode/package.json"]:
            if not (share / file).is_file():
                raise Failure(f"there is no '{share / file}'")
        pages = [page.read_text(encoding="utf-8") for page in (share / "man/man1").glob("*.1")]
        documents = set(re.findall(r"docs/[\w/]+\.md", "\n".join(pages)))
        if not documents:
            raise Failure("the manual names no document")
        for document in sorted(documents):
            if "/X." not in document and not (share / "doc/tally" / document).is_file():
                raise Failure(f"the manual names '{document}', which is not installed")

    def tally_certify(self):
        self.expect([self.program("tally"), "compile", "k.mlir", "--certify=k.cert", "-o", "k.out"],
                    "certified: 'k'")
        self.expect([self.program("tally-certify"), "k.cert"], "certified: 'k'")
        self.expect([self.program("tally-certify"), "--version"], "tally-certify ")

    def tally_nki(self):
        """A kernel in Python, and the data of what came of it."""
        (self.folder / "scale.py").write_text(NKI, encoding="utf-8")
        self.expect([self.program("tally-nki"), "scale.py", "scale", "--arg=x=f32[512,64]", "-o", "n.json",
                     "--inputs=in"], "12 operations -> 3 instructions")
        self.expect([self.program("tally"), "sim", "n.json", "--machine=trn2", "--inputs=in", "--check-data"],
                    "as after the sequential run")

    def tally_opt(self):
        self.expect([self.program("tally-opt"), "k.mlir", f"--pass-pipeline={PIPELINE}"],
                    "func.func @k_scalar")

    def tally_lsp_server(self):
        """An editor opens a file with a mistake, and is told."""
        document = {"uri": "file:///wrong.mlir", "languageId": "mlir", "version": 1, "text": WRONG}
        messages = [
            {"id": 0, "method": "initialize",
             "params": {"processId": None, "rootUri": None, "capabilities": {}}},
            {"method": "initialized", "params": {}},
            {"method": "textDocument/didOpen", "params": {"textDocument": document}},
            {"id": 1, "method": "shutdown"},
            {"method": "exit"},
        ]
        given = b""
        for message in messages:
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            given += b"Content-Length: %d\r\n\r\n" % len(body) + body
        self.expect([self.program("tally-lsp-server")], '"textDocument/publishDiagnostics"',
                    "unknown queue 'pool'", given=given)

    def plugin(self, mlir_opt):
        plugin = next(self.prefix.glob("lib*/**/TallyPlugin.so"), None)
        if plugin is None:
            raise Failure("there is no TallyPlugin.so")
        self.expect([mlir_opt, "k.mlir", f"--load-dialect-plugin={plugin}",
                     f"--load-pass-plugin={plugin}", f"--pass-pipeline={PIPELINE}"],
                    "func.func @k_scalar")

    def check(self, mlir_opt):
        checks = {"tally": self.tally, "tally-nki": self.tally_nki, "tally-certify": self.tally_certify,
                  "tally-opt": self.tally_opt, "tally-lsp-server": self.tally_lsp_server}
        programs = {path.name for path in (self.prefix / "bin").iterdir()}
        if programs != set(checks):
            raise Failure(f"the programs {sorted(programs)} are installed, and {sorted(checks)} are run")
        for check in checks.values():
            check()
        self.shell()
        self.plugin(mlir_opt)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    prefix = Path(sys.argv[1]).resolve()
    mlir_opt = Path(sys.argv[2]) if len(sys.argv) == 3 else shutil.which("mlir-opt-22")
    with tempfile.TemporaryDirectory(prefix="tally-install-") as name:
        folder = Path(name).resolve()
        moved = folder / "moved"
        shutil.copytree(prefix, moved, symlinks=True)
        for place, where in [("where it was installed", prefix), ("from a copy", moved)]:
            work = folder / os.path.basename(where) / "work"
            work.mkdir(parents=True)
            try:
                Installed(where, work).check(mlir_opt)
            except (Failure, OSError, subprocess.TimeoutExpired) as problem:
                sys.exit(f"error: {place}: {problem}")


if __name__ == "__main__":
    main()
