"""The conversations of `conversations.py` read by a model instead of rules:

    python -m benchmarks.extraction.extraction_model URL [--name MODEL] [FILE ...]

Slow: a call for each message of the user that holds words of theirs.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence

from benchmarks.extraction import conversations
from benchmarks.extraction.conversations import ExtractionScore, LabelledConversation, Said
from memtree.config import Settings
from memtree.jobs.model_readers import ModelReader
from memtree.jobs.runtime import SystemClock
from memtree.jobs.spending import MeteredModel, Spending
from memtree.jobs.summary_stage import open_endpoint
from memtree.memories.message_extraction import UserMessage
from memtree.memories.rule_extraction import Candidate
from memtree.memories.scope import Scope
from memtree.stores import RamStore

SCOPE = Scope.of_user("benchmark")


async def read(url: str, name: str, cases: Sequence[LabelledConversation]) -> ExtractionScore:
    settings = Settings(summary_base_url=url, summary_model=name, summary_seconds=600)
    metered = MeteredModel(open_endpoint(settings, 1), Spending(RamStore(), SystemClock()))
    reader = ModelReader(metered)
    found: dict[str, tuple[Candidate, ...]] = {}
    for said in [said for case in cases for said in case.messages if said.role == "U"]:
        message = UserMessage(said.text.encode(), said.text, conversations.SAID)
        for row in await reader.read(SCOPE, [message]):
            found[said.text] = tuple(row.candidates)
            print(f"{len(found)}: {[one.text for one in row.candidates]}", flush=True)
    await metered.close()

    def extracted(before: Sequence[Said], text: str) -> tuple[Candidate, ...]:
        return () if conversations.is_play(before) else found.get(text, ())

    return conversations.score(cases, extracted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("files", nargs="*", default=conversations.FILES[-1:])
    parser.add_argument("--name", default="small")
    options = parser.parse_args()
    for file in options.files:
        total = asyncio.run(read(options.url, options.name, conversations.conversations(file)))
        print(f"{file}: precision {total.precision:.1f} %, recall {total.recall:.1f} %")
        print(*(f"wrong: {text}" for text in total.wrong), sep="\n")


if __name__ == "__main__":
    main()
