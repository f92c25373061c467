"""`python -m benchmarks.extraction.structured_model URL [FILE]`: labelled conversations by rules
alone, and by rules with a model. A small model takes minutes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.extraction.structured_extraction import (
    SAID,
    Expected,
    StructuredCase,
    cases,
    extracted,
    schemas,
    score,
)
from memtree.background.extracting.metered_model import MeteredModel
from memtree.background.extracting.structured_model_reader import StructuredModelReader
from memtree.background.runtime import SystemClock
from memtree.background.summarizing.spending import Spending
from memtree.memories.agents.slot_filling.merging import gathered, lacking
from memtree.memories.agents.slot_filling.schema_fields import kind_fields
from memtree.memories.extraction.fiction import is_role_play
from memtree.memories.message_extraction import UserMessage
from memtree.memories.scope import Scope
from memtree.models.chat.chat_endpoint import ChatEndpoint
from memtree.stores import RamStore


async def run(url: str, name: str) -> None:
    endpoint = ChatEndpoint(url, "small", parallel=1, seconds=600)
    metered = MeteredModel(endpoint, Spending(RamStore(), SystemClock()))
    reader = StructuredModelReader(metered)
    labelled = cases(name)
    found = [await _by_model(reader, case) for case in labelled]
    await metered.close()
    answers = dict(zip(map(id, labelled), found, strict=True))
    for title, total in (
        ("rules", score(labelled, extracted)),
        ("rules and model", score(labelled, lambda case: answers[id(case)])),
    ):
        print(f"{title}: {total.precision:.1f} % right of {total.right + len(total.wrong)}, "
              f"{total.recall:.1f} % found")  # fmt: skip
        for row in total.wrong:
            print("   wrong", row)
    print(dict(metered.totals.tokens), dict(metered.totals.calls))


async def _by_model(reader: StructuredModelReader, case: StructuredCase) -> Sequence[Expected]:
    known = schemas()
    kinds = [known[name] for name in case.kinds]
    messages = []
    fiction = False
    for at, (role, text) in enumerate(case.messages):
        if role == "user":
            message = UserMessage(str(at).encode(), text, SAID)
            messages.append(replace(message, fiction=fiction))
        fiction = fiction or (role != "tool" and is_role_play(text, role))
    rows = await reader.read(Scope.of_agent("t", "a"), messages, kinds)
    required = {one.kind: kind_fields(one).required for one in kinds}
    findings = [(at, finding) for at, row in enumerate(rows) for finding in row.findings]
    return [
        (one.kind, dict(one.data))
        for one in gathered(findings)
        if not lacking(one.data, required[one.kind])
    ]


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "structured_later.txt"))
