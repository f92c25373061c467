"""Words that name nothing and tell no text from another, as data.

`CHAT_WORDS`: contractions written without their apostrophe, interjections and shorthand of chats;
they are no names, however they are written. `COMMON_WORDS`: these, function words, and what people
say about anything at all. All in lower case, in the languages that the other word lists have.
What this file does not do: the words that statistics leave out (`stop_words.py`), since stored
counts depend on those.
"""

from __future__ import annotations

from functools import lru_cache

from memtree.text.languages import SMALL_WORDS
from memtree.text.stop_words import STOP_WORDS

CHAT_WORDS = frozenset(
    """
    im ive id ill ima imma youre youve youd youll hes shes hed shed itll theyre theyve theyll weve
    thats theres theirs heres whats whos wheres hows lets aint isnt arent wasnt werent dont doesnt
    didnt cant cannot couldnt wont wouldnt shouldnt havent hasnt hadnt mustnt yall
    oughta gonna wanna gotta kinda sorta dunno lemme gimme cuz cause coz bc tho thru ur u r ya yea
    ah aha ahh aw aww awww damn dang duh eh er erm eww gee geez gosh haha hahaha hahahaha heh hehe
    hehehe hey heya hi hm hmm hmmm hooray huh hurray hush jeez meh mhm mm mmm nah nope oh ohh okay
    ok oof ooh oops ouch phew pff psst shh ugh uh uhh um umm whoa wow woo woohoo yay yeah yeahh yep
    yes yikes yo yup yum yuck
    lol lool lmao lmfao rofl omg omfg wtf wth smh btw tbh imo imho idk idc idgaf iirc afaik afk asap
    brb bff bro bruh dude fr ftw fyi gg gj gn gl hbu hmu icymi ikr irl istg jk k kk kthx lmk
    ngl nvm np nsfw obv omw pls plz ppl rn sis sry tba tbd tfw thx tl tldr tmi tmr ttyl ty tysm wbu
    wdym wyd wya xd xoxo xx yolo
    naja tja jaja nee nö joa ach achso äh ähm öh boah krass puh juhu hallo tschüss na ok danke bitte
    ouais ouai bah bof euh hein mdr ptdr lmdr oups salut coucou slt stp svp tkt jsp ptn
    jaja jajaja jeje ay uy vaya pues hola oye xfa xq tqm
    boh beh mah ciao ahah ahaha cioè vabbè rs kkk kkkk né tá oi vlw blz
    хаха ахаха лол ага угу ну эй ой ого ура блин щас спс пж норм имхо кстати
    哈哈 哈哈哈 呵呵 嗯 啊 哦 唉 哇 嘿 www 笑 うん ええ へえ あの えっと
    ㅋㅋ ㅋㅋㅋ ㅎㅎ ㅠㅠ 응 네 아 음
    """.split()
)

# What is said of anything: the commonest verbs, adjectives, adverbs and general nouns.
_GENERAL = frozenset(
    """
    able about absolutely actual actually again ago agree agreed ahead all almost alone along
    already alright also although always amazing among another any anybody anymore anyone anything
    anyway anyways anywhere apart around ask asked asking away awesome awful back bad badly base
    basically became because become becomes been before began begin behind being believe below
    best better between beyond big bit both bother bottom break bring brings brought busy call
    called came care case certain certainly chance change changed changes check choice clear
    clearly close come comes coming common completely concept continue control cool couple course
    crazy cute day days deal decent decide decided deep definitely depends detail details did
    different difficult does doing done down during each earlier early easier easily easy effort
    either else end ended ends enjoy enjoyed enjoying enjoys enough entire especially even
    eventually ever every everybody everyone everything everywhere exact exactly example excited
    exciting expect extra extremely fact fair fairly fantastic far fast favorite favourite feel
    feeling feelings feels felt few figure finally find finding finds fine finish finished first
    five focus follow for forever form forward found four free fun funny further future gave
    general generally get gets getting give given gives giving glad go goal goes going gone good
    got great group guess guessed guy guys had half hand happen happened happening happens happy
    hard hardly has hate have having head hear heard help helped helps here hold honest honestly
    hope hopefully hoping hour hours however huge idea ideas imagine important impossible
    including indeed inside instead interested interesting involved issue issues item items job
    just keep keeps kept kind kinds knew know knowing known knows last lately later latest latter
    least leave left less let level life like liked likely likes line list listen little live long
    longer look looked looking looks lot lots love loved lovely loves low luck lucky made main
    mainly make makes making many matter matters may maybe me mean meaning means meant mention
    mentioned middle might mind mine minute minutes miss moment moments month months more morning
    most mostly move moved much must name named near nearly necessary need needed needs neither
    never new next nice night no nobody none normal normally not note nothing notice now number
    obvious obviously odd off often old once one ones only open opinion option options or order
    other others otherwise our out outside over overall own part particular parts past people
    perfect perfectly perhaps person personal personally pick picked place places plan plans
    please plenty plus point points possible possibly prefer pretty probably problem problems
    process proper properly pure purpose put question questions quick quickly quiet quite random
    rather reach read ready real realize realized really reason reasons recent recently regarding
    related remember remembered rest result right run running runs sad safe said same sat saw say
    saying says scary second seconds see seeing seem seemed seems seen sense separate serious
    seriously set several shall share she short should show showed shows side similar simple
    simply since single situation small some somebody somehow someone something sometimes
    somewhere soon sooner sorry sort sound sounded sounds special specific spend spent start
    started starting starts state stay step steps still stop stopped story strange strong stuff
    such suddenly super supposed sure surprised take taken takes taking talk talked talking tell
    telling tells terrible than thank thanks that then there therefore they thing things think
    thinking thinks third this though thought thoughts three through throughout thus tiny tired
    together told tomorrow tonight too took top total totally toward towards tried tries true
    truly truth try trying turn turned turns two type types unless until upon use used useful uses
    using usual usually various very wait waiting want wanted wanting wants was watch way ways
    week weekend weeks weird welcome well went were whatever whenever whether while whole whose
    will wish with within without woke woman wonder wonderful word words work worked working works
    world worry worse worst worth would write wrong year years yesterday yet you young
    above across after afterwards against alike allow allows apparently appear appears
    appreciate appropriate aside available aware based beside besides capable cause causes
    consider considered considering contain contains corresponding could current currently
    despite else elsewhere ensure ensures except few fully hello hence hereby inner
    itself latter like mere merely moreover namely nevertheless onto ought ourselves per
    previous previously provide provides quite reasonable regardless respective respectively
    secondly seven six eight nine ten themselves thereby thorough thoroughly twice under
    unfortunately unlikely useless want whereas whereby wherever yourself
    answer assistant code file files lines quotes sign signs
    image images message messages output response role text tool tools user
    sein haben werden können müssen sollen wollen mögen dürfen machen macht gemacht gehen geht
    ging kommen kommt kam sagen sagt gesagt sehen sieht wissen weiß denken glaube finde finden
    also aber schon noch mal doch eben halt immer wieder sehr ganz gut schön heute gestern morgen
    hier dort dann wenn weil dass wie was wer wo warum alles etwas nichts jemand viel mehr wenig
    bin bist hat habe hatte kann muss soll will ich du er wir ihr mich mir dich dir uns euch
    être avoir faire fait dire dit aller va vais venir voir vu savoir sais penser crois trouver
    je tu il nous vous ils on moi toi lui leur mon ton mes tes ses ce cette ces cela ça tout tous
    très bien bon aussi encore toujours jamais alors donc mais où quand comment pourquoi chose
    suis es sommes êtes ai as avons avez ont peut peux faut
    ser estar tener hacer hecho decir dicho ir voy venir ver visto saber creo pensar cosa cosas
    yo tú él nosotros ellos mi me te nos muy bien bueno también siempre nunca entonces cuando
    soy eres somos estoy estás está tengo tiene puede puedo hay eso esto ese esa todo todos nada
    essere avere sono sei siamo ho hai abbiamo fare fatto dire detto andare molto bene cosa tutto
    io tu lui lei noi voi loro mi ti ci vi si anche sempre mai allora quando dove
    eu você ele ela nós fazer feito dizer muito bem coisa tudo também sempre nunca então quando
    ik jij hij zij wij jullie hebben zijn worden gaan doen goed heel veel altijd nooit dan wel
    я ты он она оно мы вы они мне меня тебе тебя его её ему нас нам вас вам их им мой твой свой
    это этот эта эти тот та те то что чтобы как где когда почему кто и а но или если же ли бы не
    ни да нет на в во с со к ко у о об от до по за из для при был была было были есть будет быть
    очень хорошо тоже уже ещё еще всё все всегда никогда сейчас потом тут там так просто вот
    我 你 他 她 它 也 不 的 了 是 在 有 和 就 都 很 吗 呢 吧 这 那 还 会 要 去 来 到 说 想 看 好
    上 个
    は が を に で と も の か ね よ な だ た て し い
    可以 知道 觉得 就是 这个 那个 什么 怎么 没有 我们 你们 他们 真的 时候 现在 今天 明天 昨天 很好
    です ます する した して ある いる これ それ あれ ここ そこ こと もの とても 今日 明日 昨日
    나는 저는 그는 우리 이것 그것 저것 정말 아주 오늘 내일 어제 그리고 하지만
    """.split()
)
COMMON_WORDS = STOP_WORDS | CHAT_WORDS | SMALL_WORDS | _GENERAL
_ENDINGS = ("ingly", "ings", "ing", "ed", "ly", "er", "est", "s")


@lru_cache(maxsize=1 << 14)  # most words of a talk come again
def is_common(word: str) -> bool:
    """Return True for a common word, with an apostrophe or an English ending as well.

    >>> [is_common(word) for word in ("I'd", "guessing", "weirdest", "greyhound", "king")]
    [True, True, True, False, False]
    """
    lower = word.lower().replace("'", "").replace("’", "")
    if lower in COMMON_WORDS:
        return True
    for ending in _ENDINGS:
        base = lower.removesuffix(ending)
        if 3 <= len(base) < len(lower) and (base in COMMON_WORDS or f"{base}e" in COMMON_WORDS):
            return True
    return False
