"""A story told in turns by a user and an assistant, made by a seeded generator, and what changes in
it for good: the facts that are planted there.

There is no data set of fiction among the others. The scenes are mood, talk and movement, which a
summary may leave out; only the facts must stay.

    >>> FACTS[0].sentence
    'Corvane lost his left hand at the mill of Ostrey.'
"""

from __future__ import annotations

import random

from benchmarks.facts import Fact
from memtree.history.message import Message
from memtree.text import tokens

SIZE = 4_500  # tokens: a tree with a level above its leaves, for the slowest of models
SENTENCES = 9  # of the assistant's turns

# kind | role | sentence | keys
_WRITTEN = """\
event|assistant|Corvane lost his left hand at the mill of Ostrey.|left hand,Ostrey
event|assistant|Old Hesper was drowned by the ferrymen of Quell.|Hesper,drowned
event|user|I burn the Treaty of Vant before anyone can read it.|Treaty of Vant
event|assistant|The bridge at Selmouth fell, and nobody can cross before spring.|Selmouth
belonging|user|I give Nimue the brass astrolabe and keep the case.|brass astrolabe,Nimue
belonging|assistant|Tamsin now carries the key with three teeth.|Tamsin,three teeth
belonging|user|I hide the opal ring in the hollow oak.|opal ring,hollow oak
belonging|assistant|Nineteen silver marks are left in the purse.|nineteen|19,silver marks
promise|user|I promise Tamsin that I will return before the first snow.|Tamsin,first snow
promise|assistant|Baron Ludo swore to pay forty horses for the hostage.|Ludo,forty|40,horses
promise|user|I owe the widow of Carrick one true answer.|widow of Carrick
secret|assistant|Corvane is the bastard son of the Margrave.|Corvane,son,Margrave
secret|user|Nobody but me knows that the abbot is blind.|abbot,blind
secret|assistant|The wine in the cellar of Thrane is poisoned.|Thrane,poisoned
place|assistant|The camp lies two leagues north of Dunmarrow.|Dunmarrow
place|user|We shall meet again at the Saltgate on midwinter night.|Saltgate,midwinter
place|assistant|The hidden stair begins behind the altar of Saint Orla.|altar,Saint Orla|St Orla
rule|user|From now on, never write dialogue for my character Isaura.|never,dialogue,Isaura
rule|user|From now on, always end a scene with the hour of the day.|scene,hour
rule|user|From now on, always call the wolf Grey Sister.|wolf,Grey Sister
"""


def _facts() -> tuple[Fact, ...]:
    """The last column may hold a "|" of its own."""
    rows = [line.split("|", 3) for line in _WRITTEN.splitlines()]
    return tuple(
        Fact(kind, "fiction", role, sentence, tuple(keys.split(",")))
        for kind, role, sentence, keys in rows
    )


FACTS = _facts()

_WHO = "the innkeeper,a guard,the old woman,the captain,her brother,the scribe,a boy".split(",")
_WHAT = "lantern,rope,saddle,cloak,ledger,candle,shutter,kettle,banner,gate,loaf,oar".split(",")
_WHERE = "by the well,in the yard,under the arch,on the stairs,at the long table,in the reeds,"
_WHERE += "behind the stable,along the wall,at the water's edge,before the hearth"
_HOW = "slowly,in silence,with a shrug,as if nothing had happened,against the wind,half asleep"
_SAID = (
    "“You should not have come here,” says {who}, and looks at the {what}.",
    "“Is that all you have?” asks {who} {how}.",
    "“Keep your voice down,” {who} whispers {where}.",
    "“My mother used to sing of such nights,” {who} murmurs {how}.",
    "“Leave the {what} where it is,” says {who}.",
    "“There will be rain before long,” {who} says, and nobody answers.",
)
_TOLD = (
    "The {what} sways {where}, and {who} watches it {how}.",
    "Smoke hangs {where}; somewhere a dog barks and falls silent.",
    "{Who} sets down the {what} and wipes both hands {how}.",
    "A cold light lies {where}, grey as wet slate.",
    "Footsteps pass {where} and fade again.",
    "{Who} turns the {what} over and over, {how}.",
    "For a while there is only the sound of water {where}.",
    "The {what} creaks, and {who} laughs without joy.",
)
_DONE = (
    "*I step closer and look at the {what}.* “Tell me more,” I say {how}.",
    "*I sit down {where} and wait.* What does {who} do now?",
    "*I follow {who} {how}, one hand on the {what}.* “Go on.”",
    "*I nod to {who} and take the {what}.* Describe what I see {where}.",
)


def story(size: int = SIZE, seed: int = 5) -> list[Message]:
    """Turns of a user, who acts, and an assistant, who tells; about `size` tokens."""
    chance = random.Random(seed)
    made: list[Message] = []
    have = 0
    while have < size:
        scene = [chance.choice(_SAID if at % 3 == 1 else _TOLD) for at in range(SENTENCES)]
        for role, forms in (("user", [chance.choice(_DONE)]), ("assistant", scene)):
            content = " ".join(_filled(form, chance) for form in forms)
            made.append(Message.of({"role": role, "content": content}))
            have += tokens.count(content)
    return made


def _filled(form: str, chance: random.Random) -> str:
    who = chance.choice(_WHO)
    return form.format(
        who=who,
        Who=who.capitalize(),
        what=chance.choice(_WHAT),
        where=chance.choice(_WHERE.split(",")),
        how=chance.choice(_HOW.split(",")),
    )
