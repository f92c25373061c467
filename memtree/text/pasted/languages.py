"""Words by which a text is handed over, in seven languages."""

from __future__ import annotations

import re

# Texts that somebody else wrote, or that somebody reads.
TEXTS = (
    r"e-?mails?|letters?|articles?|texts?|essays?|transcripts?|paragraphs?|tweets?|poems?|lyrics"
    r"|cvs?|résumés?|resumes?|bios?|biograph(?:y|ies)|job (?:posting|description|ad)s?|chapters?"
    r"|excerpts?|passages?|quotes?|abstracts?|speech(?:es)?|cover letters?|testimonials?"
    r"|blog posts?"
    r"|messages? (?:from|i got|i received|he|she|they)|descriptions?|dialogues?"
    r"|nachricht von|artikel|aufsatz|lebenslauf|absatz"
    r"|courriel|lettre|texte|discours|correo|carta|artículo|texto|párrafo|artigo|parágrafo"
    r"|lettera|articolo|testo|paragrafo|tekst|verhaal|alinea"
)
# Other things have these names, too: only with a word that hands them over.
NOUNS = (
    rf"{TEXTS}|mails?|stor(?:y|ies)|messages?|documents?|docs?|readme|contracts?|drafts?|posts?"
    r"|reviews?|songs?|conversations?|chats?|prompts?|issues?|tickets?|specs?|specifications?"
    r"|reports?|blog|scripts?|sentences?|snippets?|notes|interviews?|minutes|feedback"
    r"|bullet points?|bullets"
    r"|nachricht|brief|geschichte|gespräch|satz|sätze|histoire|paragraphe|phrase|mensaje|historia"
    r"|conversación|mensagem|história|messaggio|storia|bericht|zin"
)
VERBS = (
    r"summari[sz]e|summary of|tl;?dr|translate|translation of|proof-?read|rewrite|re-write|reword"
    r"|rephrase|paraphrase|edit|polish|shorten|condense|review|analy[sz]e|improve|simplify|classify"
    r"|critique|extract|fix the (?:grammar|spelling|text)|correct"
    r"|check (?:the )?(?:grammar|spelling)"
    r"|reply to|respond to|answer (?:to )?(?:this|the)|read(?: this| the)|explain (?:this|the)"
    r"|make (?=(?:this|it|these|the)\b[^.!?\n:]{0,40}"
    r"\b(?:sound|more|less|shorter|better|formal|stronger)\b)"
    r"|continue (?:this|the)|grade|rate|implement(?= (?:this|the))|write (?:a|the|my) cover letter"
    r"|(?:um)?formulier\w*"
    r"|übersetz\w*|fasse?\b.{0,40}\bzusammen|zusammenfass\w*|korrigier\w*|verbesser\w*|umschreib\w*"
    r"|kürze|tradui[st]\w*|résume[rz]?|corrige[rz]?|réécri\w*|traduc\w*|tradúc\w*|resum\w*"
    r"|reescrib\w*"
    r"|traduz\w*|corrija|reescrev\w*|riassum\w*|corregg\w*|riscriv\w*|vertaal\w*"
    r"|vat\b.{0,40}\bsamen"
    r"|verbeter\w*|corrigeer\w*|herschrijf\w*"
)
HANDED = (
    r"(?:here(?:'s| is| are|’s)|below(?: is| are)?|this is|see|attached is)\b[^.!?\n:]{0,40}"
    rf"\b(?:{NOUNS})|the following (?:[\w-]+ ){{0,2}}?(?:{NOUNS})|hier (?:ist"
    rf"|sind)\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})"
    rf"|voici\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})"
    rf"|aqu[íi] (?:est[áa]|tienes)\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})"
    rf"|ecco\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})|hier is\b[^.!?\n:]{{0,40}}\b(?:{NOUNS})"
)
ABOUT_SELF = re.compile(
    r"\b(?:about (?:me|myself|us)|my (?:preferences|situation|background|profile|details|setup"
    r"|stack|requirements|schedule|plans?|allerg\w+|needs|goals|interests|habits|rules"
    r"|info(?:rmation)?)|(?:things|what|stuff|foods?|everything) (?:that )?(?:i|we) (?:like|love"
    r"|prefer|want|need|use|am|are|have|hate|eat|enjoy|do)"
    r"|über mich|meine (?:vorlieben|situation)|sobre m[íi]|mis (?:preferencias|datos)"
    r"|à propos de moi|mes préférences|sobre mim|minhas preferências|su di me|le mie preferenze"
    r"|over mij|mijn voorkeuren)\b"
)
