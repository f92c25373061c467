"""Rules for memories that may be out of date once they are old: job, place, version, port, plan.

    >>> may_change("User works at Initech."), may_change("User's blood type is A.")
    (True, False)

A wish stays what it is until somebody takes it back, and so does a taste.
"""

from __future__ import annotations

from memtree.memories.memory import Memory
from memtree.text.lazy_patterns import lazily
from memtree.text.rule_score import grouped

READ = 400  # characters
_LASTING = ("preference", "instruction")  # categories
_PLAN = "schedule"  # a category

# The languages that sentences are extracted from, and those that words are compared in.
_CHANGING = lazily(
    grouped(
        # jobs
        r"\b(?:work(?:s|ing)? (?:as|at|for|in|on)|jobs?|employ(?:er|ed)|boss|manager|intern"
        r"|arbeitet?|job|chef(?:in)?|trabaj[ao]|jefe|jefa|travaille|patron(?:ne)?|lavor[ao]|capo"
        r"|trabalh[ao]|chefe|werkt?|baas|pracuj\w+|szef\w*|çalış\w+|müdür\w*|работа\w+|начальни\w+)\b"
        r"|(?:工作|上班|经理|老板|働|勤務|仕事|上司|근무|직장|일하|يعمل|تعمل|أعمل|مدير)"
        # places
        r"|\b(?:liv(?:es?|ing) (?:in|at|on|near|with)|resid(?:es?|ing)|moved|address(?:es)?|office"
        r"|stays? (?:in|at|with)|based in|wohn(?:e|t|haft)|leb(?:e|t) in|umgezogen|adresse|büro"
        r"|vive|vivo|reside|dirección|oficina|habite|adresse|bureau|abit[ao]|indirizzo|ufficio"
        r"|mor[ao]|endereço|escritório|woont?|adres|kantoor|mieszka\w*|biur\w+|otur\w+|yaş[ıa]\w+"
        r"|ofis\w*|жив[её]т|живу|адрес\w*|офис\w*)\b"
        r"|(?:住|搬|地址|办公室|住所|引っ越|オフィス|살고|살아|주소|사무실|يسكن|أسكن|تسكن|يعيش|أعيش|عنوان|مكتب)"
        # versions and ports
        r"|\b(?:versions?|versión|versione|versão|versie|wersj\w+|sürüm\w*|верси\w+|ports?|puerto"
        r"|porta|poort|portu|порт\w*)\b|(?:版本|端口|バージョン|ポート|버전|포트|إصدار|منفذ)"
        r"|\bv\d{1,4}\b|\b\d{1,3}\.\d{1,4}\.\d{1,5}\b|\b(?:on|runs?|uses?) \w+ \d{1,3}\.\d{1,3}\b"
        # plans
        r"|\b(?:plan(?:s|ning|ned)?|will|going to|intends?|next (?:week|month|year|spring|summer"
        r"|autumn|fall|winter)|upcoming|deadline|plant|geplant|vorhat|vor(?:hat|habe)|nächste[nrs]?"
        r"|frist|planea\w*|voy a|va a|próxim[oa]|plazo|prévo\w+|prochaine?|échéance|prossim[oa]"
        r"|scadenza|planej\w+|vai|prazo|van plan|volgend\w?|planuj\w+|termin\w*|planlı\w+|gelecek"
        r"|планиру\w+|собира\w+|следующ\w+|срок\w*)\b"
        r"|(?:计划|打算|准备|下个月|明年|截止|予定|計画|つもり|来年|締め切り|계획|예정|다음|마감|يخطط|أخطط|سوف|القادم|موعد)"
    )
)


def ages(memory: Memory, stale: float) -> float | None:
    """Unix seconds from which a memory may be out of date, None for never. `stale`: seconds after
    which those that change are, 0 for never."""
    if not stale or not may_change(memory.text, memory.category, memory.standing):
        return None
    return memory.said + stale


def is_outdated(memory: Memory, stale: float, now: float) -> bool:
    """Return True if a memory may be out of date at that time (unix seconds)."""
    since = ages(memory, stale)
    return since is not None and now >= since


def may_change(text: str, category: str | None = None, standing: str = "") -> bool:
    """Return True if a fact is of a kind that changes with the months. `standing`: its topic."""
    if category in _LASTING or standing.startswith("wish"):
        return False
    if category == _PLAN:
        return True
    return bool(_CHANGING.search(" ".join(text[:READ].lower().split())))
