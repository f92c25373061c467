"""Steps that many tests of the chat page share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def send(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def wait_for_answer(page: Page, text: str) -> Locator:
    """The last answer, once it is complete and says this."""
    answer = answers(page).last
    answer.get_by_text(text).first.wait_for()
    page.get_by_role("button", name="Send").wait_for()
    return answer


def ask(page: Page, text: str, answer: str) -> None:
    """A message and its answer."""
    send(page, text)
    wait_for_answer(page, answer)


_STORED = """(shown) => new Promise((resolve, reject) => {
  const open = indexedDB.open("memtree-chats");
  open.onerror = () => reject(open.error);
  open.onsuccess = () => {
    const look = () => {
      const work = open.result.transaction(["chats", "messages"]);
      const message = work.objectStore("messages").get(shown);
      message.onsuccess = () => {
        const chat = work.objectStore("chats").get(message.result?.chat ?? "");
        chat.onsuccess = () => {
          const growing = message.result?.status === "streaming";
          if (chat.result?.leaf !== shown || growing) return setTimeout(look, 20);
          open.result.close();
          resolve();
        };
      };
    };
    look();
  };
})"""


def reload(page: Page) -> None:
    """Once the shown branch is stored."""
    page.evaluate(_STORED, page.locator("article").last.get_attribute("data-message"))
    page.reload()


_UNSENT = """(text) => new Promise((resolve, reject) => {
  const open = indexedDB.open("memtree-chats");
  open.onerror = () => reject(open.error);
  open.onsuccess = () => {
    const look = () => {
      const row = open.result.transaction(["chats"]).objectStore("chats").get("not begun");
      row.onsuccess = () => {
        if (row.result?.draft !== text) return setTimeout(look, 20);
        open.result.close();
        resolve();
      };
    };
    look();
  };
})"""


def wait_for_unsent(page: Page, text: str) -> None:
    """Until what was typed in a chat that is not begun is stored."""
    page.evaluate(_UNSENT, text)


def answers(page: Page) -> Locator:
    return page.locator("article.from-model")


def questions(page: Page) -> Locator:
    return page.locator("article.from-user")


def texts(page: Page) -> list[str]:
    """Return what the messages say, in order."""
    return [text.strip() for text in page.locator(".message-body").all_inner_texts()]


def badge(page: Page, count: int) -> None:
    """Wait until the button says that so many memories there are."""
    page.get_by_role("button", name=f"Memories: {count}", exact=True).wait_for()
