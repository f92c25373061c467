"""Facts planted into a history, and how many of them summaries keep, level by level.

A fact is a natural sentence that one of the speakers says, and the words that a text must hold to
keep it: all of its keys, in any order and case. A hundred of them, of eight kinds, half about
software, half about people.
What this file does not do: call a model, or grow a tree.

    >>> fact = FACTS[0]
    >>> fact.sentence
    'We set the retry budget of the gateway to 17 after the outage.'
    >>> kept(fact, "retry budget of gateway: 17"), kept(fact, "retry budget of gateway: 170")
    (True, False)
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memtree.history.chat_history import History
from memtree.history.message import Message
from memtree.tree.node import Node, Summary

KINDS = ("value", "path", "rule", "decision", "error", "name", "date", "number")
CODING, CHAT = "coding", "chat"
TOP = "top"


@dataclass(frozen=True, slots=True)
class Fact:
    """`keys`: words or phrases; of one written "a|b" either will do."""

    kind: str
    about: str
    role: str
    sentence: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A node: its level ("0" is a leaf; "top" too where it has no parent), the text below it and
    its summary."""

    level: str
    below: str
    summary: str


# kind | about | role | sentence | which of the words filled in are keys; below it these words,
# one line a fact
_WRITTEN = """\
value|coding|user|We set the {} of the {} to {} after the outage.|0 2
retry budget,gateway,17
pool size,ledger,42
idle timeout,broker,95
batch limit,importer,640
heartbeat,scheduler,23
path|coding|assistant|The {} is configured in {} and nowhere else.|1
rate limiter,deploy/edge/limits_zone.toml
mail relay,ops/relay/smtp_route.yaml
feature switch,src/flags/rollout_table.json
session cookie,web/auth/cookie_policy.py
crash handler,native/hooks/sigtrap_stub.c
rule|coding|user|From now on, always {} when you {}.|0 1
mention the ticket number,write a commit message
run the linter with strict mode,touch the parser
list the migration steps,change the schema
show the old signature,rename a function
keep the public headers untouched,refactor the codec
decision|coding|user|We decided to {} because {}.|0 1
drop Kafka,the team cannot operate it
keep SQLite,the installers must work offline
vendor libsodium,the mirror was down twice
postpone the GraphQL gateway,nobody asked for it
use protobuf,the JSON payloads grew too large
error|coding|assistant|The cause of {} was {}, and {} fixed it.|0 2
StaleCursorError,a reused connection,closing it after each page
QuotaExceededError,a forgotten debug flag,removing VERBOSE_TRACE
ChecksumMismatch,an unflushed buffer,calling fsync before the rename
DeadlockDetected,two locks in opposite order,taking users_lock first
FrameTooLarge,a doubled header,stripping it in normalize_frame
name|coding|user|{} from the {} team owns the {} now.|0 2
Oyelaran,payments,invoice exporter
Brandvold,platform,image registry
Szymanska,search,synonym service
Takahiro,mobile,push bridge
Ferreira,data,nightly rollup
date|coding|user|The {} has to be finished by {}.|0 1
token rotation,14 March 2027
cluster upgrade,2027-08-19
audit export,3 November 2026
bucket cleanup,2026-12-05
billing cutover,27 January 2027
number|coding|assistant|The {} dropped from {} to {} after the change.|0 2
cold start,3.7 s,0.84 s
image size,912 MB,147 MB
error rate,6.3 %,0.29 %
queue depth,18400,1310
p99 latency,2210 ms,385 ms
path|coding|user|Please put the {} into {}.|1
benchmark notes,docs/measure/august_runs.md
fixture archive,tests/data/frozen_pages.zip
license texts,third_party/NOTICE_all.txt
release script,scripts/ship_candidate.sh
value|coding|assistant|I pinned {} to version {} in the lock file.|0 1
libquill,4.11.2
tessera-core,0.38.7
marlowe,12.0.5
pyfennel,2.9.14
decision|coding|assistant|I reverted the {} since it broke {}.|0 1
lazy loader,the offline mode
inline cache,the Windows build
thread pool,the signal handling
custom allocator,the coverage run
name|chat|user|My {} is called {} and lives in {}.|0 1 2
cousin,Ottoline,Trondheim
godson,Barnaby,Halifax
neighbour,Zephyrine,Antwerp
landlord,Casimir,Valparaiso
niece,Marigold,Dunedin
tutor,Ignatius,Ghent
value|chat|user|I keep the {} in the {}.|0 1
spare key,blue teapot
passport copies,piano bench
seed packets,cigar box
camera charger,second drawer
insurance papers,red folder
violin rosin,glove compartment
rule|chat|user|Whenever I ask about {}, {}.|0 1
recipes,leave out coriander
films,never reveal the ending
my budget,answer in Swiss francs
exercise,remember my bad shoulder
books,mention the translator
travel,prefer night trains
decision|chat|user|I decided to {} instead of {}.|0 1
rent the cottage,buying the flat
study ceramics,finishing law
adopt the greyhound,getting a puppy
cycle to Ravenna,flying
sell the boat,repairing it
learn Welsh,brushing up my Latin
date|chat|user|Our {} is on {}, so keep that day free.|0 1
choir concert,6 December 2026
house warming,21 February 2027
silver wedding,9 May 2027
school reunion,18 July 2026
court hearing,30 October 2026
eye surgery,11 August 2026
number|chat|user|I paid {} for the {}.|0 1
347 euros,rowing machine
1280 dollars,used cello
92 pounds,walnut shelf
5600 francs,wood stove
214 euros,bread oven
780 dollars,telescope
error|chat|assistant|The {} failed because {}; {} helps.|0 1
sourdough,the flour was rye only,adding some wheat
boiler,the valve was stuck,turning it by hand
visa form,the photo was too old,a new portrait
compost,it was too dry,a bucket of water
tomato seedlings,they stood too cold,a heated mat
sewing machine,the bobbin was upside down,rethreading it
name|chat|assistant|The {} that fits you best is {} in {}.|1 2
bakery,Kornblume,Freiburg
hostel,Skarven,Bergen
bookshop,Papyrus Nord,Uppsala
garden,Villa Serpentara,Olevano
dentist,Doctor Quillfeather,Leith
climbing hall,Granit Eins,Innsbruck
"""


def _facts() -> Iterator[Fact]:
    head: list[str] = []
    for line in _WRITTEN.splitlines():
        if "|" in line:
            head = line.split("|")
            continue
        kind, about, role, form, chosen = head
        words = line.split(",")
        keys = tuple(words[int(at)] for at in chosen.split())
        yield Fact(kind, about, role, form.format(*words), keys)


FACTS = tuple(_facts())


_LETTER = r"[^\W\u3041-\u9fff]"  # Chinese and Japanese have no borders of words


def kept(fact: Fact, text: str) -> bool:
    """Return True if a text holds all keys of a fact, as whole words."""
    return all(_holds(text, key) for key in fact.keys)


def _holds(text: str, key: str) -> bool:
    return any(
        re.search(rf"(?<!\.)(?<!{_LETTER}){_loose(one)}(?!{_LETTER}|\.\d)", text, re.IGNORECASE)
        for one in key.split("|")
    )


def _loose(key: str) -> str:
    """Lines may be broken anywhere, an article may be gone."""
    words = [re.escape(word) for word in key.split() if word not in ("the", "a", "an")]
    return r"\s+(?:(?:the|an?)\s+)?".join(words)


def plant(messages: Sequence[Message], facts: Sequence[Fact]) -> list[Message]:
    """The messages with each fact in one of them, spread evenly and the same every time.

    A fact goes to a message of its role that is text alone, at a border of paragraphs outside of
    code. Raises `ValueError` where a role has no such message."""
    changed = {at: _content(one) for at, one in enumerate(messages)}
    by_role: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_role[fact.role].append(fact)
    for role, own in by_role.items():
        places = [
            at for at, one in enumerate(messages) if one.role == role and changed[at] is not None
        ]
        if not places:
            raise ValueError(f"no {role} message is text alone")
        for number, fact in enumerate(own):
            at = places[(2 * number + 1) * len(places) // (2 * len(own))]
            changed[at] = _with(changed[at] or "", fact.sentence, number)
    return [
        one if changed[at] == _content(one) else _rewritten(one, changed[at] or "")
        for at, one in enumerate(messages)
    ]


def _content(message: Message) -> str | None:
    fields = json.loads(message.raw)
    content = fields.get("content")
    return content if isinstance(content, str) and not fields.get("tool_calls") else None


def _rewritten(message: Message, content: str) -> Message:
    return Message.of({**json.loads(message.raw), "content": content})


def _with(content: str, sentence: str, number: int) -> str:
    """Behind the first, a middle or the last paragraph, in turns; never in a block of code."""
    parts = content.split("\n\n")
    ends = [at for at in range(1, len(parts) + 1) if "\n\n".join(parts[:at]).count("```") % 2 == 0]
    if not ends:
        return f"{sentence}\n\n{content}"
    at = ends[(number % 3) * (len(ends) - 1) // 2]
    joined = " " if "```" not in parts[at - 1] else "\n\n"
    return "\n\n".join([*parts[: at - 1], f"{parts[at - 1]}{joined}{sentence}", *parts[at:]])


def told(
    history: History, nodes: Iterable[Node], summaries: Mapping[bytes, Summary] | None = None
) -> Iterator[Told]:
    """The nodes of a grown tree, leaves in order and children before parents, as `grow` makes them.
    `summaries`: what is judged in place of the nodes' own."""
    made = list(nodes)
    below: dict[bytes, str] = {}
    children = {id_ for one in made for id_ in one.children}
    first = 0
    for one in made:
        if one.is_leaf:
            below[one.id] = "\n".join(
                history.view(first + p.message).text[p.start : p.end] for p in one.passages
            )
            first += one.messages
        else:
            below[one.id] = "\n".join(below[id_] for id_ in one.children)
        summary = (summaries or {}).get(one.id, one.summary)
        text = f"{summary.headline}\n{summary.shown}"
        yield Told(str(one.level), below[one.id], text)
        if one.id not in children:
            yield Told(TOP, below[one.id], text)


def shares(facts: Sequence[Fact], texts: Iterable[Told]) -> dict[str, dict[str, tuple[int, int]]]:
    """By level and kind, and by level and "all": (facts kept, facts that stand below the level)."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for one in texts:
        for fact in facts:
            if fact.sentence in one.below:
                for name in (fact.kind, "all"):
                    found[one.level][name][0] += kept(fact, one.summary)
                    found[one.level][name][1] += 1
    return {
        level: {name: (good, whole) for name, (good, whole) in kinds.items()}
        for level, kinds in sorted(found.items())
    }
