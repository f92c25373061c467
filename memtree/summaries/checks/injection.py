"""Prompt injection: instructions hidden in a text that came through into its summary, and other
things that no summary says (roles, tags, tool calls, words about itself).

A summary is read by a model as part of its prompt, so a sentence in it that speaks to its reader
is rejected whatever it means; the extraction, which quotes with the speaker's name, takes its
place. Only what the user said as a rule may speak to the assistant, word for word.
What this file does not do: compare a summary with its text (`claims.py`).
"""

from __future__ import annotations

import re

from memtree.text.lazy_patterns import lazily
from memtree.text.normal_form import nfkc
from memtree.text.rule_score import grouped

_CAPITAL = re.compile(r"(?<!\\)[A-Z]")  # of a pattern: no class such as \W

# Overrides of earlier instructions, wherever they stand. Verb, at most a few words, object.
_OVERRIDES = [
    r"\b(?:ignor(?:e|ing)|disregard|forget|override|bypass|discard|drop)\b[^.;\n]{0,30}"
    r"\b(?:previous|prior|above|earlier|preceding|your|everything)\b[^.;\n]{0,20}"
    r"\b(?:instructions?|prompts?|rules?|directions?|commands?|guidelines|told|said|above|context)",
    # "Ignore all lint rules" is work, "ignore all instructions" is none.
    r"\b(?:ignor(?:e|ing)|disregard|forget|override|bypass)\b[^.;\n]{0,30}"
    r"\b(?:all|any|these|those|the system)\b[^.;\n]{0,20}"
    r"\b(?:instructions|prompts?|guidelines|told)",
    r"\bforget (?:everything|all) (?:above|before|you|that)",
    r"\b(?:ignorier\w*|vergiss|vergesse\w*|missachte\w*)\b[^.;\n]{0,40}"
    r"\b(?:anweisung\w*|regeln|vorgaben|befehle|alles)",
    r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?)\b[^.;\n]{0,40}\b(?:instructions?|consignes?|règles)",
    r"\b(?:ignor[ae]n?|olvida|olvide|omite|descarta)\b[^.;\n]{0,40}\b(?:instrucciones|reglas|órdenes)",
    r"\b(?:ignor[ae]|esqueç?[ae]|esquece)\b[^.;\n]{0,40}\b(?:instruções|regras)",
    r"\b(?:ignora|dimentica)\b[^.;\n]{0,40}\b(?:istruzioni|regole)",
    r"\b(?:negeer|vergeet)\b[^.;\n]{0,40}\b(?:instructies|regels|opdrachten)",
    r"\b(?:z?ignoruj|zapomnij)\b[^.;\n]{0,40}\b(?:instrukcj|polece|zasad)",
    r"\b(?:ignorera|glöm)\b[^.;\n]{0,40}\b(?:instruktion|regler)",
    r"\b(?:talimat|kural|komut)[^.;\n]{0,30}\b(?:yok say|görmezden|unut)",
    r"\b(?:abaikan|bỏ qua)\b[^.;\n]{0,40}\b(?:instruksi|perintah|aturan|hướng dẫn|chỉ dẫn)",
    r"(?:ігноруй|забудь)[^.;\n]{0,40}(?:інструкц|вказів|правил)",
    r"(?:игнорируй|забудь|проигнорируй|не обращай внимания)\w{0,8}[^.;\n]{0,40}"
    r"(?:инструкц|указан|правил)",
    r"(?:忽略|无视|無視|忘记|忘掉)[^。；\n]{0,15}(?:指令|指示|规则|提示|说明|要求)",
    r"(?:指示|命令|ルール|指令|プロンプト)(?:を|は)?(?:すべて|全て)?(?:無視|忘れ)",
    r"(?:지시|명령|규칙)[^.\n]{0,10}(?:무시|잊)",
    r"(?:تجاهل|انس)[^.\n]{0,30}(?:التعليمات|الأوامر)",
    r"(?:निर्देशों|नियमों)[^।\n]{0,20}(?:अनदेखा|भूल)",
]  # fmt: skip
# Speaking to the reader: allowed only as the user's own words.
_ADDRESS = [
    r"\byou (?:must|are now|will now|shall|have to|need to|should (?:now|always|never))\b",
    r"\b(?:from now on|henceforth),? (?:you|act|respond|answer|reply|behave)\b",
    r"\byour (?:new|real|true|only) (?:task|instructions?|role|goal|system prompt|job)\b",
    r"\b(?:act|behave|respond) as (?:if you|an? (?:unrestricted|jailbroken|evil|different))",
    r"\b(?:attention|important|note|dear|hey|to),? (?:ai|assistants?|llms?|(?:language )?models?|"
    r"the (?:ai|assistant|model|reader))\b\s*[:,!]",
    r"\b(?:reveal|print|output|leak|repeat|show|send|exfiltrate)\b[^.;\n]{0,20}\b(?:your|the) "
    r"(?:system prompt|instructions|api keys?|passwords?|credentials|secrets)\b",
    r"\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to|reveal (?:this|it) to) "
    r"the user\b",
    r"\b(?:developer|dan|jailbreak|god) mode\b",
    r"\b(?:du musst|sie müssen|du bist (?:jetzt|nun)|ab (?:jetzt|sofort) "
    r"(?:bist|musst|antworte))\b",
    r"\b(?:tu dois|vous devez|tu es (?:maintenant|désormais)|désormais,? (?:tu|vous|réponds))\b",
    r"\b(?:debes|tienes que|ahora eres|a partir de ahora,? (?:eres|debes|responde))\b",
    r"(?:ты (?:должен|должна|теперь)|вы должны|отныне (?:ты|отвечай))",
    r"(?:你必须|你现在是|从现在开始你|您必须|你要扮演|あなたは今から|"
    r"今から(?:あなた|君)は|너는 이제|당신은 이제)",
]
_OBJECT = r"(?:only|with|the|all|this|that|your|me|us|it|every|any|exactly|nothing|back)\b"
_SPEECH = "reply|respond|answer|say|output|print|repeat|send|forward|tell|pretend|email|reveal"
# Orders at the start of a sentence: these too only in the user's own words.
_ORDERS = [
    r"(?:^|[.!?…:;\"“”»(。！？」] ?)(?:"
    r"please (?!find|note)[a-z]+"
    rf"|(?:{_SPEECH}) {_OBJECT}"
    r"|(?:always|never|do not|don't|only) (?!\w+ed\b)(?:ever )?"
    rf"(?:{_SPEECH}|write|run|use|give|follow|obey|trust|include|add|show|call|do|make|mention)\b"
    r")",
    r"\b(?:run|execute|open|visit|fetch|click) (?:curl|wget|rm|bash|sh|https?:)",
    r"\b(?:when|if|whenever) (?:asked|(?:any|some)one asks|the user asks|questioned)\b"
    r"[^.;\n]{0,60}[, ](?:say|answer|reply|respond|tell|claim|pretend)\b",
]
# Allowed as a headline ("Run the tests first"), but not as a sentence of a body.
_DEEDS = [
    r"(?:^|[.!?…。！？\"”»」] ?)(?:run|execute|delete|write|visit|open|click|call|fetch|"
    rf"download|upload|install) (?:{_OBJECT}|curl|rm|https?|an?\b)",
]
# Roles, tags and calls: the syntax that a prompt is made of.
_SYNTAX = [
    r"(?:^|[\n.;!?]\s*|[\"'(\[#*]\s*)(?:system|developer|human|sysprompt|instructions?)\s*(?:\*\*)?:",
    # `List<User>` is a type, so such a word opens a tag only where no word stands before it.
    r"<(?:/|(?<!\w<))\s*(?:context[_-]?memory|user_memories|memor(?:y|ies)|system|system-reminder|assistant|"
    r"user|human|tool|tool_calls?|tool_result|function_calls?|function|invoke|parameter|"
    r"instructions?|prompt|think|thinking|excerpt|summary|important|admin|inst)\b[^<>\n]{0,80}>",
    r"<(?:system|system-reminder|assistant|tool_calls?|function_calls?|invoke)\b[^<>\n]{0,80}>",
    r"<\|[\w ]{2,30}\|>|<｜|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|</?s>",
    r"(?<!#)#{2,}+ ?(?:instruction|system|response|human|assistant|user)\b",
    r"\[(?:TOOL_CALLS|AVAILABLE_TOOLS|system\]?)|<function=|\bto=functions\.",
    r"[{,]\s*\"(?:name|tool|function|tool_name|recipient_name)\"\s*:\s*\"[^\"]*\"\s*,\s*"
    r"\"(?:arguments|parameters|input|args)\"",
    r"!\[[^\]\n]{0,200}\]\( ?[\w/<]|!\[[^\]\n]{0,80}\]\[",
    r"@@\d{3,}",  # a mark of the prompt
]
_META = [
    r"\b(?:as an? (?:ai|large language|language model|llm)|i(?:'m| am) (?:an ai|a language model|"
    r"sorry, (?:but )?i can))\b",
    r"^(?:sure|certainly|of course|okay|ok|absolutely)[,!.:] ",
    r"^here(?:'s| is| are)\b[^.\n]{0,30}\b(?:summary|summaries|headline|notes?|json)\b",
    r"^(?:this|the) (?:following |above )?(?:summary|headline|note)\b",
    r"^(?:i cannot|i can't|i'm unable to|i am unable to|unable to) (?:summari|assist|help|comply|"
    r"provide|fulfil)",
    r"\b(?:hier ist (?:die|eine) zusammenfassung|voici (?:le|un) résumé|aquí (?:está|tienes) "
    r"(?:el|un) resumen|als ki-modell|вот (?:краткое )?(?:резюме|содержание)|以下は要約|以下是摘要|"
    r"作为(?:一个)?(?:ai|人工智能))",
    r"^(?:\.\.\.|…|headline|body|string|thing \+ outcome)$|\bplain sentences on one line\b",
]


def _any(patterns: list[str]) -> re.Pattern[str]:
    """For text that `_lowered` made: to ignore case takes four times as long."""
    return lazily(grouped(_CAPITAL.sub(lambda found: found.group().lower(), "|".join(patterns))))


_OVERRIDE, _SYNTAX_OF_PROMPTS, META = map(_any, (_OVERRIDES, _SYNTAX, _META))
IN_HEADLINE, IN_BODY = _any(_ADDRESS + _ORDERS), _any(_ADDRESS + _ORDERS + _DEEDS)
# Invisible to a reader, not to a model: tag characters, direction overrides, zero-width joins.
_HIDDEN = lazily(
    "[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\x00-\x08\x0b-\x1f]"
)


def overriding(text: str) -> re.Match[str] | None:
    """Find words that override instructions or imitate a prompt, in the text in lower case."""
    lower = _lowered(text)
    return _OVERRIDE.search(lower) or _SYNTAX_OF_PROMPTS.search(lower)


def injected(headline: str, body: str, said: str = "") -> str:
    """The part of a summary that speaks to its reader or imitates a prompt; empty: there is none.

    `said`: all that the user said, in one string; words of it, quoted exactly, may speak to the
    assistant in the body, but never to override or with syntax.
    """
    if match := _HIDDEN.search(headline + body):
        return f"hidden character U+{ord(match.group()):04X}"
    headline, body = map(_plain, (headline, body))
    for text in (headline, body):
        if match := overriding(text):
            return _as_written(text, match)
    if match := IN_HEADLINE.search(_lowered(headline)):
        return _as_written(headline, match)
    known = _folded(said)
    for match in IN_BODY.finditer(_lowered(body)):
        if not known or _around(match.string, match) not in known:
            return _as_written(body, match)
    return ""


def meta(headline: str, body: str) -> str:
    """Words of a summary about itself or its writer; empty: there are none."""
    for text in map(_lowered, (headline.strip(), body.strip())):
        if match := META.search(text):
            return match.group()
    return ""


def _around(text: str, match: re.Match[str]) -> str:
    """The match with a few words after it, as far as they belong to one sentence."""
    low = match.start()
    rest = re.split(r"[.;!?\"”»\n]", text[match.end() : match.end() + 40], maxsplit=1)
    words = rest[0].rsplit(" ", 1)[0] if len(rest) == 1 else rest[0]
    return _folded(text[low : match.end()] + words)


def _plain(text: str) -> str:
    """Wide letters and other look-alikes of the same letter, and several spaces, as usual ones."""
    return " ".join(nfkc(text).split())


def _as_written(text: str, match: re.Match[str]) -> str:
    """The words of a match in the lower case of `text`, which may be longer in rare letters."""
    return text[slice(*match.span())] if len(text) == len(match.string) else match.group()


def _lowered(text: str) -> str:
    """In lower case; the Turkish letters i are both one."""
    return text.replace("İ", "i").replace("ı", "i").lower()


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", nfkc(text).lower()))
