"""The page: what became of each kernel, as JSON and as HTML for a narrow window.

Every question has a state, and only "yes" and "agrees" are good news: what was not run or not compared says
so, with the reason. The HTML needs only a browser.
"""

from html import escape

from .measure import STRATEGIES

_GOOD, _BAD = ("yes", "agrees", "traced"), ("no", "differs")


def document(root, program, machine, entries, in_tests, version):
    rows = [{key: value for key, value in entry.items() if key not in ("key", "files")} for entry in entries]
    return {"schema": "tally-nki-corpus", "version": 1, "tally_nki": version, "checkout": root, "machine": machine,
            "tally": program is not None, "kernels": rows, "in_tests": in_tests, "summary": _summary(rows)}


def _summary(rows):
    done = [row for row in rows if row["state"] == "traced"]

    def count(question, state):
        return sum(row[question]["state"] == state for row in done)

    large = [row for row in done if row["operations"] >= 500]
    return {"kernels": len(rows), "traced": len(done),
            "reference": {state: count("reference", state) for state in ("agrees", "differs", "not compared")},
            "race": {state: count("race", state) for state in ("yes", "no", "could not decide", "not run")},
            "data": {state: count("data", state) for state in ("yes", "no", "not followed", "not run")},
            "rolled": {"of_at_least_500": len(large),
                       "at_most_a_fifth": sum(5 * row["instructions"] <= row["operations"] for row in large)}}


def summary_line(document):
    found = document["summary"]
    return (f"{found['traced']} of {found['kernels']} kernels traced; reference: {_counts(found['reference'])}; "
            f"race check: {_counts(found['race'])}; data: {_counts(found['data'])}")


def _counts(states):
    return ", ".join(f"{state} {count}" for state, count in states.items() if count) or "none"


def line(entry):
    """A kernel in one line, for the progress."""
    if entry["state"] != "traced":
        problem = entry["problem"]
        return f"not traced: {problem['kind']}: {_where(problem)}{problem['text'][:160]}"
    return (f"{entry['operations']} -> {entry['instructions']}, reference {entry['reference']['state']}{_some(entry['reference'])}, "
            f"race {entry['race']['state']}, data {entry['data']['state']}")


def _where(problem):
    return f"{problem['file']}:{problem['line']}: " if problem.get("file") else ""


# ---- HTML -----------------------------------------------------------------------------------

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #c4302b; --open: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --good: #57c06b; --bad: #ff7b72; --open: #d9a520; } }
body { font: 16px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 60rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); padding: .45rem 0; }
summary { cursor: pointer; } summary b { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(7rem, 11rem) 1fr; gap: .2rem .8rem; margin: .5rem 0 .8rem; }
dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } td, th { padding: 0 .8rem 0 0; text-align: right; }
td:first-child, th:first-child { text-align: left; } th { font-weight: normal; opacity: .75; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
"""


def html(document):
    files = {}
    for row in document["kernels"]:
        files.setdefault(row["file"], []).append(row)
    parts = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f"<title>Kernels of {escape(document['checkout'])}</title><style>{_STYLE}</style></head><body>",
             f"<h1>Kernels of {escape(document['checkout'])}</h1>", *_overview(document)]
    for file, rows in files.items():
        parts.append(f"<h2>{escape(file)}</h2>")
        parts += [part for row in rows for part in _entry(row)]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _overview(document):
    found = document["summary"]
    yield (f"<p><b>{found['traced']} of {found['kernels']}</b> kernels were traced, each at the smallest call that the "
           "checkout's own tests and examples make and that could be traced.</p><dl>")
    for name, key in (("Result against its reference", "reference"), ("Race check", "race"),
                      ("Simulated data against NumPy", "data")):
        yield f"<dt>{name}</dt><dd>{_counts(found[key])}</dd>"
    rolled = found["rolled"]
    yield (f"<dt>Rolled up</dt><dd>{rolled['at_most_a_fifth']} of {rolled['of_at_least_500']} kernels with 500 operations "
           "or more have at most a fifth as many instructions</dd></dl>")
    yield (f"<p>Simulated on <code>{escape(document['machine'])}</code>. What was not run, not compared or not followed is "
           f"never counted as a yes. {document['in_tests']} decorated functions in files of tests are left out.</p>")


def _entry(row):
    if row["state"] != "traced":
        problem = row["problem"]
        yield (f"<details><summary><b>{escape(row['kernel'])}</b> <span class=bad>not traced</span>: "
               f"{escape(problem['kind'])}</summary><dl><dt>Reason</dt><dd>{escape(problem['text'])}</dd>")
        if problem.get("file"):
            yield f"<dt>Where</dt><dd><code>{escape(problem['file'])}:{problem['line']}</code></dd>"
        yield from _failed(row)
        yield "</dl></details>"
        return
    states = " ".join(f"{name} {_state(row[key])}" for name, key in
                      (("reference", "reference"), ("race", "race"), ("data", "data")))
    yield f"<details><summary><b>{escape(row['kernel'])}</b> {row['operations']} → {row['instructions']}, {states}</summary><dl>"
    for name, text in _facts(row):
        yield f"<dt>{name}</dt><dd>{text}</dd>"
    yield from _failed(row)
    yield f"</dl>{_times(row)}</details>"


def _state(answer):
    state = answer["state"]
    kind = "good" if state in _GOOD else "bad" if state in _BAD else "open"
    return f'<span class={kind}>{escape(state)}</span>'


def _facts(row):
    call = f"{row['driver']} {row['case']}".strip()
    yield "Call", f"<code>{escape(call)}</code>" + (f", through <code>{escape(row['through'])}</code>" if row["through"] else "")
    yield "Operations → instructions", f"{row['operations']} → {row['instructions']}, {row['loops']} loops" + (
        f", program {escape(row['program'])} of its grid" if row["program"] else "")
    if row["dynamic_loops"]:
        yield "Dynamic loops", escape(", ".join(row["dynamic_loops"]))
    yield "Result against its reference", _reference(row["reference"])
    yield "Race check", _with_reason(row["race"])
    exact = row["dependences"]
    yield "Dependences", (f"{exact['exact']} of {exact['all']} exact" if "exact" in exact else _with_reason(exact))
    data = row["data"]
    yield "Simulated data against NumPy", _with_reason(data) + (
        f", {data['error']:.1e} of the largest number ({data['allowed']:.0e} allowed)" if "allowed" in data else "")
    timeline = row["timeline"]
    yield "Timeline", (f'<a href="{escape(row["folder"])}/{escape(timeline["file"])}">barrier, per-loop and auto</a>'
                       if timeline["state"] == "yes" else _with_reason(timeline))
    for said in row["obstacles"]:
        where = f"<code>{escape(said['file'])}:{said['line']}</code>: " if said.get("file") else ""
        yield "Not said", f"{where}{escape(said['reason'])}" + (f" ({said['count']} times)" if said["count"] > 1 else "")


def _reference(answer):
    text = _with_reason(answer)
    if "error" in answer:
        text += (f": {answer['error']:.2g} off, where the largest number is {answer['largest']:.3g}; by "
                 f"<code>{escape(answer['how'])}</code> with {answer['absolute']:g} absolute and {answer['relative']:g} relative")
    return text + (f"; {escape(answer['why'])}" if "why" in answer else "") + _some(answer)


def _some(reference):
    """If not all numbers are compared."""
    if "numbers" not in reference:
        return ""
    (seen, every), made = reference["numbers"], reference.get("made", 0)
    if not seen and made:
        return f"; {made} numbers are compared that are made of the {every}"
    return f"; {seen} of {every} numbers are compared" + (f", and {made} that are made of them" if made else "")


def _with_reason(answer):
    reason = answer.get("reason")
    return _state(answer) + (f": {escape(reason)}" if reason else "")


def _failed(row):
    for failed in row["failed_before"] if "failed_before" in row else ():
        call = f"{failed['driver']} {failed['case']}".strip()
        yield f"<dt>Not traced</dt><dd><code>{escape(call)}</code>: {escape(_where(failed) + failed['text'])}</dd>"


def _times(row):
    cells = []
    for name in STRATEGIES:
        time, size = row["latency"][name], row["code"].get(name)
        cells.append(f"<tr><td>{name}</td><td>{_number(time, 'us')}</td><td>{_number(size, 'instructions') if size else ''}</td></tr>")
    reasons = {name: answer["reason"] for name in STRATEGIES for answer in (row["latency"][name],) if answer.get("reason")}
    said = "".join(f"<p>{name}: {escape(reason)}</p>" for name, reason in reasons.items())
    return ("<table><tr><th>strategy</th><th>latency, us</th><th>instructions in code</th></tr>" + "".join(cells)
            + f"</table>{said}")


def _number(answer, key):
    if key not in answer:
        return _state(answer)
    return f"{answer[key]:,.1f}" if key == "us" else f"{answer[key]:,}"
