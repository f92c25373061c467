"""A window of its own for a test, and everything that must not happen in it.

The window has its own storage, as another profile would. A page is spoiled by an error in its
console, a violation of its policy, a dialog, or a request to any host but the server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request

KEY_NAME = "memtree.key"
PATIENCE = 180_000  # ms; none of them passes where all is well
# What Chromium says of each answer with an error status is no error of the page.
_REFUSED = re.compile(r"^Failed to load resource: ")
_REPORT = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.effectiveDirective} ${event.blockedURI}`));"""
# A toast is gone after seconds, which a busy machine may take for anything else. So each is noted
# as it comes, and one that offers something stays, as it does under a pointer.
_NOTE_TOASTS = """window.toldInPassing = [];
new MutationObserver((changes) => {
  for (const one of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
    for (const toast of one.matches?.(".toast") ? [one] : one.querySelectorAll?.(".toast") ?? []) {
      window.toldInPassing.push(toast.textContent);
      if (toast.querySelector(".button")) toast.dispatchEvent(new MouseEvent("mouseenter"));
    }
  }
}).observe(document, { childList: true, subtree: true });"""


@dataclass  # without slots: Playwright notes what it has called at whose method it is
class WatchedContext:
    """`allowed`: patterns of problems that a test brings about on purpose."""

    context: BrowserContext
    url: str
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(_REPORT)
        self.context.add_init_script(_NOTE_TOASTS)
        self.context.on("console", self._said)
        self.context.on("dialog", self._asked)
        self.context.on("request", self._sent)
        self.context.on("weberror", lambda error: self.problems.append(f"error: {error.error}"))

    def page(self, path: str, key: str | None) -> Page:
        """`key`: as the user gave it, "" for none; None: nobody was asked yet."""
        page = self.context.new_page()
        if key is not None:
            page.add_init_script(
                f"if (location.origin === {self.url!r} && sessionStorage.getItem('{KEY_NAME}')"
                f" === null) sessionStorage.setItem('{KEY_NAME}', {key!r});"
            )
        page.goto(self.url + path)
        return page

    def end(self) -> list[str]:
        """Close it; what went wrong."""
        # A handler may be at work on a request that no test waits for any more: what it meets
        # when the window closes would fail the next test.
        for page in self.context.pages:
            page.unroute_all(behavior="ignoreErrors")
        self.context.close()
        return [
            problem
            for problem in self.problems
            if not any(re.search(pattern, problem) for pattern in self.allowed)
        ]

    def _said(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        where = message.location.get("url", "")
        if _REFUSED.match(message.text) and urlsplit(where).path.startswith("/v1/"):
            return
        self.problems.append(f"console {message.type}: {message.text} ({where})")

    def _asked(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _sent(self, request: Request) -> None:
        self.requests.append(f"{request.method} {request.url}")
        if not request.url.startswith((f"{self.url}/", "about:", "blob:")):
            self.problems.append(f"request to another host: {request.url}")
