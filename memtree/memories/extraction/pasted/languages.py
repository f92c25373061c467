"""Words by which a text is handed over, in seven languages."""

from __future__ import annotations

import re

NOUNS = (
    r"e-?mails?|mails?|letters?|articles?|texts?|essays?|stor(?:y|ies)|transcripts?|messages?"
    r"|documents?|docs?|readme|contracts?|paragraphs?|drafts?|posts?|tweets?|reviews?|poems?|lyrics"
    r"|songs?|cvs?|résumés?|resumes?|bios?|biograph(?:y|ies)|job (?:posting|description|ad)s?"
    r"|descriptions?|chapters?|excerpts?|passages?|quotes?|conversations?|chats?|dialogues?|prompts?"
    r"|issues?|tickets?|specs?|specifications?|reports?|abstracts?|speech(?:es)?|blog|scripts?"
    r"|sentences?|snippets?|notes from|cover letters?|testimonials?|interviews?|minutes|feedback"
    r"|bullet points?|bullets"
    r"|nachricht|brief|artikel|aufsatz|geschichte|lebenslauf|absatz|gespräch|satz|sätze"
    r"|courriel|lettre|texte|histoire|paragraphe|discours|phrase|correo|carta|artículo|texto"
    r"|mensaje|historia|párrafo|conversación|artigo|mensagem|história|parágrafo|lettera|articolo"
    r"|testo|messaggio|storia|paragrafo|bericht|tekst|verhaal|alinea|zin"
)
VERBS = (
    r"summari[sz]e|summary of|tl;?dr|translate|translation of|proof-?read|rewrite|re-write|reword"
    r"|rephrase|paraphrase|edit|polish|shorten|condense|review|analy[sz]e|improve|simplify|classify"
    r"|critique|extract|fix the (?:grammar|spelling|text)|correct"
    r"|check (?:the )?(?:grammar|spelling)"
    r"|reply to|respond to|answer (?:to )?(?:this|the)|read(?: this| the)|explain (?:this|the)"
    r"|make (?=(?:this|it|these|the)\b[^.!?\n:]{0,40}"
    r"\b(?:sound|more|less|shorter|better|formal|stronger)\b)"
    r"|continue (?:this|the)|grade|rate|implement (?:this|the)|write (?:a|the|my) cover letter"
    r"|(?:um)?formulier\w*"
    r"|übersetz\w*|fasse?\b.{0,40}\bzusammen|zusammenfass\w*|korrigier\w*|verbesser\w*|umschreib\w*"
    r"|kürze|tradui[st]\w*|résume[rz]?|corrige[rz]?|réécri\w*|traduc\w*|tradúc\w*|resum\w*|reescrib\w*"
    r"|traduz\w*|corrija|reescrev\w*|riassum\w*|corregg\w*|riscriv\w*|vertaal\w*|vat\b.{0,40}\bsamen"
    r"|verbeter\w*|corrigeer\w*|herschrijf\w*"
)
HANDED = (
    r"(?:here(?:'s| is| are|’s)|below(?: is| are)?|this is|see|attached is)\b[^.!?\n:]{0,40}"
    rf"\b(?:{NOUNS})|the following|as follows|hier (?:ist|sind)\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})"
    rf"|voici\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})"
    rf"|aqu[íi] (?:est[áa]|tienes)\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})"
    rf"|ecco\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})|hier is\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})"
)
ABOUT_SELF = re.compile(
    r"\b(?:about (?:me|myself|us)|my (?:preferences|situation|background|profile|details|setup"
    r"|stack|requirements|schedule|plans?|allerg\w+|needs|goals|interests|habits|rules|info(?:rmation)?)"
    r"|i (?:like|love|prefer|want|need|use|am|have)|über mich|meine (?:vorlieben|situation)"
    r"|sobre m[íi]|mis (?:preferencias|datos)|à propos de moi|mes préférences|sobre mim"
    r"|minhas preferências|su di me|le mie preferenze|over mij|mijn voorkeuren)\b",
    re.IGNORECASE,
)
