"""Make the pictures of the README and the docs from the real pages, with made-up content.

    make pictures        # writes docs/pictures/*.png

A picture has at most 256 colours, the page's most frequent ones, so that it stays small.
"""

from __future__ import annotations

import base64
import struct
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.browser.chromium import BrowserThread
from tests.browser.logged import page_of, rows
from tests.browser.pages import wait_until
from tests.browser.watched_context import WatchedContext
from tests.http.served.running import running
from tests.made.scripted import Say, Scripted
from tests.programs.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SIZE = (1280, 800)
KEY = "sk-pictures"
SETTLED = """new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
  resolve(!document.querySelector(".skeleton, [aria-busy=true]")))))"""
PIXELS = """async (encoded) => {
  const image = new Image();
  image.src = `data:image/png;base64,${encoded}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let text = "";
  for (let at = 0; at < data.length; at += 32768) {
    text += String.fromCharCode(...data.subarray(at, at + 32768));
  }
  return [image.width, image.height, btoa(text)];
}"""
MEMORIES: tuple[tuple[str, str, list[str]], ...] = (
    ("The staging API listens on port 8091.", "fact", ["harbour"]),
    ("Prefers short answers with a code sample first.", "preference", ["style"]),
    ("The database of the harbour project is PostgreSQL 17, and migrations run by hand.", "fact",
     ["harbour", "database"]),
    ("Never deploys on a Friday.", "constraint", ["harbour"]),
    ("Writes Go at work and Python at home.", "fact", []),
    ("Release names are seabirds: Auk, Booby, Cormorant.", "fact", ["harbour"]),
    ("Dates are written like 2026-03-07.", "preference", ["style"]),
)  # fmt: skip
SENTENCES = (
    "Ship {0} announces itself two hours ahead and gives a draught of {1} decimetres.",
    "Berth {1} takes {0} tonnes an hour, and is never offered to a ship that is too deep for it.",
    "The gauge at mole {1} is read every {0} seconds; after an hour of silence it is low water.",
    "Crane {0} is serviced on day {1} of the month, and its berth is closed until noon.",
    "Pilot boat {1} waits at buoy {0} when the wind is from the west.",
)
IN_CHAT = (
    "A tide gauge that is silent for an hour counts as low water.",
    "The staging API listens on port 8090.",
)
MODEL = b'"small-model"'
QUESTIONS = (
    "How should the berth planner treat a silent tide gauge?",
    "Which fields does the announcement of a ship need?",
    "Write the table for berths.",
    "What happens when two ships want the same berth?",
    "The staging API listens on port 8091 now.",
)
TABLE = """Here is the table, with the depth at low water:

```sql
CREATE TABLE berth (
    name   text PRIMARY KEY,
    length numeric NOT NULL,  -- metres
    depth  numeric NOT NULL   -- at low water
);
```
"""
LAST = (
    "Noted: the staging API listens on **port 8091**, no longer on 8090, and the planner's client "
    "has it. A tide gauge that is silent for an hour still counts as **low water**."
)


def notes(number: int) -> str:
    """About 2,500 tokens that say something else for each number."""
    return " ".join(
        SENTENCES[at % len(SENTENCES)].format(200 * number + at, (37 * at + number) % 97)
        for at in range(140)
    )


def steps() -> list[Say]:
    texts = [notes(number) for number in range(4)]
    return [
        *(Say(text) for text in texts[:2]),
        Say(f"{TABLE}\n{texts[2]}"),
        Say(texts[3]),
        Say(LAST),
    ]


class Upstream(Scripted):
    """With a model whose name says nothing of tests."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def renamed(message: Any) -> None:
            if "body" in message:
                message = {**message, "body": message["body"].replace(b'"scripted"', MODEL)}
            if "headers" in message:
                kept = [pair for pair in message["headers"] if pair[0] != b"content-length"]
                message = {**message, "headers": kept}
            await send(message)

        await super().__call__(scope, receive, renamed)


def draw_chat(page: Page, server: Server) -> None:
    for number, question in enumerate(QUESTIONS, 1):
        box = page.get_by_label("Message", exact=True)
        box.fill(question)
        box.press("Enter")
        wait_until(
            page, f"document.querySelectorAll('.message, [data-message]').length >= {number}"
        )
        page.get_by_role("button", name="Stop").wait_for(state="detached")
        if number == 1:
            remember(server, page.url.partition("#chat=")[2])
    page.locator(".message.from-user").last.get_by_role("button", name="Remember this").click()
    page.get_by_role("button", name="Memories").first.click()
    page.locator(".toast").wait_for()
    page.get_by_role("button", name="Dismiss").click()


def remember(server: Server, chat: str) -> None:
    for text in IN_CHAT:
        path = f"/v1/chat/api/{chat}/memory"
        body = {"content": text, "category": "fact", "messageId": "m1"}
        answer = server.post(path, body, authorization=f"Bearer {KEY}")
        assert answer.status_code == 201, answer.text


def draw_memories(page: Page, server: Server) -> None:
    page.get_by_text(MEMORIES[-1][0]).first.wait_for()


def draw_tree(page: Page, server: Server) -> None:
    page.get_by_role("button", name="Open the demo session").click()
    page.locator(".tree-answer .tree-status[aria-busy=false]").wait_for()


def draw_requests(page: Page, server: Server) -> None:
    noon = datetime.now(UTC).replace(hour=15, minute=7)
    listed = rows(60, noon)
    page.route("**/v1/requests?*", lambda route: route.fulfill(json=page_of(listed)))
    page.reload()
    page.locator(".request-row").first.wait_for()


def draw_state(page: Page, server: Server) -> None:
    page.route("**/v1/usage?*", lambda route: route.fulfill(json=month()))
    page.reload()
    page.get_by_text("Up to date").wait_for()
    page.get_by_role("heading", name="Requests per day").first.wait_for()


def month() -> dict[str, Any]:
    """An answer of `GET /v1/usage` after thirty days of work, with quiet weekends."""
    today = datetime.now(UTC).date()
    daily: list[dict[str, Any]] = []
    for ago in range(29, -1, -1):
        day = today - timedelta(days=ago)
        busy = 0 if day.weekday() > 4 else 14 + 7 * day.day % 11
        requests = {"packed": 5 * busy, "provisional": busy // 6, "below-threshold": 2 * busy}
        raw = 46_000 * busy
        daily.append(
            {
                "date": day.isoformat(),
                "requests": {state: times for state, times in requests.items() if times},
                "raw_tokens": raw,
                "sent_tokens": raw // 5,
                "saved_tokens": raw * 17 // 100,
            }
        )
    sums = {name: sum(day[name] for day in daily) for name in daily[0] if name.endswith("_tokens")}
    states: Counter[str] = Counter()
    for day_ in daily:
        states.update(day_["requests"])
    return {
        "period": {"first": daily[0]["date"], "last": daily[-1]["date"], "days": 30},
        "requests": {"total": states.total(), "by_state": dict(states)},
        **sums,
        "saved_money": {"amount": sums["saved_tokens"] / 1e6 * 3, "requests": states.total()},
        "pending": {"tokens": 0, "jobs": 0},
        "latency_ms": {"p50": 9.4, "p95": 61.2},
        "daily": daily,
    }


PICTURES: tuple[tuple[str, str, Callable[[Page, Server], None]], ...] = (
    ("chat", "/ui", draw_chat),
    ("memories", "/ui/memories", draw_memories),
    ("tree", "/ui/tree", draw_tree),
    ("requests", "/ui/requests", draw_requests),
    ("state", "/ui/state", draw_state),
)


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    upstream = Upstream()
    upstream.script(KEY, steps())
    with tempfile.TemporaryDirectory() as folder, running(upstream) as above:
        flags = ("--upstream", f"{above}/v1", "--target-tokens", "4000", "--embedder", "none")
        server = Server(Path(folder) / "pictures.db", *flags)
        thread = BrowserThread()
        try:
            fill(server)
            thread.run(lambda: make(thread, server))
        finally:
            thread.close()
            server.stop()
    return 0


def fill(server: Server) -> None:
    for text, category, tags in MEMORIES:
        body = {"text": text, "category": category, "tags": tags}
        answer = server.post("/v1/memories", body, authorization=f"Bearer {KEY}")
        assert answer.status_code == 201, answer.text


def make(thread: BrowserThread, server: Server) -> None:
    for name, path, draw in PICTURES:
        context = thread.browser.new_context(
            viewport={"width": SIZE[0], "height": SIZE[1]},
            color_scheme="light",
            reduced_motion="reduce",
            locale="en-US",
            timezone_id="UTC",
        )
        window = WatchedContext(context, server.url)
        window.begin()
        page = window.page(path, KEY)
        draw(page, server)
        page.mouse.move(1, SIZE[1] - 1)
        wait_until(page, SETTLED)
        picture = small(thread, page.screenshot())
        (FOLDER / f"{name}.png").write_bytes(picture)
        print(f"docs/pictures/{name}.png  {len(picture):,} bytes")
        problems = window.end()
        assert problems == [], problems


def small(thread: BrowserThread, png: bytes) -> bytes:
    """Return the picture with at most 256 colours."""
    page = thread.browser.new_page()
    width, height, encoded = page.evaluate(PIXELS, base64.b64encode(png).decode())
    page.close()
    pixels = np.frombuffer(base64.b64decode(encoded), np.uint8).reshape(-1, 4)[:, :3]
    palette, indices = reduced(pixels)
    lines = np.zeros((height, width + 1), np.uint8)  # each begins with its filter: none
    lines[:, 1:] = indices.reshape(height, width)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data)
        for kind, data in (
            (b"IHDR", header),
            (b"PLTE", palette.tobytes()),
            (b"IDAT", zlib.compress(lines.tobytes(), 9)),
            (b"IEND", b""),
        )
    )


def reduced(pixels: Any) -> tuple[Any, Any]:
    """The most frequent colours (at most 256), and for each pixel the number of the nearest."""
    colours, inverse, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    kept = colours[np.argsort(-counts, kind="stable")[:256]]
    apart = (colours[:, None, :].astype(np.int32) - kept[None, :, :].astype(np.int32)) ** 2
    nearest = apart.sum(axis=2).argmin(axis=1).astype(np.uint8)
    return kept, nearest[inverse.reshape(-1)]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    sys.exit(main())
