#!/usr/bin/env python3
"""Makes one site of the gallery: a page for each kernel, with timelines, and an index.

usage: gallery.py --bin DIR --out DIR [--check]

Kernels and their order are those of the table in docs/gallery/README.md. A kernel NAME has a folder with
NAME.md, NAME.mlir and NAME.json, which are the same kernel, and NAME.py, which says it in NKI. Needs Python-Markdown.

--check also tells whether text and JSON lead to the same code, whether each link leads to a file, and
whether Chromium shows each page.
"""

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import markdown

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs/gallery"
ENTRY = re.compile(r"\((?P<name>[\w-]+)/(?P=name)\.md\)")
LEAST_KERNELS = 10
TIMEOUT_SECONDS = 120
KINDS = (".mlir", ".json", ".py")

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 1em auto; padding: 0 1em; color: #222; background: #fff }
pre { background: #f4f4f4; padding: .7em; overflow-x: auto; font-size: 85% } code { font-size: 92% }
table { border-collapse: collapse } td, th { text-align: left; padding: .3em .8em; border-bottom: 1px solid #ccc }
nav { display: flex; justify-content: space-between } iframe { width: 100%; height: 34em; border: 1px solid #ccc }
"""

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{style}</style></head><body>
{nav}
{body}
{nav}
</body></html>
"""


def names():
    return [match["name"] for match in ENTRY.finditer((GALLERY / "README.md").read_text(encoding="utf-8"))]


class Site:
    def __init__(self, programs, out):
        self.programs, self.out = programs, out

    def tally(self, *arguments, folder):
        done = subprocess.run([self.programs / "tally", *arguments, "--quiet"], cwd=folder, capture_output=True,
                              text=True, timeout=TIMEOUT_SECONDS, check=False)
        if done.returncode != 0:
            sys.exit(f"tally {' '.join(map(str, arguments))} failed:\n{done.stderr}")
        return done.stdout

    def make(self):
        self.out.mkdir(parents=True, exist_ok=True)
        self.write(GALLERY / "README.md", self.out / "index.html", "")
        all_names = names()
        for before, name, after in zip([None, *all_names], all_names, [*all_names[1:], None]):
            self.make_kernel(name, before, after)

    def make_kernel(self, name, before, after):
        folder = self.out / name
        folder.mkdir(exist_ok=True)
        for kind in KINDS:
            source = GALLERY / name / (name + kind)
            if not source.exists():
                sys.exit(f"'{source.relative_to(ROOT)}' does not exist; a kernel of the gallery has {', '.join(KINDS)}")
            shutil.copy(source, folder)
        self.tally("report", f"{name}.mlir", "-o", "timelines.html", folder=folder)

        def link(to, text):
            return f'<a href="../{to}/{to}.html">{text} {to}</a>' if to else "<span></span>"

        nav = f'<nav>{link(before, "&larr;")}<a href="../index.html">Gallery</a>{link(after, "&rarr;")}</nav>'
        end = ('\n<h2>Timelines</h2>\n<p><a href="timelines.html">On a page of their own</a></p>'
               '\n<iframe src="timelines.html" title="Timelines" loading="lazy"></iframe>')
        self.write(GALLERY / name / f"{name}.md", folder / f"{name}.html", nav, end)

    def write(self, page, path, nav, end=""):
        text = page.read_text(encoding="utf-8")
        title = re.match(r"# (.*)", text)[1]
        body = markdown.markdown(text, extensions=["fenced_code", "tables"]) + end
        body = re.sub(r'href="([^"#:]+\.md)(#[^"]*)?"', lambda match: self.link(match, page, path), body)
        path.write_text(PAGE.format(title=html.escape(title), style=STYLE, nav=nav, body=body), encoding="utf-8")

    @staticmethod
    def link(match, page, path):
        """Pages of the gallery lead to one another; to other documents from where the site is."""
        target = (page.parent / match[1]).resolve()
        if target.is_relative_to(GALLERY):
            return f'href="{match[1].removesuffix(".md")}.html"'
        return f'href="{os.path.relpath(target, path.parent)}{match[2] or ""}"'

    # ---- Whether it is right ----------------------------------------------------------------

    def faults(self):
        listed, folders = names(), sorted(path.name for path in GALLERY.iterdir() if path.is_dir())
        if sorted(listed) != folders or len(listed) < LEAST_KERNELS:
            yield f"docs/gallery/README.md lists {listed}; the folders are {folders}"
        for name in listed:
            if self.code(f"{name}.mlir") != self.code(f"{name}.json"):
                yield f"{name}.mlir and {name}.json lead to different code"
        pages = [self.out / "index.html", *(self.out / name / f"{name}.html" for name in listed)]
        for page in pages:
            yield from self.dead_links(page)
            yield from self.unseen(page)

    def code(self, file):
        return self.tally("compile", file, "--format=json", "--compact", folder=self.out / Path(file).stem)

    @staticmethod
    def dead_links(page):
        for target in re.findall(r'(?:href|src)="([^"#:]+)', page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                yield f"{page}: '{target}' does not exist"

    @staticmethod
    def unseen(page):
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(
                ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--proxy-server=127.0.0.1:9", f"--user-data-dir={home}",
                 "--enable-logging=stderr", "--dump-dom", page.resolve().as_uri()],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                env=dict(os.environ, HOME=home), check=False)
        if "<h1>" not in done.stdout:
            yield f"{page}: Chromium shows no heading"
        yield from (f"{page}: {line}" for line in done.stderr.splitlines() if "CONSOLE" in line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    site = Site(arguments.bin.resolve(), arguments.out)
    site.make()
    print(f"{len(names())} kernels: {arguments.out / 'index.html'}")
    faults = list(site.faults()) if arguments.check else []
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
