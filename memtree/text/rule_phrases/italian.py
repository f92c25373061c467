"""Italian."""

from __future__ import annotations

from memtree.text.rule_score import Phrases

_MANNERS = (
    "rispondi|rispondere|risponda|rispondimi|usa|usare|usi|utilizza|utilizzare|utilizzi|"
    "scrivi|scrivere|scriva|scrivimi|parla|"
    "parlare|parlami|mantieni|tieni|cita|citare|indica|indicare|menziona|metti|mettere|"
    "formatta|nomina|limita|limitati|"
    "preferisci|inizia|comincia|finisci|termina|specifica|tratta|trattami|sii|sia|segui|"
    "rispetta|lascia|fai|fa'|indenta|esprimiti|evidenzia"
)
_TASKS = (
    "aggiungi|aggiungere|aggiunga|dai|dammi|spiega|spiegami|mostra|mostrami|verifica|"
    "controlla|chiedi|chiedimi|chiedermi|avvisa|avvisami|proponi|"
    "includi|includere|esegui|lancia|prova|crea|commenta|traduci|riassumi|converti|correggi|"
    "tocca|toccare|modifica|modificare|cancella|cancellare|elimina|"
    "carica|ricorda|ricordami|conferma|di'|dimmi|confronta|elenca"
)
ITALIAN = Phrases(
    first=(
        f"{_MANNERS}|{_TASKS}|non|mai|sempre|tutti|tutte|tutto|ogni|devi|deve|tu|voglio|"
        "vorrei|preferisco|niente|nessun|nessuna|evita|evitare|"
        "chiamami|diamoci|dammi|qui|solo|soltanto|quando|d'ora|da|vietato|regola|in|prima|"
        "smetti|mi|a"
    ),
    anywhere="adesso sempre mai poi avanti devono deve evita vietato vietati tue d'ora",
    lead=(
        r"(?:(?:e|ma|anche|quindi|allora|ok|bene|sì|grazie|per favore|per piacere|ciao|"
        r"importante|nota|attenzione|ricorda|ricordati|"
        r"tieni presente)\b[\s,:!.–-]*+){1,4}+"
    ),
    standing=(
        r"\bsempre\b|\bmai\b|\bd'ora in (?:poi|avanti)\b|\bda (?:ora|adesso|oggi|qui) "
        r"in (?:poi|avanti)\b|\bin futuro\b|\bper impostazione predefinita\b|\bdi default\b"
        r"|\bin nessun caso\b|\bper nessun motivo\b|\bogni volta\b|\bin ogni caso\b|\bsenza "
        r"(?:chiedermi|il mio permesso|eccezion\w)\b|\ba meno che (?:io )?non\b"
    ),
    frame=(
        r"\b(?:quando|ogni volta che|tutte le volte che) (?:ti |mi |io |tu )*(?:chied|"
        r"scriv|rispond|programm|modific|propon|sugger|cre|fa|parl|cambi|mostr|us|finisc|"
        r"spieg|gener|dai|dici)\w*"
        r"|^prima di \w+|^dopo ogni\b|\bse non (?:sai|sei sicuro)\b|\bin caso di dubbio\b|"
        r"\bper risposta\b"
    ),
    scope=(
        r"\bin (?:questo|tutto il|quest[ao]) (?:progetto|repository|codice|repo|chat|"
        r"conversazione)\b|\bnel (?:progetto|nostro progetto|codice)\b|\bper questo progetto\b|"
        r"\bqui\b|\bovunque\b"
    ),
    order=(
        rf"{{start}}(?:(?:sempre|mai|solo|per favore|d'ora in poi|da ora in poi) ?,? "
        rf"?)*+(?:{_MANNERS})\b"
    ),
    task=(
        rf"{{start}}(?:(?:sempre|mai|solo|per favore|d'ora in poi|da ora in poi) ?,? "
        rf"?)*+(?:{_TASKS})\b"
    ),
    duty=r"\b(?:devi|dovresti|dovrai|sei tenuto|ti chiedo di|ho bisogno che)\b",
    forbid=(
        r"{start}(?:per favore,? )?non (?:mi |ti |lo |la |li |ne )?(?!preoccuparti|dimenticare)\w"
        r"+(?:are|ere|ire|armi|ermi|arti|arlo|i|a)\b(?! (?:stato|mai stato))|{start}mai "
        r"\w+(?:are|ere|ire)\b"
        r"|\bnon (?:devi|puoi|è permesso|vanno)\b|{start}(?:evita|evitare|smetti di|smettila "
        r"di)\b|^(?:niente|nessun|nessuna|zero|senza) \w+|\bvietat\w\b"
        r"|^non voglio (?:più |vedere |che )?(?!andare|fare|mangiare|parlare|sapere|essere|"
        r"avere)\w+\b"
    ),
    wish=(
        r"\b(?:voglio|vorrei|preferisco|mi piacerebbe|desidero) (?:che )?(?:le|tu|i|tutt\w|"
        r"sempre|non|risposte|solo)\b|\bnon voglio\b"
    ),
    norm=(
        r"^(?!loro|(?:\w+ ){1,2}(?:dipendenti|clienti|visitatori|bambini|studenti|passeggeri|"
        r"genitori|"
        r"partecipanti|cittadini)\b)[\w' /-]{3,60}?\b(?:devono|dovrebbero|vanno)\b"
        r"|^(?:ogni|ciascun\w?|nessun\w?|tutto) [\w' /-]{3,60}?\b(?:deve|dovrebbe|va)\b"
    ),
    habit=(
        r"\b(?:qui |sempre |non |mai )*(?:usiamo|utilizziamo|scriviamo|indentiamo|lavoriamo|"
        r"nominiamo|preferiamo|mettiamo)\b"
    ),
    style=(
        r"\b(?:le|tue|nelle|tutte le|ogni|alle|tua|sua|sue) (?:tue |tua |sue |mie )?(?:risposte?|"
        r"risposta|spiegazion[ei]|messaggi|frasi)\b|\b(?:i|nei|tuoi) (?:tuoi )?(?:testi|"
        r"messaggi|commenti|riassunti|suggerimenti)\b|\b(?:termini tecnici|gergo|inglesismi|"
        r"anglicismi|elenchi puntati|frasi (?:brevi|corte|lunghe|complete)|nomi in inglese|"
        r"punti elenco|punti esclamativi|punt[oi] e virgola|tabulazioni|spazi|maiuscole|"
        r"minuscole|virgolette|commenti|sistema metrico|spoiler|tono|abbreviazioni|sigle|"
        r"nomi (?:di|delle|dei) (?:variabili|file|funzioni)|messaggi di commit|forma "
        r"passiva|parolacce|personaggio|del tu|del lei)\b|\b(?:meno di|sotto le|sotto|"
        r"al massimo|massimo|non più di|in|entro|superino|superare) (?:le |i )?(?:\d+|"
        r"una|due|tre|cinque|dieci|cento) (?:parole?|frasi|frase|righe|riga|caratteri|"
        r"paragraf[io])\b|\b(?:rispond|scriv|parl)\w* (?:\w+ ){0,3}?in (?:italiano|inglese|"
        r"francese|tedesco|spagnolo|portoghese|russo|cinese|giapponese|arabo|versi|una "
        r"frase|rima|prosa)\b|\b(?:rispond|scriv|parl|spieg)\w* (?:\w+ ){0,2}?(?:brevemente|"
        r"chiaramente|in modo \w+|in maniera \w+|con (?:umorismo|cortesia)|come (?:se|"
        r"a|un))"
        r"|\b(?:riassunt[oi]|introduzion[ei]|conclusion[ei])\b"
    ),
    work=(
        r"\b(?:file|cartell[ae]|directory|funzion[ei]|class[ei]|dipendenz[ae]|librer(?:ia|"
        r"ie)|pacchett[oi]|variabil[ei]|database|migrazion[ei]|comand[oi]|modul[oi]|component[ei]"
        r"|query|ricett[ae]|link|dati)\b"
        r"|\b(?:date|prezzi|unità|tabelle|titoli|battute|scuse|font[ei])\b"
    ),
    every=(
        r"^(?:tutti|tutte|tutto|ogni|solo|soltanto)\b|\b(?:solo|soltanto|esclusivamente|"
        r"unicamente)\b"
    ),
    contrast=(
        r"\binvece (?:di|che)\b|\banziché\b|\bal posto di\b|, (?:non|mai|e non) \w+|\be "
        r"non \w+"
    ),
    tell=(
        r"{start}non (?:mi )?(?:consigliarmi|propormi|suggerirmi|darmi|farmi|parlarmi|"
        r"proporre|consigliare|suggerire|menzionare|usare|utilizzare|"
        r"aggiungere|ripetere|inventare|riassumere|rivelare|scrivere|spiegare|mettere|"
        r"iniziare|finire|supporre|scusarti)\b(?! (?:il|la|i|gli|le|quel|quella|questo|"
        r"questa|ancora)\b)"
    ),
    fixed=(
        r"^(?:sii|sia|resta|rimani) (?:sempre |più )?(?:breve|concis[oa]|dirett[oa]|formale|"
        r"informale|educat[oa]|chiar[oa]|sintetic[oa])\b|{start}(?:dammi|diamoci|mi dia) "
        r"(?:sempre )?del (?:tu|lei)\b"
        r"|^chiamami (?!domani|quando|dopo|se|più|al|alle|appena)[\w]|{start}(?:devi "
        r")?(?:sempre )?(?:chied\w+|avvis\w+|consult\w+) .{0,20}prima di|^prima di .{3,60}?, "
        r"?(?:\w+ )?(?:chied|avvis|consult)|^regola(?: \d+)?: "
        r"\w|\b(?:resta|rimani) (?:sempre )?nel (?:tuo )?personaggio\b"
        r"|\bnon (?:parlare|agire|decidere) (?:mai )?(?:per|al posto)\b|\btrattami come\b"
        r"|\b(?:d'ora in (?:poi|avanti)|da (?:ora|adesso) in (?:poi|avanti))\b.{0,30}\bin "
        r"(?:italiano|inglese|tedesco|francese|spagnolo)\b"
    ),
    nearly=r"^(?:attieniti|limitati|rispetta|segui sempre) ",
    polite=(
        r"\b(?:puoi|potresti|può|potrebbe) (?:\w+ )?(?:sempre|smettere di|evitare|non "
        r"(?:usare|più)|d'ora in poi)\b"
    ),
    definite=(
        rf"{{start}}(?:sempre |per favore )?(?:{_MANNERS}|{_TASKS}) "
        r"(?:il|lo|la|i|gli|le|l'|questo|questa|quel|quella|questi|mio|mia|al|alla)\b"
        r"(?! (?:fonte|fonti|date|prezzi|nomi|risposte))"
    ),
    once=(
        r"\b(?:questa volta|stavolta|per ora|per adesso|per il momento|adesso|oggi|domani|"
        r"stasera|second[oa]|terz[oa]|prima domanda|di nuovo|ancora una volta|qui sotto|"
        r"qui sopra|precedente|seguente|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|"
        r"domenica)\b"
    ),
    against=(
        r"^(?:io|lui|lei|noi|loro|mio|mia|suo|sua|il|lo|la|l'|si|ciò|nessuno|mi (?:è|"
        r"ha|hanno|sono)|ho|ha|abbiamo|siamo|non (?:bisogna|ho|ha|è|sono|abbiamo))\b(?!.*\b(?:dev"
        r"ono|tue)\b)"
        r"|\b(?:speranza|arrenderti|arrenderti|mollare|sogni|cuore|felicità|preoccuparti|"
        r"dimenticare)\b|\b(?:ha detto|dice|diceva|disse|scritto)\b|\bda (?:lunedì|martedì|"
        r"domani)\b"
    ),
    asks=(
        r"^(?:perché|come|cosa|che cosa|quando|chi)\b(?! scriv| rispond)(?!.*\b(?:sempre|"
        r"mai)\b.*,)"
    ),
)
