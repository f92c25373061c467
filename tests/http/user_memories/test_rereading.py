"""Read again what earlier rules stored, when a conversation of its user is read."""

from __future__ import annotations

from memtree.memories.memory import EXTRACTED
from tests.http.owned.injecting import Notebook, chatting, user
from tests.http.served.upstream import FakeUpstream


async def test_an_old_memory_stands_from_the_second_message_on(base: str, upstream: FakeUpstream):
    notebook = Notebook()
    await notebook.switch(notebook.user(), save=True)
    old = await notebook.save("User said: I'm blind", scope=notebook.user(), source_type=EXTRACTED)
    async with chatting(base, upstream, notebook) as chat:
        chat.services.extraction.start()
        for _ in range(2):
            await chat.post([user("Which wine goes with fish?")], None)
            await chat.services.extraction.join()
        assert "User is blind" in str(chat.messages)
        await chat.services.extraction.close()
    [memory] = (await notebook.book.page(notebook.user())).memories
    assert (memory.id, memory.text, memory.standing) == (old.id, "User is blind", "fact")
