"""What people say of themselves in German and Dutch: patterns for the beginning of a sentence in
lower case. The sentence is kept as it was said."""

from __future__ import annotations

_DE_KIN = (
    r"(?:ex-?|stief|schwieger|groß|enkel|paten|zwillings?)?(?:frau|mann|partner(?:in)?"
    r"|freund(?:in)?|sohn|söhne|tochter|töchter|kind(?:er)?|baby|mutter|mama|vater|papa|eltern"
    r"|bruder|brüder|schwestern?|geschwister|oma|opa|onkel|tante|cousine?|neffen?|nichten?"
    r"|mitbewohner(?:in)?|chef(?:in)?|kolleg(?:en|in|innen|e)|nachbar(?:in|n)?|ärztin|arzt|hunde?"
    r"|hündin|katzen?|kater|pferde?|kaninchen|hamster|familie)"
)
_DE_NOT = (
    r"(?!(?:gerade|heute|so|mir|mich|jetzt|müde|krank|sicher|verwirrt|am|froh|dabei|da|hier"
    r"|fertig|zurück|gespannt|bereit|etwas|ein bisschen|ein wenig|auf der suche|weg|unterwegs"
    r"|gestern|nicht sicher|nicht so|das|dies\w*|es|die folgende|folgende|dein\w*|ihr\w* antwort"
    r"|sehr (?:müde|froh|zufrieden)|traurig|sauer|glücklich|wütend|einverstanden|auch nicht"
    r"|noch|schon|überfordert|begeistert|hungrig|endlich|kaputt|eine frage|ein problem|den fehler"
    r"|einen fehler|folgenden?|keine ahnung|kein problem|probleme)\b)"
)
GERMAN = {
    "fact": (
        rf"ich (?:bin|heiße|heisse) {_DE_NOT}\w|ich (?:komme aus(?! dem| (?:der|die) (?!schweiz"
        rf"|türkei|ukraine|slowakei))|stamme aus|wohne|lebe|arbeite(?! (?:daran|gerade|an)\b)"
        rf"|studiere|spreche|besitze|fahre"
        r" (?:ein|mit|seit|jeden)|spiele|trinke|esse|vertrage|nehme(?= (?:täglich|seit|\d|\w+ mg"
        r"|regelmäßig|\w*(?:verdünner|tabletten|medikamente?|insulin"
        r"|pille|blocker|statine|kortison|cortison|antidepressiva)))|unterrichte|leite|wurde"
        r"|rauche|benutze|nutze|verwende|koche|backe"
        r"|programmiere|entwickle|pendle"
        rf"|trainiere|sammle|züchte|leide|trage|wiege|verdiene) {_DE_NOT}\w|ich (?:habe|hab"
        rf"|hatte) (?:\w+ ){{0,4}}?(?:{_DE_KIN}|allergien?|\w*(?:allergie|angst|phobie|syndrom)"
        rf"|unverträglichkeit|diabetes"
        r"|asthma|migräne|adhs|zöliakie|rheuma|bluthochdruck|ein haus|garten|wohnung|auto|fahrrad"
        r"|balkon|abitur|bachelor|master|ausbildung|firma|betrieb|laden|hof|jahre\w* erfahrung"
        r"|geburtstag|\d+ jahre)\b"
        rf"|mein\w* (?:\w+ ){{0,2}}?{_DE_KIN}(?:,? [\w-]+,?)? (?:ist|sind|hat|haben|heißt|heißen"
        rf"|wohnt|wohnen|lebt"
        r"|arbeitet|liebt|mag|hasst|studiert|spielt|spricht|isst|trinkt|verträgt|kommt aus|geht"
        r"|wird|wurde"
        rf"|besucht) {_DE_NOT}\w"
        r"|mein\w* (?:\w+ )?(?:name|geburtstag|adresse|beruf|job|hobby|hobbys|lieblings\w+"
        r"|muttersprache|ziel|budget|gehalt|miete|chefs? heißt|auto|wagen|fahrrad|laptop|rechner"
        r"|handy|garten|wohnung|haus|blutgruppe"
        rf"|größe|gewicht|alter|zug|flug|termin|hochzeit|arbeitgeber|firma|team) (?:ist|sind"
        rf"|heißt|hat|beträgt|liegt|fährt|geht|läuft|besteht) {_DE_NOT}\w"
        rf"|mein\w* (?:\w+ )?{_DE_KIN}(?: [\w-]+)? und ich (?:haben|sind|wohnen|leben|ziehen"
        rf"|lieben) \w"
        r"|ich habe keine?n? (?!ahnung|idee|zeit|lust|fragen?|probleme?|hunger|durst|angst"
        r"|antwort)\w"
        r"|(?:bei )?mir wurden? \w|ich kann (?:[\w ]{1,30} )?(?:nicht"
        r"|kein\w*) (?:\w+ )?(?:schwimmen"
        r"|fahren|kochen|singen|tanzen|lesen|sprechen|vertragen|essen|trinken|laufen)"
        r"|(?:bei uns (?:in der firma|im team) )?wir (?:benutzen|nutzen|verwenden"
        r"|arbeiten(?! (?:gerade|daran)\b)|wohnen|leben|haben (?:ein|eine|einen|zwei|drei|vier"
        r"|\d+|keine?n?)|deployen|entwickeln|liefern|testen"
        rf"|hosten|betreiben|verkaufen|sind (?:ein|eine|\d|zu|seit)|schreiben (?:alle"
        rf"|unser)) {_DE_NOT}\w"
        r"|(?:unser|unsere|unserem) (?:[\w-]+ ){1,3}?(?:läuft|laufen|heißt|nutzt|benutzt"
        r"|verwendet|besteht|steht"
        rf"|liegt|hat|sind|ist) {_DE_NOT}\w"
        r"|wir haben (?:uns )?[\w ,-]{2,60} (?:entschieden|beschlossen|geeinigt|gekauft"
        r"|geheiratet)|ich (?:bin|habe) [\w ,-]{2,60} (?:umgezogen|gezogen|geboren|aufgewachsen"
        r"|studiert|geheiratet|gekündigt|gegründet|promoviert)"
    ),
    "preference": (
        r"(?:ich|wir) (?:mag|mögen|stehe auf|liebe|hasse|bevorzuge|bevorzugen) (?!das$|das,|es\b"
        r"|dies|dein"
        r"|ihre antwort|die (?:idee|zweite|erste))\w|ich \w+ (?:[\w-]+ ){0,4}?(?:lieber"
        r"|am liebsten|(?:sehr |nicht )?gern\w*)\b|mein\w* lieblings\w+ (?:ist|sind|heißt) \w"
        r"|am liebsten \w+ ich"
    ),
    "general": (
        r"ich (?:lerne|trainiere für|spare (?:auf|für)|plane|bereite mich|schreibe (?:an )?(?:ein"
        r"|mein)\w* (?:buch|roman|masterarbeit|bachelorarbeit|doktorarbeit)"
        r"|suche (?:einen? )?(?:neuen? )?(?:job|wohnung|stelle)"
        rf"|möchte (?:\w+ )?(?:abnehmen|lernen|umziehen)) {_DE_NOT}?\w"
        r"|(?:bitte )?(?:merk dir|merke dir|denk daran|zur info|nur zur info"
        r"|übrigens)[:, ]+(?:dass )?(?!du|bitte)\w|mein ziel ist \w"
    ),
    "question": r"(?:was|wie|warum|wer|wo|wann|welche\w*|kannst|könntest)\b",
    "hypothetical": (
        r"(?:wenn ich|falls|angenommen|stell dir|vielleicht|ich (?:könnte|hätte|wäre)"
        r"|ich würde(?! (?:\w+ ){0,4}?(?:lieber|gern\w*)))\b"
    ),
    "request": (
        r"(?:(?:bitte|hilf|gib|schreibe?|zeige?|mach|erklär\w*|übersetz\w*|nenne?|fass|erstell\w*"
        r"|korrigier\w*|formulier\w*|erinner\w*|lass uns|kannst|könntest)\b|ich (?:brauche|will"
        r"|möchte) (?:ein\w*|hilfe|dass)\b)"
    ),
    "transient": (
        r"(?:ich bin|wir sind) (?:(?:gerade|jetzt|so|sehr|total|echt|heute|noch|schon|etwas"
        r"|ziemlich"
        r"|wirklich|ein bisschen) )*(?:\w*müde|krank|hungrig|erschöpft|gestresst|genervt|traurig"
        r"|froh"
        r"|glücklich|sauer|wütend|gespannt|bereit|fertig|verwirrt|überfordert|zurück|unterwegs|da"
        r"|am (?:bahnhof|flughafen)|beim (?:arzt|essen)|im (?:büro|zug|auto|bett|bus|stau)"
        r"|spät dran"
        r"|auf dem weg|zu hause)\b|ich habe (?:(?:gerade|so|etwas|großen) )*(?:hunger|durst|kopf\w+"
        r"|keine (?:zeit|lust|ahnung))\b|mir (?:ist|geht)\b|ich (?:freue|fühle|friere|warte)\b"
    ),
    "about_others": (
        r"er \w+|sie \w+t\b|(?:mein\w*|unser\w*) (?:chef\w*|kolleg\w+|nachbar\w*|vermieter\w*)"
        r" (?:sagt\w*|meint\w*|schrieb|schreibt|will|findet|hat (?:gesagt|geschrieben|gemeint))\b"
    ),
    "too_vague": (
        r"ich habe (?:noch )?(?:eine frage|ein problem)\b|.{0,60}\b(?:dazu|damit|daran|davon)\W*$"
    ),
    "code": (
        r"(?:mein\w*|unser\w*|der|die|das) (?:code|tests?|programm|skript|build|funktion|server)"
        r" (?:schlägt|schlagen|läuft nicht|wirft|geht nicht|funktioniert nicht|kompiliert|stürzt"
        r"|hängt|startet nicht|gibt)\b"
    ),
}
_NL_KIN = (
    r"(?:ex-?|schoon|stief|groot|klein)?(?:vrouw|man|partner|vriend(?:in)?|zoon|zonen|dochters?"
    r"|kind(?:eren)?|baby|moeder|mama|vader|papa|ouders|broers?|zus(?:sen|je)?|broertje|oma|opa"
    r"|oom|tante|neef|nicht|huisgeno\w+|baas|collega'?s?|buurman|buurvrouw|arts|hond(?:en)?"
    r"|kat(?:ten)?|paard(?:en)?|konijn(?:en)?|gezin|familie)"
)
_NL_NOT = (
    r"(?!(?:nu|even|vandaag|zo|net|moe|ziek|zeker|bezig|blij|klaar|hier|terug|dit|dat|deze|die"
    r"|het|een beetje|op zoek|niet zeker|benieuwd|verdrietig|boos|in de war|nog|al(?! \w+ jaar)"
    r"|aan het"
    r"|een vraag|een probleem|een fout)\b)"
)
DUTCH = {
    "fact": (
        rf"ik (?:ben|heet|was) {_NL_NOT}\w"
        r"|ik (?:kom uit|woon|werk(?! (?:eraan|nu)\b)|studeer|spreek|rijd|rij|speel|drink|eet"
        r"|gebruik|draag|rook|geef les"
        rf"|leid|bezit|slik|weeg|verdien|kook|fiets) {_NL_NOT}\w"
        rf"|ik heb (?:[\w-]+ ){{0,4}}?(?:{_NL_KIN}|\w*allergie|diabetes|astma|migraine|adhd"
        rf"|coeliakie|huis|tuin"
        r"|appartement|auto|fiets|balkon|bachelor|master|diploma|bedrijf|winkel|jaar ervaring)\b"
        rf"|(?:mijn|m'n|onze|ons) (?:\w+ ){{0,2}}?{_NL_KIN}(?:,? [\w-]+,?)? (?:is|zijn|heeft"
        rf"|hebben|heet|heten|woont|wonen|werkt|houdt|studeert|speelt|spreekt|eet|drinkt|komt uit"
        rf"|gaat|wordt) {_NL_NOT}\w"
        r"|(?:mijn|onze|ons) (?:[\w-]+ ){0,2}?(?:naam|verjaardag|adres|beroep|baan|hobby'?s?"
        r"|moedertaal|doel|budget|salaris|huur|auto|fiets|laptop|telefoon|tuin|huis|team|bedrijf"
        r"|website|server|database|app|backend"
        rf"|frontend|project|vlucht|trein|afspraak) (?:is|zijn|heet|heeft|draait|gebruikt|staat"
        rf"|gaat) {_NL_NOT}\w"
        r"|ik heb geen (?!idee|tijd|zin|vragen|probleem|problemen|honger|dorst)\w"
        rf"|mijn (?:\w+ )?{_NL_KIN}(?: [\w-]+)? en ik (?:hebben|zijn|wonen|gaan|houden) \w"
        r"|(?:wij|we) (?:gebruiken|wonen|werken(?! nu\b)|hebben (?:een|twee|drie|vier|geen|\d+)"
        r"|deployen|zijn (?:een"
        rf"|met|verhuisd)|verkopen|hosten|testen) {_NL_NOT}\w"
        r"|(?:wij|we|ik) (?:hebben|heb) (?:besloten|gekozen|afgesproken) \w"
    ),
    "preference": (
        r"ik (?:hou|houd) (?:niet |erg |heel veel )?van (?!dit|dat|deze|het idee)\w"
        r"|ik haat (?!dit|dat|het)\w|ik (?:geef de )?voorkeur aan \w"
        r"|ik \w+ (?:[\w-]+ ){0,4}?(?:liever|het liefst|graag)\b|mijn (?:favoriete"
        r"|lievelings\w+) [\w -]*(?:is|zijn) \w"
    ),
    "general": (
        r"ik (?:leer|train voor|spaar voor|ben van plan|schrijf (?:een|mijn) (?:boek|scriptie"
        r"|roman)|zoek een (?:nieuwe )?(?:baan|woning|huis)) \w|(?:onthoud|ter info"
        r"|trouwens)[:, ]+(?:dat )?(?!je|u)\w|mijn doel is \w"
    ),
    "question": r"(?:hoe|waarom|wat|waar|wanneer|wie|welke?)\b",
    "hypothetical": r"(?:als ik|stel|misschien|ik zou(?! (?:\w+ ){0,3}liever))\b",
    "request": (
        r"(?:(?:schrijf|geef|vertaal|verbeter|vertel|herinner|zoek|maak|noem|controleer|leg (?:me"
        r"|uit)"
        r"|alsjeblieft|kun je|kunt u|wil je)\b|ik wil (?:een|dat)\b|ik heb .{1,20} nodig\b)"
    ),
    "transient": (
        r"(?:ik ben|we zijn) (?:(?:nu|heel|erg|zo|best|echt|weer|een beetje) )*(?:moe|doodop|kapot"
        r"|ziek|bezig|blij|klaar|benieuwd|verdrietig|boos|terug|thuis|onderweg|te laat|op weg"
        r"|op (?:het|de) (?:vliegveld|station|werk|kantoor)|in (?:de trein|de bus|bed))\b"
        r"|ik heb (?:(?:zo'n|veel|erge) )?(?:honger|dorst|hoofdpijn|haast|geen (?:zin|tijd|idee))\b"
    ),
    "about_others": (
        r"(?:hij|zij|ze) \w|(?:mijn|de) (?:baas|collega|buurman|buurvrouw) (?:zegt|zei|schreef|wil"
        r"|vindt)\b"
    ),
    "too_vague": (
        r"ik heb (?:nog )?een (?:vraag|probleem)\b|.{0,60}\b(?:hierover|hiermee|daarmee"
        r"|daarover)\W*$"
    ),
    "code": (
        r"(?:mijn|de|het) (?:code|programma|script|tests?|functie|server) (?:werkt|doet|faalt|geeft"
        r"|crasht)\b"
    ),
}
