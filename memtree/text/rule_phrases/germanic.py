"""German, Dutch and Swedish."""

from __future__ import annotations

from memtree.text.rule_score import Phrases

_DE_MANNERS = (
    "antworte|antworten|antwortet|benutze|benutz|benutzen|verwende|verwenden|verwendet|"
    "nutze|nutz|nutzen|schreib|schreibe|schreiben|"
    "sprich|sprechen|rede|reden|halte|halt|halten|nenne|nenn|nennen|gib|geben|angeben|"
    "setze|setz|formatiere|formatieren|formuliere|"
    "formulieren|bleib|bleibe|bleiben|beschränke|beginne|beginn|beginnen|beende|beenden|"
    "behandle|sei|seien|drück|fass|fasse|rücke|einrücken|"
    "lass|lasse|lassen|mach|mache|machen|achte|achten|bevorzuge|folge|befolge|leg|lege|"
    "ablegen|duze|sieze|zitiere|begründe|markiere|betone|orientiere|"
    "nimm|verzichte|behalte|kommentiere|benenne|berücksichtige"
)
_DE_TASKS = (
    "verändere|verändern|signiere|unterschreibe|begrüße|runde|zähle|ordne|sortiere|wähle|"
    "suche|vergib|teile|fange|fang|schließe|öffne|ersetze|ergänze|erfinde|rechne|übernimm|"
    "dokumentiere|protokolliere|logge|wiederhole|entschuldige|kürze|deploye|merge|ignoriere|"
    "wiederhol|behaupte|zeichne|bewerte|hör|unterlass|füge|füg|hinzufügen|zeig|zeige|"
    "zeigen|erkläre|erklär|erklären|prüfe|prüf|prüfen|"
    "überprüfe|frag|frage|fragen|nachfragen|warne|warn|schlag|schlage|"
    "vorschlagen|führe|führ|ausführen|teste|testen|erstelle|erstellen|übersetze|ändere|"
    "änder|ändern|lösche|lösch|löschen|entferne|committe|commite|committen|pushe|pushen|"
    "erinnere|bestätige|sag|sage|sagen|vergleiche|liste|auflisten|korrigiere|rühr|rühre|"
    "anfassen|berühre|stell|stelle|erwähne|erwähnen|merk|mergen|"
    "informiere|weise|melde|starte|aktualisiere|speichere|verrate|lege|bring|rate"
)
GERMAN = Phrases(
    first=(
        f"{_DE_MANNERS}|{_DE_TASKS}|kein|keine|keinen|keinerlei|nie|niemals|immer|alle|"
        "alles|jede|jeder|jedes|jeden|du|sie|ich|wir|nur|"
        "bitte|vermeide|vermeiden|ab|von|künftig|zukünftig|in|wenn|bevor|vor|nach|hier|"
        "regel|hör|hören|grundsätzlich|spar|verboten|merk|falls|sobald|möchte|will|tests|"
        "deine|jedesmal|fortan|standardmäßig|"
        "generell|stets|nicht|für|kurz|halte|bei"
    ),
    anywhere=(
        "immer nie niemals stets künftig sofort müssen darfst sollst muss sollen jetzt "
        "zukunft keine kein deine deinen deinem deiner grundsätzlich verboten"
    ),
    lead=(
        r"(?:(?:und|aber|auch|also|ok(?:ay)?|gut|ja|bitte|danke|hallo|hi|hey|übrigens|"
        r"noch was|wichtig|hinweis|achtung|merke?(?: dir)?|denk dran|"
        r"denk daran|beachte|nicht vergessen|vergiss nicht(?= ?[:,]))\b[\s,:!.–-]*+){1,4}+"
    ),
    joint="und bitte|dann|also|bitte",
    standing=(
        r"\bimmer\b|\bstets\b|\bnie(?:mals)?\b|\bab (?:jetzt|sofort|heute|nun)\b|\bvon "
        r"(?:nun|jetzt) an\b|\bkünftig\b|\bzukünftig\b|\bin zukunft\b|\bfortan\b|\bgrundsätzlich\b"
        r"|\bstandardmäßig\b|\bgenerell\b"
        r"|\bunter keinen umständen\b|\bauf keinen fall\b|\bin jedem fall\b|\bausnahmslos\b|"
        r"\bjedes ?mal\b|\bohne (?:mich|meine|nachfrage|rückfrage|zu fragen)\b|\bes sei "
        r"denn\b|\bbis auf weiteres\b|\bfür den rest (?:des|dieses|unseres)\b|\bausschließlich\b"
    ),
    frame=(
        r"\b(?:wenn|immer wenn|jedes mal,? wenn|sobald|wann immer) (?:du|ich|sie) (?!willst|"
        r"möchtest|kannst|magst|zeit)|^bevor du\b|^vor (?:jedem|jeder|dem)\b|^nach (?:jedem|"
        r"jeder)\b|\bpro antwort\b|\bim zweifel\b|\bfalls du (?:dir )?(?:un|nicht)sicher\b|"
        r"\bfalls du etwas nicht weißt\b"
    ),
    scope=(
        r"\b(?:in|für) (?:diesem|diesen|unserem|unser|dem ganzen|das ganze|dieser|unserer|"
        r"dieses) (?:projekt|repo|repository|code|codebasis|chat|gespräch|unterhaltung|"
        r"team)\b|\bhier\b|\bim (?:ganzen|gesamten) (?:projekt|code)\b|\büberall\b|\bdurchgehend\b"
        r"|\bim projekt\b|\bim code\b"
    ),
    order=(
        rf"{{start}}(?:(?:immer|nie|niemals|stets|nur|bitte|ab jetzt|ab sofort|von nun "
        rf"an|künftig|in zukunft|grundsätzlich|auch|du sollst|mir|dir) ?,? ?)*+(?:{_DE_MANNERS})\b"
        rf"|\b(?:immer|nie|niemals|stets|bitte|nur|zuerst)(?: \w+){{0,4}} (?:{_DE_MANNERS}|"
        rf"{_DE_TASKS})[.!]?$"
    ),
    task=(
        rf"{{start}}(?:(?:immer|nie|niemals|stets|nur|bitte|ab jetzt|ab sofort|von nun "
        rf"an|künftig|in zukunft|grundsätzlich|auch) ?,? ?)*+(?:{_DE_TASKS})\b|\b(?:immer|"
        rf"nie|niemals|stets)(?: [\w/.-]+){{0,5}} \w{{3,}}en[.!]?$"
    ),
    duty=(
        r"\bdu (?:musst|sollst|solltest|hast)\b|\bsie (?:müssen|sollen)\b|\bbitte\b.*\b(?:immer|"
        r"nie|niemals|stets)\b"
    ),
    forbid=(
        rf"{{start}}(?:bitte )?(?:{_DE_MANNERS}|{_DE_TASKS}) (?:bitte |mir |mich |dabei "
        r"|in \w+ \w+ )*(?:kein|keine|keinen|keinem|keinerlei|nie|niemals|nicht)\b|\bdu "
        r"(?:darfst|sollst|sollte?st|musst)\b.*\b(?:kein\w*|nicht|nie|niemals)\b"
        r"|{start}(?:bitte )?(?:vermeide|vermeiden sie|verzichte|spar dir|hör auf|lass "
        r"(?:das|die|den))\b|^(?:bitte )?(?:keine?n?|keinerlei|niemals?|nicht) \w+|\b(?:verboten|"
        r"tabu|untersagt)\b|\bnie(?:mals)? .{1,60}\w+en[.!]?$"
        r"|^ich (?:möchte|will|brauche|mag) (?:bitte |ab jetzt |in \w+ \w+ )*(?:kein\w*|"
        r"nie|niemals|nicht,? dass)\b"
    ),
    wish=(
        r"\bich (?:möchte|will|wünsche mir|hätte gern|erwarte|bevorzuge|mag)\b(?!.*\b(?:essen|"
        r"kaufen|gehen|fahren|wissen)\b)"
    ),
    norm=(
        r"^(?!(?:sie|wir|ich|ihr|man|es|er)\b|(?:\w+ ){0,2}(?:mitarbeiter|kunden|besucher|schüler|"
        r"kinder|gäste|eltern|teilnehmer|leute|menschen|bürger|passagiere)\b)[\w' /-]{3,60}?"
        r"\b(?:müssen|sollen|sollten|dürfen|gehören|kommen|heißen)\b"
        r"|^(?:jede[rsnm]?|kein\w*) [\w' /-]{3,60}?\b(?:muss|soll|sollte|darf|gehört|kommt|heißt)\b"
        r"|\b(?:wird|werden) (?:hier |bei uns )?(?:nicht|kein\w*|nur|immer|nie|grundsätzlich|"
        r"auf|mit) "
        r".{0,60}\b(?:gearbeitet|verwendet|benutzt|genutzt|geschrieben|gepusht|benannt|"
        r"eingerückt)\b"
        r"|^jede[rsnm]? (?:neue\w* )?[\w-]+ (?:braucht|benötigt|bekommt|erhält) "
    ),
    habit=(
        r"\bwir (?:\w+ )?(?:benutzen|verwenden|nutzen|schreiben|rücken|arbeiten|deployen|"
        r"nehmen|setzen|bevorzugen|committen|mergen|benennen)\b|\bhier (?:benutzen|verwenden|"
        r"nutzen|schreiben|rücken) wir\b"
    ),
    style=(
        r"\b(?:deine|deinen|deiner|deinem|ihre|ihren|alle|allen|jede|jeder|die) (?:\w+ "
        r")?(?:antwort(?:en)?|erklärung(?:en)?|nachricht(?:en)?|texte?n?|sätze|kommentare|"
        r"zusammenfassung(?:en)?|vorschläge)\b|\bantworten\b|\b(?:fremdwörter\w*|fachbegriffe\w*|"
        r"fachjargon|jargon|anglizismen|aufzählungen|aufzählungszeichen|stichpunkte\w*|"
        r"ausrufezeichen|semikolons?|strichpunkte?|tabs?|tabulatoren|leerzeichen|großbuchstaben|"
        r"anführungszeichen|kommentare|metrisch\w*|spoiler|tonfall|floskeln|abkürzungen|"
        r"quellen?|(?:variablen|datei|funktions|klassen|branch)namen|commit-?(?:nachrichten|"
        r"messages)|passiv|schimpfwörter|metaphern|rolle|duzen?|siezen?|du an|sie an|"
        r"mit du|mit sie|per du|schweizer|schreibweise|rechtschreibung|docstrings)\b|"
        r"\b(?:unter|höchstens|maximal|nicht mehr als|nicht länger als|in|bis zu|weniger "
        r"als|kürzer als|auf) (?:\d+|einem|einen|zwei|drei|fünf|zehn|hundert) (?:wörter\w*|"
        r"worten?|sätzen?|satz|zeilen?|zeichen|absätzen?|absatz)\b|\b(?:antwort|schreib|"
        r"sprich|red|formulier)\w* (?:[\w-]+ ){0,4}?(?:auf|in) (?:deutsch|englisch|französisch|"
        r"spanisch|italienisch|russisch|chinesisch|japanisch|arabisch|türkisch|niederländisch|"
        r"plattdeutsch|reimen|einem satz|versen|einfacher sprache|ganzen sätzen|der ich-form)\b|"
        r"\b(?:antwort|schreib|sprich|erklär|formulier)\w* (?:\w+ ){0,3}?(?:kurz|knapp|"
        r"einfach|höflich|förmlich|ausführlich|sachlich|locker|direkt|wie (?:ein|für))"
        r"|\bzusammenfassung(?:en)?|\b(?:schlusswort\w*|einleitung\w*|grußformel\w*|sie-form|"
        r"du-form|kurze[nr]? sätze\w*)"
    ),
    work=(
        r"\b(?:datei(?:en)?|ordner\w*|verzeichnis\w*|funktion(?:en)?|klassen?|zweig|abhängigkeit("
        r"?:en)?|bibliothek(?:en)?|pakete?n?|variablen?|datenbank|migration(?:en)?|befehle?|"
        r"linter|modul\w*|komponenten?|abfragen|schema|rezepte|links?|etwas)\b"
        r"|\b(?:daten|preise|einheiten|tabellen|überschriften|witze|entschuldigungen)\b"
    ),
    every=r"^(?:alle|alles|jede[rsnm]?|nur|sämtliche)\b|\b(?:nur|ausschließlich)\b",
    contrast=r"\b(?:statt|anstatt|anstelle)\b|, (?:nicht|nie|kein\w*) \w+|\bund nicht\b",
    tell=(
        r"{start}(?:bitte )?(?:schlag|empfiehl|erwähne|verwende|benutze|nutze|füge|wiederhole|"
        r"entschuldige|erfinde|schreib|schreibe|erkläre|setze|beginne|beende|verrate|"
        r"rate|gib) (?:mir |dich |bitte )?(?:kein\w*|nie|niemals|nicht)\b(?! (?:den|die|"
        r"das|diese|dieses|noch)\b)"
    ),
    fixed=(
        r"{start}(?:fass|fasse) dich (?:immer |bitte )?(?:kurz|kürzer)\b|^(?:sei|bleib|"
        r"bleibe) (?:immer |bitte |stets )?(?:kurz|knapp|direkt|sachlich|höflich|förmlich|"
        r"prägnant|präzise|formell|locker)\b"
        r"|{start}(?:bitte )?(?:duze|sieze) mich\b|\bsprich mich .{0,30}(?:mit|per|als) "
        r"\w+|\b(?:sag|verwende) (?:du|sie) zu mir\b|^(?:nenne?|ruf) mich (?!an|morgen|"
        r"wenn|später|heute|zurück|verrückt)\w"
        r"|\b(?:frag|frage|fragen|warne|informiere)\b.{0,30}\b(?:bevor|ehe|vor dem|vor "
        r"jeder)\b|\b(?:bevor|ehe) du .{1,40}(?:frag|frage) (?:mich|nach|immer)\b|^regel(?: "
        r"\d+)?: \w|\bbleib\w* (?:immer |stets )?in (?:deiner |der )?rolle\b"
        r"|\b(?:sprich|handle|entscheide|rede) (?:nie|niemals|nicht) für\b"
        r"|\b(?:ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|künftig|in zukunft)\b.{0,30}\b(?:d"
        r"eutsch|englisch|französisch|spanisch|italienisch|russisch|niederländisch|polnisch|"
        r"türkisch|schwedisch)\b(?!kurs|unterricht)"
    ),
    nearly=(
        r"^(?:halte dich|halt dich|beschränke dich|orientiere dich|richte dich) |^lass "
        r".{1,30} in ruhe\b"
    ),
    polite=(
        r"\b(?:kannst|könntest|würdest|können|könnten) (?:du|sie) (?:\w+ ){0,2}?(?:immer|"
        r"aufhören|künftig|ab jetzt|in zukunft|nie)\b"
    ),
    definite=(
        rf"{{start}}(?:bitte )?(?:{_DE_MANNERS}|{_DE_TASKS}) (?:mir |bitte |nur )*(?:auf "
        r")?(?:den|die|das|dem|der|diesen?|dieses|diesem|dieser|mein\w*|ihn|es|sie) "
        r"(?!quellen?|antworten|tests)\w+|\b(?:die|den|der) (?:erste|zweite|dritte|nächste|"
        r"letzte)\w*\b"
    ),
    once=(
        r"\b(?:dieses mal|diesmal|vorerst|fürs erste|jetzt gleich|heute abend|morgen|"
        r"zweite\w*|dritte\w*|nochmal|noch einmal|unten|oben|folgende\w*|vorige\w*|nächste\w*|"
        r"letzte\w*|erste frage|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b"
    ),
    against=(
        r"^gib (?:\w+ )?auf\b|^(?:ich|er|sie|es|wir|ihr|man|mein\w*|sein\w*|unser\w*|"
        r"der|die|das|dies\w*|niemand|früher|damals)\b(?: [\w-]+){1,5}? (?:immer|nie|"
        r"niemals|stets|jedes)\b(?!.*\b(?:dass|du|deine|verwenden|nutzen|benutzen)\b)"
        r"|^(?:ich (?:habe|bin|war|werde|gehe|hatte|muss|kann|weiß|glaube|denke)|er|wir "
        r"(?:haben|sind|waren|werden|fahren|gehen|müssen|sollten)|früher|die funktion|"
        r"gib (?:niemals |nie |nicht )?auf)\b"
        r"|\b(?:hoffnung|träume?|herz|aufgeben|glaub an|sorgen|vergiss nicht|mut)\b|\b(?:sagte|"
        r"sagt|meinte|schrieb|heißt es|solle|hat gesagt)\b|\bab (?:morgen|montag|dienstag|"
        r"nächster)\b"
    ),
    asks=r"^(?:warum|wieso|wie|was|wann|wer|wo|weshalb)\b",
)

_NL_MANNERS = (
    "antwoord|antwoorden|gebruik|gebruiken|schrijf|schrijven|schrijft|spreek|spreken|"
    "praat|houd|hou|houden|noem|noemen|vermeld|zet|zetten|formatteer|blijf|beperk|begin|"
    "eindig|behandel|wees|laat|maak|let|volg|"
    "respecteer|plaats|tutoyeer|citeer|geef|geven|formuleer|kies|hanteer|werk"
)
_NL_TASKS = (
    "deploy|deployen|release|merge|wis|betaal|publiceer|verzend|voeg|toevoegen|toon|laat|"
    "leg|uitleggen|controleer|check|vraag|vragen|waarschuw|stel|"
    "voer|uitvoeren|test|testen|maak|vertaal|wijzig|verander|verwijder|verwijderen|commit|"
    "committen|push|pushen|herinner|bevestig|zeg|vergelijk|raak|aanraken|vat|meld|som|"
    "corrigeer|draai|run"
)
DUTCH = Phrases(
    first=(
        f"{_NL_MANNERS}|{_NL_TASKS}|geen|nooit|altijd|alle|alles|elke|ieder|iedere|je|"
        "jij|u|ik|we|wij|alleen|vermijd|vermijden|voortaan|vanaf|als|wanneer|voor|voordat|"
        "na|hier|regel|stop|verboten|verboden|in|onthoud|spreek|wil|zou|niet|telkens|"
        "gelieve|graag|bij"
    ),
    anywhere="altijd nooit voortaan moeten moet mag toekomst geen nu",
    lead=(
        r"(?:(?:en|maar|ook|dus|ok(?:é)?|goed|ja|alsjeblieft|graag|aub|bedankt|hallo|"
        r"hoi|trouwens|belangrijk|let op|onthoud|denk eraan|vergeet niet(?= ?[:,])|opmerking)\b[\s"
        r",:!.–-]*+){1,4}+"
    ),
    standing=(
        r"\baltijd\b|\bnooit\b|\bvoortaan\b|\bvanaf (?:nu|vandaag|heden)\b|\bin (?:de "
        r"toekomst|het vervolg)\b|\bstandaard\b(?! bibliotheek)|\bonder geen (?:beding|"
        r"enkele)\b|\bin geen geval\b|\btelkens\b|\belke keer\b|\bzonder (?:het te vragen|"
        r"mijn|uitzondering)\b|\bte allen tijde\b|\btenzij ik\b|\buitsluitend\b"
    ),
    frame=(
        r"\b(?:als|wanneer|telkens als|elke keer (?:als|dat)|zodra) (?:je|ik|u|jij) (?!wilt|"
        r"wil|kunt|kan|tijd|zin)|^voordat je\b|^(?:voor|na) (?:elke|iedere|elk|ieder)\b|"
        r"\bper antwoord\b|\bbij twijfel\b|\bals je het niet (?:zeker )?weet\b"
    ),
    scope=(
        r"\b(?:in|voor|binnen) (?:dit|deze|ons|onze|het hele|de hele) (?:project|repo|"
        r"repository|code|codebase|chat|gesprek|team)\b|\bhier\b|\boveral\b|\bin het "
        r"project\b"
    ),
    order=(
        rf"{{start}}(?:(?:altijd|nooit|alleen|graag|gelieve|vanaf nu|voortaan|ook|je) "
        rf"?,? ?)*+(?:{_NL_MANNERS})\b|\b(?:altijd|nooit|graag|alleen)(?: [\w-]+){{0,4}} "
        rf"(?:te )?(?:{_NL_MANNERS}|{_NL_TASKS})[.!]?$"
    ),
    task=(
        rf"{{start}}(?:(?:altijd|nooit|alleen|graag|gelieve|vanaf nu|voortaan|ook) ?,? "
        rf"?)*+(?:{_NL_TASKS})\b|\b(?:altijd|nooit)(?: [\w/.-]+){{0,5}} \w{{3,}}en[.!]?$"
    ),
    duty=r"\b(?:je|jij|u) (?:moet|moeten|dient|hoort)\b",
    forbid=(
        rf"{{start}}(?:{_NL_MANNERS}|{_NL_TASKS}) (?:me |mij |alsjeblieft |in \w+ \w+ "
        rf")*(?:geen|nooit|niet)\b|\b(?:je|u) (?:mag|moet) .{{0,30}}(?:geen|niet|nooit)\b|"
        rf"{{start}}(?:vermijd|vermijden|stop met|hou op met)\b|^(?:geen|nooit|niet) "
        rf"\w+|\b(?:verboden|taboe)\b|\braak .{{1,30}} (?:nooit|niet) aan\b"
        r"|^ik wil (?:\w+ )?(?:geen|nooit)\b"
    ),
    wish=r"\bik (?:wil|zou graag|wens|verwacht|heb liever)\b(?!.*\b(?:eten|kopen|gaan|weten)\b)",
    norm=(
        r"^(?!(?:zij|ze|wij|we|jullie|je|jij|u|hij|het|ik|men|dat)\b|(?:\w+ ){0,2}(?:medewerkers|"
        r"klanten|"
        r"bezoekers|leerlingen|kinderen|gasten|ouders|deelnemers|mensen)\b)[\w' /-]{3,60}?"
        r"\b(?:moeten|dienen|horen|mogen|komen)\b"
        r"|^(?:elke|elk|iedere?|geen) [\w' /-]{3,60}?\b(?:moet|dient|hoort|mag|komt)\b"
    ),
    habit=(
        r"\b(?:we|wij) (?:\w+ )?(?:gebruiken|schrijven|werken|deployen|nemen|zetten|springen|"
        r"committen|mergen|noemen)\b|\bhier (?:gebruiken|schrijven) we\b"
    ),
    style=(
        r"\b(?:je|jouw|uw|alle|elk|elke|de|mijn) (?:\w+ )?(?:antwoord(?:en)?|uitleg|berichten?|"
        r"teksten?|zinnen|commentaar|samenvatting(?:en)?|suggesties)\b|\bantwoorden\b|"
        r"\b(?:emoji's|vakjargon|vaktaal|vaktermen|jargon|anglicismen|opsommingen|opsommingsteken"
        r"s|uitroeptekens?|puntkomma's?|tabs|spaties|hoofdletters|aanhalingstekens|commentaar|"
        r"data als|metrisch\w*|spoilers?|toon|afkortingen|bron(?:nen)?|(?:variabele|bestands|"
        r"functie)namen|commitberichten|passieve vorm|scheldwoorden|rol|je en jij|datum\w*)\b|"
        r"\b(?:onder de|onder|hoogstens|maximaal|niet meer dan|in|tot|korter dan|minder "
        r"dan) (?:\d+|één|een|twee|drie|vijf|tien|honderd) (?:woorden|woord|zinnen|zin|"
        r"regels?|tekens|alinea's?)\b|\b(?:antwoord|schrijf|spreek|praat)\w* (?:\w+ ){0,4}?in "
        r"(?:het )?(?:nederlands|engels|frans|duits|spaans|italiaans|russisch|chinees|"
        r"vlaams|rijm|één zin|verzen|eenvoudige taal)\b|\b(?:antwoord|schrijf|spreek|"
        r"leg|hou)\w* (?:\w+ ){0,3}?(?:kort|bondig|beknopt|eenvoudig|beleefd|formeel|"
        r"uitgebreid|zakelijk|als een)"
        r"|\b(?:samenvatting(?:en)?|inleiding(?:en)?|conclusies?|korte zinnen)\b"
    ),
    work=(
        r"\b(?:bestand(?:en)?|map(?:pen)?|directory|functies?|klassen?|afhankelijkheden|"
        r"bibliotheek|bibliotheken|pakket(?:ten)?|variabelen?|database|migraties|commando's|"
        r"linter|modules?|componenten?|schema|recepten|links?|iets)\b"
        r"|\b(?:datums|prijzen|eenheden|tabellen|koppen|grappen|excuses)\b"
    ),
    every=r"^(?:alle|alles|elke|elk|iedere?|alleen|enkel)\b|\b(?:alleen|enkel|uitsluitend)\b",
    contrast=r"\bin plaats van\b|, (?:niet|geen|nooit) \w+|\ben niet\b",
    tell=(
        r"{start}(?:stel|beveel|noem|gebruik|voeg|herhaal|verzin|schrijf|leg|zet|begin|"
        r"eindig|verklap|geef|verontschuldig) (?:me |mij |je )?(?:geen|nooit|niet)\b(?! "
        r"(?:de|het|die|dat|deze|dit|nog)\b)"
    ),
    fixed=(
        r"^(?:wees|blijf) (?:altijd )?(?:kort|bondig|beknopt|direct|zakelijk|beleefd|"
        r"formeel|precies)\b|\b(?:hou|houd) het (?:altijd )?(?:kort|beknopt|bondig) (?:in|"
        r"bij)\b|{start}tutoyeer me\b|\bspreek me (?:\w+ )?(?:aan|met)\b|^noem me (?!morgen|"
        r"als|later)\w"
        r"|\b(?:vraag|waarschuw|overleg|vragen)\b.{0,40}\b(?:voordat|voor je|alvorens)\b|"
        r"^regel(?: \d+)?: \w|\bblijf (?:altijd )?in (?:je )?rol\b|\b(?:spreek|handel|"
        r"beslis) (?:nooit|niet) voor\b"
        r"|\b(?:vanaf nu|voortaan)\b.{0,30}\b(?:nederlands|engels|duits|frans|spaans|vlaams)\b"
    ),
    nearly=r"^(?:houd je|hou je|beperk je|volg altijd) |^blijf .{1,30} af\b",
    polite=(
        r"\b(?:kun|kan|kunt|zou|wil) (?:je|u|jij) (?:\w+ ){0,2}?(?:altijd|voortaan|stoppen "
        r"met|ophouden|nooit|vanaf nu)\b"
    ),
    definite=(
        rf"{{start}}(?:{_NL_MANNERS}|{_NL_TASKS}) (?:me |alleen )*(?:de|het|die|dat|deze|"
        r"dit|mijn|hem) (?!bron|bronnen|map)\w+"
    ),
    once=(
        r"\b(?:deze keer|dit keer|voorlopig|even|vandaag|morgen|vanavond|tweede|derde|"
        r"nog een keer|opnieuw|hieronder|hierboven|volgende|vorige|laatste|maandag|dinsdag|"
        r"woensdag|donderdag|vrijdag|zaterdag|zondag)\b"
    ),
    against=(
        r"^(?:ik|hij|zij|ze|het|wij|we|jullie|men|mijn|zijn|haar|ons|onze|de|dat|dit|"
        r"die|niemand|vroeger|toen)\b(?: [\w-]+){1,5}? (?:altijd|nooit)\b(?!.*\b(?:dat "
        r"je|antwoorden|gebruiken)\b)|^(?:ik (?:heb|ben|was|ga|had|werk|moet|kan|denk)|"
        r"hij|we (?:hebben|zijn|waren|gaan)|de functie)\b"
        r"|\b(?:hoop|opgeven|dromen|hart|zorgen|vergeet niet)\b|\b(?:zei|zegt|schreef)\b|"
        r"\bvanaf (?:maandag|morgen|dinsdag)\b"
        r"|^ik (?!wil|zou|heb liever|verwacht)[\w']+ .{0,30}\b(?:nooit|altijd)\b"
    ),
    asks=r"^(?:waarom|hoe|wat|wanneer|wie|waar)\b(?! je \w+,)",
)

_SV_MANNERS = (
    "svara|använd|skriv|prata|tala|håll|ange|nämn|sätt|formatera|begränsa|börja|sluta|"
    "avsluta|behandla|var|låt|gör|följ|respektera|tilltala|citera|ge|placera|föredra|"
    "lägg"
)
_SV_TASKS = (
    "deploya|merga|publicera|skicka|lägg|visa|förklara|kontrollera|kolla|fråga|varna|"
    "föreslå|kör|testa|skapa|översätt|"
    "ändra|ta|radera|committa|pusha|påminn|bekräfta|säg|jämför|rör|inkludera|rapportera|"
    "uppdatera|spara|avslöja"
)
SWEDISH = Phrases(
    first=(
        f"{_SV_MANNERS}|{_SV_TASKS}|inga|ingen|inget|aldrig|alltid|alla|allt|varje|du|"
        "jag|vi|bara|undvik|från|framöver|hädanefter|när|innan|före|efter|här|regel|"
        "förbjudet|i|kalla|kom|inte|endast"
    ),
    anywhere="alltid aldrig hädanefter framöver måste ska får framtiden",
    lead=(
        r"(?:(?:och|men|också|så|ok|bra|ja|snälla|tack|hej|förresten|viktigt|obs|kom "
        r"ihåg|glöm inte(?= ?:))\b[\s,:!.–-]*+){1,4}+"
    ),
    standing=(
        r"\balltid\b|\baldrig\b|\bfrån och med (?:nu|idag)\b|\bfrån nu\b|\bhädanefter\b|"
        r"\bframöver\b|\bi fortsättningen\b|\bi framtiden\b|\bsom standard\b|\bunder "
        r"inga omständigheter\b|\bi inget fall\b|\bvarje gång\b|\butan att fråga\b|\butan "
        r"undantag\b|\bom inte jag\b"
    ),
    frame=(
        r"\b(?:när|varje gång|så fort) (?:du|jag) (?!vill|kan|har tid)|^innan du\b|^(?:före|"
        r"efter) varje\b|\bper svar\b|\bvid tvekan\b|\bom du (?:är osäker|inte vet)\b"
    ),
    scope=(
        r"\bi (?:det här|detta|vårt|hela|den här|denna|vår) (?:projektet|projekt|repot|"
        r"koden|kodbasen|kodbas|chatten|samtalet)\b|\bhär\b|\böverallt\b|\bgenomgående\b|"
        r"\bi projektet\b|\bi koden\b"
    ),
    order=(
        rf"{{start}}(?:(?:alltid|aldrig|bara|snälla|vänligen|från och med nu|hädanefter|"
        rf"framöver) ?,? ?)*+(?:{_SV_MANNERS})\b"
    ),
    task=(
        rf"{{start}}(?:(?:alltid|aldrig|bara|snälla|vänligen|från och med nu|hädanefter|"
        rf"framöver) ?,? ?)*+(?:{_SV_TASKS})\b"
    ),
    duty=r"\bdu (?:måste|ska|skall|bör)\b",
    forbid=(
        rf"{{start}}(?:{_SV_MANNERS}|{_SV_TASKS}) (?:mig |dig |i \w+ \w+ )*(?:inga|ingen|"
        rf"inget|aldrig|inte)\b|\bdu (?:får|ska) (?:inte|aldrig)\b|{{start}}(?:undvik|"
        r"sluta att|sluta)\b|^(?:inga|inget|ingen|aldrig|inte) \w+|\bförbjud\w+\b"
        r"|^jag vill inte (?:ha|se|att du)\b"
    ),
    wish=(
        r"\bjag (?:vill|skulle vilja|önskar|föredrar|förväntar)\b(?!.*\b(?:äta|köpa|gå|"
        r"åka|veta)\b)"
    ),
    norm=(
        r"^(?:alla|allt|varje|inga|ingen|\w+namn|commits?|kommentarer|tester|variabler|filer)\b"
        r"(?! (?:anställda|kunder|barn|besökare|elever|deltagare))[\w' /-]{1,60}?"
        r"\b(?:måste|ska|skall|bör|får)\b"
    ),
    habit=(
        r"\bvi (?:\w+ )?(?:använder|skriver|jobbar|deployar|indenterar|committar|mergar|"
        r"döper)\b|\bhär (?:använder|skriver) vi\b"
    ),
    style=(
        r"\b(?:dina|ditt|din|alla|varje|mina) (?:\w+ )?(?:svar(?:en)?|förklaring(?:ar)?|"
        r"meddelanden|texter|meningar|kommentarer|sammanfattningar|förslag)\b|\b(?:facktermer|"
        r"fackspråk|jargong|svordomar|punktlistor|utropstecken|semikolon|tabbar|mellanslag|"
        r"versaler|citattecken|kommentarer|metriska|spoilers|ton|förkortningar|variabelnamn|"
        r"filnamn|funktionsnamn|passiv form|rollen)\b|\b(?:under|högst|max(?:imalt)?|"
        r"inte mer än|inte längre än|kortare än|färre än|på|i) (?:\d+|en|två|tre|fem|"
        r"tio|hundra) (?:ord|meningar|mening|rader|rad|tecken|stycken|stycke)\b|\b(?:svara|"
        r"skriv|prata|tala)\w* (?:\w+ ){0,4}?på (?:svenska|engelska|tyska|franska|spanska|"
        r"norska|danska|finska|ryska|vers|rim)\b|\b(?:svara|skriv|prata|förklara)\w* "
        r"(?:\w+ ){0,2}?(?:kort|kortfattat|enkelt|artigt|formellt|utförligt|som (?:en|"
        r"ett|om))"
        r"|\b(?:sammanfattning(?:ar)?|inledning(?:ar)?|korta meningar)\b"
    ),
    work=(
        r"\b(?:filer?|filen|mapp(?:en|ar)?|katalog(?:en)?|funktion(?:er|en)?|klass(?:er)?|"
        r"gren(?:en)?|beroenden|bibliotek|paket|variabler|databas(?:en)?|migreringar|"
        r"kommandon?|modul(?:er)?|komponent(?:er)?|schema|recept|länkar)\b"
        r"|\b(?:datum|priser|enheter|tabeller|rubriker|skämt|ursäkter|källan|källor|källa)\b"
    ),
    every=r"^(?:alla|allt|varje|bara|endast)\b|\b(?:endast|bara|enbart)\b",
    contrast=r"\bi ?stället för\b|, (?:inte|inga|aldrig) \w+|\boch inte\b",
    tell=(
        r"{start}(?:föreslå|rekommendera|nämn|använd|lägg|upprepa|hitta|skriv|förklara|"
        r"sätt|börja|avsluta|avslöja|be) (?:mig |till )?(?:inga|ingen|inget|aldrig|inte)\b(?! "
        r"(?:den|det|de|denna|detta|än)\b)"
    ),
    fixed=(
        r"^(?:var|håll dig) (?:alltid )?(?:kortfattad|koncis|kort|direkt|saklig|artig|"
        r"formell|tydlig)\b|^kalla mig (?!imorgon|när|om|senare)\w|\btilltala mig\b|\b(?:fråga|"
        r"varna|rådfråga)\b.{0,30}\binnan\b|^regel(?: \d+)?: \w|\bstanna i (?:din )?roll\w*\b|"
        r"\b(?:tala|prata|agera) (?:aldrig|inte) för\b|^svara (?:alltid )?(?:kort|kortfattat)\b"
        r"|\b(?:från och med nu|hädanefter|framöver)\b.{0,30}\b(?:svenska|engelska|tyska|"
        r"norska|danska|finska)\b"
    ),
    nearly=r"^(?:håll dig till|begränsa dig|följ alltid) ",
    polite=r"\b(?:kan|skulle) du (?:\w+ ){0,2}?(?:alltid|sluta|framöver|aldrig)\b",
    definite=(
        rf"{{start}}(?:{_SV_MANNERS}|{_SV_TASKS}) (?:det|den|de|denna|detta|dessa|min|"
        rf"mitt) (?!här projekt)\w+|{{start}}(?:{_SV_TASKS}) \w+(?:et|en)\b"
    ),
    once=(
        r"\b(?:den här gången|denna gång|tills vidare|just nu|idag|imorgon|ikväll|andra "
        r"alternativet|andra|tredje|en gång till|nedan|ovan|nästa|förra|sista|måndag|"
        r"tisdag|onsdag|torsdag|fredag|lördag|söndag)\b"
    ),
    against=(
        r"^(?:jag|han|hon|det|den|vi|de|man|min|mitt|mina|hans|hennes|vår|ingen)\b(?: "
        r"[\w-]+){1,5}? (?:alltid|aldrig)\b(?!.*\batt du\b)|^(?:jag (?:har|är|var|ska|"
        r"hade|måste|tror|jobbar)|han|hon|vi (?:har|är|var|ska|åker))\b|\b(?:hopp(?:et)?|"
        r"ge upp|drömmar|hjärta|oroa|glöm inte)\b|\b(?:sa|sade|säger|skrev)\b"
        r"|^jag (?!vill|önskar|föredrar)\w+ .{0,30}\b(?:aldrig|alltid)\b"
    ),
    asks=r"^(?:varför|hur|vad|vem|var \w+ du)\b",
)
