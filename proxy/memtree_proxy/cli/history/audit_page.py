"""The report of `memtree audit` as one HTML page without external files.

All its text comes from conversations and models, so all of it is escaped, and the page forbids
scripts and external content: HTML in a conversation is shown as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from memtree.summaries.audit_report import AuditEntry, Report, Version

STYLE = """
:root { color-scheme: light dark; --line: #d0d0d8; --soft: #f4f4f7; --dim: #5c5c6a; --bad: #b3261e;
  --mark: #1d5fa8; }
@media (prefers-color-scheme: dark) { :root { --line: #3c3c46; --soft: #222228; --dim: #a2a2b0;
  --bad: #ff8a80; --mark: #8ab8f0; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; color: var(--mark); }
h3 { font-size: .8rem; margin: 0 0 .4rem; color: var(--dim); text-transform: uppercase; }
.row { display: grid; grid-template-columns: 2fr 1fr 1fr; gap: 1rem; }
@media (max-width: 60rem) { .row { grid-template-columns: 1fr; } }
section { border: 1px solid var(--line); border-radius: .4rem; padding: .8rem; min-width: 0; }
.text { background: var(--soft); max-height: 26rem; overflow: auto; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 .8rem; font: 13px/1.45
  ui-monospace, monospace; }
p { margin: .3rem 0; overflow-wrap: anywhere; }
.dim { color: var(--dim); font-size: .85rem; } .bad { color: var(--bad); } b { font-weight: 600; }
"""
# `frame-ancestors` has no effect in a page; everything else falls back to `default-src`.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(report: Report, name: str) -> str:
    """Return the report as an HTML page. `name`: of the audited file."""
    title = f"Summaries of {name}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_said(title)}</title><style>{STYLE}</style></head><body>",
            f"<h1>{_said(title)}</h1>",
            f"<p>{len(report.entries)} of {report.nodes:,} nodes. {_said(_cost(report))}</p>",
            *(line for entry in report.entries for line in _entry(entry)),
            "</body></html>\n",
        ]
    )


def _entry(entry: AuditEntry) -> Iterator[str]:
    first, last = entry.messages
    where = f"message {first}" if first == last else f"messages {first} to {last}"
    kind = "Leaf" if not entry.level else f"Level {entry.level}"
    yield f"<h2>{kind}, {where}, {entry.tokens:,} tokens</h2>"
    yield '<div class="row"><section class="text" tabindex="0">'
    yield f"<h3>{'Text' if not entry.level else 'Headlines of its children'}</h3>"
    for label, text in entry.text:
        yield f'<p class="dim">{_said(label)}</p><pre>{_said(text)}</pre>'
    yield "</section><section><h3>Extraction</h3>"
    yield from _version(entry.extraction)
    yield f"</section><section><h3>Model: {_said(entry.state)}</h3>"
    if entry.model:
        yield from _version(entry.model)
    if any(entry.cost):
        yield f'<p class="dim">{entry.cost[0]:,} tokens in, {entry.cost[1]:,} out</p>'
    yield "</section></div>"


def _version(version: Version) -> Iterator[str]:
    yield f"<p><b>{_said(version.headline)}</b></p><p>{_said(version.body)}</p>"
    yield f'<p class="dim">{version.tokens} tokens</p>'
    for problem in version.problems:
        detail = f": {problem.detail}" if problem.detail else ""
        yield f'<p class="bad">{_said(problem.name + detail)}</p>'


def _cost(report: Report) -> str:
    if not report.model:
        return "No model for summaries is configured."
    money = f", {report.money:.6f} in money" if report.priced else ""
    return (
        f"For this report {report.model} was asked {report.calls} time(s): {report.input:,} tokens "
        f"in, {report.output:,} out{money}."
    )


def _said(text: str) -> str:
    return escape(text.encode(errors="replace").decode())
