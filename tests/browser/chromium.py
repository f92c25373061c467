"""Where a Chromium is that the tests may drive, and one that is driven.

Playwright's own API for tests keeps an event loop running in the thread that uses it, in which no
coroutine test could run any more. So one thread of each test process holds the browser, and the
tests that need it run there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
UNPACKED = Path(__file__).parent / "node_modules" / ".chromium" / "chromium"  # of `make browser`
FLAGS = [
    "--disable-dev-shm-usage", "--disable-gpu", "--disable-extensions", "--mute-audio",
    # Foreign names lead to this machine: nothing leaves it, and one of them can be made to point
    # at the server. *.local is how a server in a LAN is called.
    "--host-resolver-rules=MAP *.example 127.0.0.1, MAP *.local 127.0.0.1",
]  # fmt: skip
MISSING = "no Chromium with Playwright here: run `make browser`, or set MEMTREE_CHROMIUM"

Result = TypeVar("Result")


def program() -> Path | None:
    """The Chromium to drive: MEMTREE_CHROMIUM, else on the PATH, else as `make browser` left it."""
    if named := os.environ.get("MEMTREE_CHROMIUM"):
        return Path(named)
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    return UNPACKED if UNPACKED.exists() else None


class BrowserThread:
    """A browser, and the thread that it is used from. Raises `ModuleNotFoundError` without
    Playwright, and `FileNotFoundError` without a Chromium."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "browser")
        self._closing = contextlib.ExitStack()
        try:
            self.browser: Browser = self.run(self._open)
        except BaseException:
            self._pool.shutdown()
            raise

    def run(self, act: Callable[[], Result]) -> Result:
        return self._pool.submit(act).result()

    def close(self) -> None:
        self.run(self._closing.close)
        self._pool.shutdown()

    def _open(self) -> Any:
        from playwright.sync_api import sync_playwright

        path = program()
        if path is None or not path.exists():
            raise FileNotFoundError(MISSING)
        playwright = self._closing.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=str(path), args=FLAGS)
        self._closing.callback(browser.close)
        return browser


def main() -> int:
    """Say which Chromium the tests would drive; 1 where there is none."""
    path = program()
    print(path if path else "no Chromium yet")
    return 0 if path and path.exists() else 1


if __name__ == "__main__":
    sys.exit(main())
