"""Title a conversation by the subject of its first real request, in one line for lists.

A title is made from the beginning alone, so that it stays the same while the conversation grows.
Greetings, commands, banners, clients' insertions and pasted text are skipped; if a request only
hands over a text, the title is that of the text. Transcripts of talk are titled by the speakers and
the recurring words. This file does not distinguish conversations with the same first request (the
stores number those), or read more than `READ` characters of a message.

    >>> title([("user", "Hi!"), ("user", "Could you please rename parse_row to read_row?")])
    'Rename parse_row to read_row'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from memtree.digests.clauses.boilerplate import is_boilerplate, without_stamp
from memtree.digests.clauses.particular import telling_words
from memtree.digests.clauses.phrases import is_hollow, leans, readable, whole
from memtree.digests.title_words import (
    AGE,
    DEMONSTRATION,
    ENDING,
    FRAGMENT,
    HANDS,
    LABEL,
    LEAD,
    NAMED,
    OFFER,
    SELF,
    SPEAKER,
    TAGGED,
    VERB,
)
from memtree.language import borders
from memtree.language.lazy_patterns import lazily
from memtree.language.word_file import WordFiles
from memtree.text import secrets
from memtree.text.pasted.client_messages import is_by_client
from memtree.text.pasted.document_names import document_name
from memtree.text.pasted.own_words import others_words
from memtree.text.requests import asks
from memtree.text.spans import Span, outside

_DATA = WordFiles("titles")

LONGEST = 60  # characters of a title
MESSAGES, READ = 40, 6_000  # messages and characters of each that are read
IN_ALL = 60_000  # characters that are read
_TALK, _TURNS = 0.6, 12  # share and number of first messages with a name that make a talk
_THEMES = 4  # recurring words in the title of a talk
_CLAUSES, _PIECES = 12, 8  # clauses of a message, and pieces of a clause, that are compared
_CAPS = (16, 13, 11, 9, 7, 5)  # tokens of a phrase, until it fits
_GOOD = 2.0  # least score of a request that needs no title of the text it hands over
_DASH = re.compile(r"\s[–—-]\s")
_MARKUP = re.compile(r"^[\s>#*_`~=|•-]+|[*`]{1,3}(?=[\w\"'])|(?<=[\w.!?\"'])[*`]{1,3}")
_PREFIX = re.compile(r"^(?:#### ?|> ?)")
_COMMAND = re.compile(r"^/[a-z][\w-]*(?:\s+|$)")
_MARKS = " \t,;:.-–—*|>#。；：、，？！\"“”«»`'"
_ENDLESS = re.compile(r"[^\s，。；：！？、]{120,}")
_CODE = re.compile(r"[{}();=<>\\[\]|]")
_QUESTION = lazily(lambda: rf"(?:{_DATA.part('questions')})\b", re.IGNORECASE)


def title(turns: Iterable[tuple[str, str]]) -> str:
    """Return a title of at most `LONGEST` characters, without secrets; "" if the beginning has no
    informative words. `turns`: (role, text) of the messages in order, without clients'
    insertions."""
    beginning = list(_beginning(turns))
    if speakers := _speakers(beginning):
        return _finished(_talk(speakers, beginning))
    user_texts = [text for role, text in beginning if role == "user"]
    for read in (_request, _command):
        for text in user_texts:
            if line := read(text):
                return _finished(line)
    answers = (_best(_answered(text)) for role, text in beginning if role == "assistant")
    best_line = next((line for line, worth in answers if worth >= _GOOD), "")
    short = (" ".join(text.split()) for text in user_texts)
    return _finished(best_line or next((line for line in short if 0 < len(line) <= LONGEST), ""))


def _beginning(turns: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the first messages, without endless words, which take long to read and say nothing."""
    room = IN_ALL
    for role, text in islice(turns, MESSAGES):
        read = _ENDLESS.sub(" ", _unprefixed(text[: min(READ, room)]))
        room -= len(read)
        yield role, read


def _finished(line: str) -> str:
    line = within(secrets.mask(" ".join(line.split())))
    first = line.split(" ", 1)[0]
    plain = first.rstrip(":").isalpha() and first.islower()
    return line[:1].upper() + line[1:] if plain else line


def within(line: str) -> str:
    """Cut a line to `LONGEST` characters, behind a word."""
    if len(line) <= LONGEST:
        return line
    return ENDING.sub("", line[: LONGEST + 1].rpartition(" ")[0] or line[:LONGEST]).strip(_MARKS)


def _unprefixed(text: str) -> str:
    """Strip a mark that stands before every line of a text, as in exported chats."""
    lines = text.split("\n")
    if all(not line.strip() or _PREFIX.match(line) for line in lines):
        return "\n".join(_PREFIX.sub("", line) for line in lines)
    bare = text.strip()
    return bare[1:-1] if len(bare) > 2 and bare[0] in "\"'“" and bare[-1] in "\"'”" else text


# -- people who talk ---------------------------------------------------------------------------


def _speakers(beginning: Sequence[tuple[str, str]]) -> list[str]:
    """Return the speakers in order; empty if the first messages do not begin with names."""
    matches = [SPEAKER.match(text) for _, text in beginning[:_TURNS]]
    names = [match["name"].strip() for match in matches if match]
    often = Counter(map(str.lower, names))
    talks = len(names) >= max(4, _TALK * len(matches)) and len(often) > 1
    by_name = {name.lower(): name for name in names if often[name.lower()] > 1}
    return list(by_name.values()) if talks and len(by_name) > 1 else []


def _talk(speakers: Sequence[str], beginning: Sequence[tuple[str, str]]) -> str:
    """Return the title of a talk: its speakers, and the recurring words of their first messages."""
    who = " and ".join(speakers) if len(speakers) < 3 else f"{speakers[0]} and others"
    people = {word.lower() for name in speakers for word in name.split()}
    often: Counter[str] = Counter()
    for _, text in beginning:
        often.update(list(dict.fromkeys(telling_words(SPEAKER.sub("", text)))))
    themes: list[str] = []
    for word, _ in often.most_common(8 * _THEMES):
        if (
            len(word) > 3
            and word not in people | _DATA.word_set("vague")
            and not any(word[:4] == other[:4] for other in themes)
        ):
            themes.append(word)
    return f"{who}: {', '.join(themes[:_THEMES])}" if themes else who


# -- requests ----------------------------------------------------------------------------------


def _request(text: str) -> str:
    """Return the request of a user's message, or the title of a text it hands over; "" if neither
    is informative."""
    others = others_words(text)
    own = list(islice(_clauses_of(text, outside([Span(0, len(text))], others)), _CLAUSES))
    if DEMONSTRATION.match(text.lstrip()[:200]):
        return ""
    handing = next((clause for clause in own if HANDS.search(clause)), "")
    if handing and (named := next(filter(None, map(NAMED.search, own)), None)):
        return f"{named[1]}{named[2]}"
    if (handing or not own) and (line := labelled(text)):
        return line
    if is_by_client(text):
        return ""
    best, worth = _best(clause for clause in own if clause != handing)
    if others and worth < _GOOD:
        document = text[others[0].start : others[-1].end]
        name = document_name(document) if len(document) > LONGEST else None
        if name and name.certain and any(telling_words(name.title)):
            verb = VERB.match(handing)
            return f"{verb[1].capitalize()}: {name.title}" if verb else name.title
        if not best and handing:
            return _best(_clauses(document))[0]
    return best or _best([handing] if handing else [])[0]


def _command(text: str) -> str:
    """Return a command to the client with its arguments."""
    line = text.strip().partition("\n")[0][:200].strip()
    return line if _COMMAND.match(line) and len(line.split()) > 1 else ""


def labelled(text: str) -> str:
    """Return the first line behind a label that announces the request, such as `ISSUE:`."""
    for pattern in (TAGGED, LABEL):
        for match in islice(pattern.finditer(text), 4):
            line = text[match.end() :].lstrip().partition("\n")[0][:300]
            phrase, worth = _best([_MARKUP.sub("", line).strip()])
            if phrase and worth >= 1.0:
                return phrase
    return ""


def _clauses_of(text: str, own: Iterable[Span]) -> Iterator[str]:
    for start, end in own:
        yield from _clauses(text[start:end])


def _clauses(text: str) -> Iterator[str]:
    """Yield tidied sentences, without boilerplate."""
    for sentence in chain.from_iterable(map(_DASH.split, borders.split(text))):
        line = _COMMAND.sub("", _MARKUP.sub("", without_stamp(sentence.strip())).strip())
        if line and not is_boilerplate(line):
            yield " ".join(line.split())


def _answered(text: str) -> Iterator[str]:
    """Yield the clauses of an answer, without offers to help."""
    return (clause for clause in _clauses(text) if not OFFER.search(clause))


def _best(clauses: Iterable[str]) -> tuple[str, float]:
    """Return the most informative phrase, and its score; earlier phrases are preferred."""
    best, most = "", 0.0
    for number, clause in enumerate(islice(clauses, _CLAUSES)):
        for place, piece in enumerate(_pieces(clause)):
            phrase = _phrase(piece)
            if not phrase:
                continue
            worth = min(len(set(telling_words(phrase))), 3) - 0.3 * number - 0.2 * place
            worth += 1.5 * asks(piece) - 1.5 * is_hollow(phrase) - 2.5 * leans(phrase)
            worth -= 1.5 * bool(AGE.search(piece)) + 1.0 * bool(SELF.match(piece))
            worth -= 1.5 * bool(place and FRAGMENT.match(piece))
            if worth > most:
                best, most = phrase, worth
    return best, most


def _pieces(clause: str) -> list[str]:
    """Return a short sentence itself, else its beginning up to the first comma, and its clauses."""
    if len(clause) <= LONGEST and not leans(clause):
        return [clause]
    bare = _bare(clause)
    main = bare.partition(", ")[0]
    first = main if len(main.split()) > 2 else bare
    return [first, *islice(borders.clauses(clause), _PIECES)]


def _phrase(piece: str) -> str:
    """Return a whole phrase of at most `LONGEST` characters, without its lead-in; "" if it says too
    little."""
    bare = _bare(piece)
    for cap in _CAPS:
        phrase = ENDING.sub("", whole(bare, cap)[0]).strip(_MARKS)
        if not phrase or len(phrase) > LONGEST:
            continue
        if phrase[-1] == "?" and not _QUESTION.match(phrase):
            phrase = phrase[:-1].rstrip()
        return phrase if _is_prose(phrase) and _enough(phrase) else ""
    return ""


def _bare(piece: str) -> str:
    for _ in range(5):
        match = LEAD.match(piece)
        if not match or len(piece) - match.end() < 8:
            break
        piece = piece[match.end() :].lstrip()
    return piece


def _is_prose(phrase: str) -> bool:
    """Return True for words rather than code; a request may hold many names."""
    if readable(phrase):
        return True
    plain = sum(map(str.isalpha, phrase.split()))
    return phrase[0].isalpha() and plain > 1 and not _CODE.search(phrase)


def _enough(phrase: str) -> bool:
    """Return True if a phrase has two content words, or several common ones."""
    if borders.UNSPACED.search(phrase):
        return len(phrase) > 5
    content_words = len(set(telling_words(phrase)))
    return content_words > 1 or (content_words > 0 and len(phrase.split()) > 2)
