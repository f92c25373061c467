"""How fast the pages are, and what they cost the server beside a running chat.

    make page-speed        # prints three tables; a few minutes

First paint, time until the page's content is there and answers to keys, and the longest task, each
the median of three visits by a browser without a cache; with 0, 100 and 10,000 things, and over a
slow line (0.4 s for each answer, 50 kB a second). Then the
times of short chat requests, alone and while somebody opens the chat page once a second.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from memtree_proxy.server.web_pages import PAGES, ROOT, web_files
from tests.browser.chromium import BrowserThread
from tests.browser.served import new_key
from tests.browser.tree_pages.test_tree_sizes import NO_PLAN
from tests.browser.tree_pages.trees import ADDRESS, grown
from tests.browser.watched_context import WatchedContext
from tests.http.served.running import running
from tests.made.scripted import Say, Scripted
from tests.programs.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

THINGS = (0, 100, 10_000)
VISITS = 3
SLOW_LINE = {
    "offline": False,
    "latency": 400,
    "downloadThroughput": 50_000,
    "uploadThroughput": 50_000,
}
READY = {
    "/ui": (".beginning, .message", "chat messages"),
    "/ui/memories": ("article.memory, .empty", "memories"),
    "/ui/tree": (".tree-row, .empty", "nodes"),
    "/ui/requests": (".request-row, .empty", "requests"),
    "/ui/state": ("main h2", "requests"),
}
OBSERVE = """
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) =>
    one.duration))).observe({ type: "longtask", buffered: true });
  const look = () => {
    if (document.querySelector(SELECTOR)) {
      setTimeout(() => { window.ready = performance.now(); });
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
"""
TIMES = """() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  window.ready, Math.max(0, ...window.tasks)]"""
FILL_CHAT = """async (count) => {
  const { openDatabase } = await import("/ui/static/chat/store/database.js");
  const { newChat, newMessage } = await import("/ui/static/chat/store/ids.js");
  const database = await openDatabase();
  const chat = newChat("scripted", Date.now());
  let parent = null;
  for (let at = 0; at < count; at++) {
    const role = at % 2 ? "assistant" : "user";
    const text = `Message **${at}** says that berth ${at % 97} takes ${at} tonnes an hour.`;
    const message = newMessage({ chat: chat.id, parent, role, text }, Date.now() + at);
    parent = message.id;
    await database.change("messages", message.id, () => message);
  }
  chat.leaf = parent;
  chat.title = "Many messages";
  await database.change("chats", chat.id, () => chat);
  return chat.id;
}"""


def main() -> int:
    upstream = Scripted()
    with tempfile.TemporaryDirectory() as folder, running(upstream) as above:
        flags = ("--upstream", f"{above}/v1", "--embedder", "none")
        server = Server(Path(folder) / "speed.db", *flags)
        thread = BrowserThread()
        try:
            for row in beside(server, upstream):
                print(row)
            print()
            for row in thread.run(lambda: list(visits(thread, server))):
                print(row)
            print()
            for row in thread.run(lambda: list(slow_visits(thread, server))):
                print(row)
        finally:
            thread.close()
            server.stop()
    return 0


def visits(thread: BrowserThread, server: Server) -> Iterator[str]:
    yield "page           things              first paint   ready   longest task (ms)"
    for page in PAGES:
        selector, noun = READY[page.path]
        for things in THINGS[:1] if page.path in ("/ui/requests", "/ui/state") else THINGS:
            if page.path == "/ui" and things == THINGS[-1]:
                things = 3_000  # a chat of 10,000 messages is no chat
            prepare = prepared(page.path, things, server)
            times = [visit(thread, server, page.path, selector, prepare) for _ in range(VISITS)]
            paint, ready, task = (statistics.median(one) for one in zip(*times, strict=True))
            yield f"{page.path:14} {things:6} {noun:14} {paint:9.0f} {ready:9.0f} {task:9.0f}"


def slow_visits(thread: BrowserThread, server: Server) -> Iterator[str]:
    yield "slow line      first paint   ready (ms)"
    for page in PAGES:
        prepare = prepared(page.path, 0, server)
        selector, _ = READY[page.path]
        times = [
            visit(thread, server, page.path, selector, prepare, slow=True) for _ in range(VISITS)
        ]
        paint, ready, _ = (statistics.median(one) for one in zip(*times, strict=True))
        yield f"{page.path:14} {paint:11.0f} {ready:7.0f}"


def prepared(path: str, things: int, server: Server) -> tuple[str, Callable[[Page], str]]:
    """A key, and what gives the address to visit once a window is open."""
    key = new_key()
    if path == "/ui/memories" and things:
        lines = "\n".join(json.dumps({"text": f"Note {n} of the museum"}) for n in range(things))
        headers = {"authorization": f"Bearer {key}", "content-type": "application/octet-stream"}
        address = f"{server.url}/v1/memories/import"
        answer = httpx.post(address, content=lines, headers=headers, timeout=300, trust_env=False)
        assert answer.json()["imported"] == things

    def address_of(page: Page) -> str:
        if path == "/ui" and things:
            return f"/ui#chat={page.evaluate(FILL_CHAT, things)}"
        if path == "/ui/tree" and things:
            tree = grown(things * 7 // 8)
            page.context.route(
                f"**/conversations/{ADDRESS}/*",
                lambda route: route.fulfill(json=NO_PLAN if "plan" in route.request.url else tree),
            )
            return f"/ui/tree#conversation={ADDRESS}"
        return path

    return key, address_of


def visit(
    thread: BrowserThread,
    server: Server,
    path: str,
    selector: str,
    prepare: tuple[str, Callable[[Page], str]],
    *,
    slow: bool = False,
) -> tuple[float, float, float]:
    key, address_of = prepare
    context = thread.browser.new_context(viewport={"width": 1280, "height": 800})
    window = WatchedContext(context, server.url)
    window.begin()
    first = window.page("/ui/state", key)
    address = address_of(first)
    first.close()
    context.add_init_script(OBSERVE.replace("SELECTOR", json.dumps(selector)))
    page = window.page("/llms.txt" if slow else address, key)
    if slow:
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        session.send("Network.emulateNetworkConditions", SLOW_LINE)
        page.goto(server.url + address, wait_until="commit")
    while not page.evaluate("window.ready"):
        page.wait_for_timeout(50)
    page.wait_for_timeout(500)
    paint, ready, task = page.evaluate(TIMES)
    context.close()
    return paint, ready, task


def beside(server: Server, upstream: Scripted) -> Iterator[str]:
    """Chats alone and beside visits, in turns, so that what else the machine does hits both."""
    key = new_key()
    upstream.script(key, [Say("pong")] * 3_000)
    times: dict[bool, list[float]] = {False: [], True: []}
    visitor = [sys.executable, "-m", "tests.browser.page_speed", server.url, key]
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        for turn in range(20):
            visited = bool(turn % 2)
            process = subprocess.Popen(visitor, stdout=subprocess.PIPE) if visited else None
            if process is not None and process.stdout is not None:
                process.stdout.readline()  # it has begun
            times[visited] += [chat(client, key) for _ in range(100)]
            if process is not None:
                process.kill()
                process.communicate()
    yield "chat requests (ms)      p50     p99"
    for visited, name in ((False, "alone"), (True, "beside visits")):
        ordered = sorted(times[visited])
        yield f"{name:20} {pick(ordered, 0.5):6.1f}  {pick(ordered, 0.99):6.1f}"
    ratio = pick(sorted(times[True]), 0.99) / pick(sorted(times[False]), 0.99)
    yield f"p99 beside visits / alone: {ratio:.2f}"


def pick(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def chat(client: httpx.Client, key: str) -> float:
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "ping"}]}
    begun = time.perf_counter()
    answer = client.post(
        "/v1/chat/completions", json=body, headers={"authorization": f"Bearer {key}"}
    )
    assert answer.status_code == 200
    time.sleep(0.005)
    return (time.perf_counter() - begun - 0.005) * 1000


def visit_for_ever(url: str, key: str) -> None:
    """Open the chat page once a second, as a browser that was there before, and ask for lists. A
    process of its own: a thread would hold up the chats that are measured."""
    document = web_files(ROOT)["/ui"].content.decode()
    files = ["/ui", *dict.fromkeys(re.findall(r'(?:href|src)="(/ui[^"]+)"', document))]
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        tags = {path: client.head(path).headers["etag"] for path in files}
        print("begun", flush=True)
        while True:
            for path in files:
                client.get(path, headers={"if-none-match": tags[path]})
            for path in ("/v1/models", "/v1/memories", "/v1/usage"):
                client.get(path, headers={"authorization": f"Bearer {key}"})
            time.sleep(1.0)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        visit_for_ever(sys.argv[1], sys.argv[2])
    sys.exit(main())
