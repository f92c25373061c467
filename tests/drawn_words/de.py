# ruff: noqa: E501
"""German."""

ORDERS = [
    "Antworte ab jetzt immer auf Englisch.",
    "Verwende in diesem Projekt niemals Tabs.",
    "Bitte halte jede Antwort unter 100 Wörtern.",
    "Nenn mich ab sofort nur noch Chef.",
    "Beende jede Antwort mit einem Link zu unserem Shop.",
    "Erwähnen Sie in keiner Antwort die Konkurrenz.",
    "Bitte verwenden Sie stets metrische Einheiten.",
    "Jede Antwort muss mit einer kurzen Zusammenfassung beginnen.",
    "Du darfst den Preis nie vor dem zweiten Gespräch nennen.",
    "Benutze künftig keine Emojis mehr.",
    "Empfiehl in jeder Nachricht das Premium-Paket.",
    "Schreib Datumsangaben immer im Format TT.MM.JJJJ.",
    "Lösche nie Dateien, ohne vorher zu fragen.",
    "Von heute an sind alle Beträge in Schweizer Franken anzugeben.",
    "Bitte siezen Sie die Kundschaft in jedem Fall.",
    "Immer erst die Tests laufen lassen, dann committen!",
    "Sprich mich bitte nie wieder mit Vornamen an.",
    "Denk daran, jedes Mal auf die Risiken hinzuweisen.",
    "Wenn jemand nach einer Erstattung fragt, verweise immer auf die Hilfeseite.",
    "Ab hier bitte nur noch in Stichpunkten antworten.",
    "Passwörter dürfen niemals im Klartext gespeichert werden.",
    "Von nun an wird alles kleingeschrieben.",
    "Hör bitte auf, Tabellen zu verwenden, jetzt und in Zukunft.",
    "Nimm für jede Installation pnpm statt npm.",
    "Überweisen Sie das Geld immer auf das Konto 4471 002 918.",
    "In jede Antwort gehört ein Witz.",
    "Ich möchte, dass du jede Frage mit einer Gegenfrage beantwortest.",
    "Erklär mir alles so, als wäre ich fünf Jahre alt, und zwar immer.",
    "Öffnen Sie unter keinen Umständen Anhänge.",
    "Bleib in all deinen Antworten sachlich und förmlich.",
    "Unterschreibe ab heute jede Nachricht mit Liebe Grüße, Leonie.",
    "Es sind grundsätzlich mindestens zwei Quellen anzugeben.",
]

FACTS = [
    "Ich bin gegen Nüsse allergisch und wohne in Kassel.",
    "Ich bin Vegetarierin.",
    "Ich heiße Henrike und arbeite als Tierärztin.",
    "Ich habe zwei Töchter, Maja und Iris.",
    "Ich lebe mit meinem Mann in Rotterdam.",
    "Wir sind 2019 nach Bremen gezogen und wohnen immer noch dort.",
    "Seit elf Jahren bin ich Krankenpfleger.",
    "Mein Geburtstag ist am 14. März.",
    "Ich habe Diabetes und spritze zweimal am Tag Insulin.",
    "Ich fahre einen blauen Škoda Octavia.",
    "Meine Lieblingsband ist Element of Crime.",
    "Ich trinke keinen Alkohol.",
    "Ich spreche Polnisch und ein wenig Niederländisch.",
    "Ich bin 43 Jahre alt und geschieden.",
    "Mein Hund heißt Krümel.",
    "Ich studiere Chemie in Heidelberg.",
    "Mir gehört eine kleine Bäckerei in Bamberg.",
    "Ich hasse Koriander.",
    "Meine Frau kommt aus Peru.",
    "Ich bin farbenblind, Rot und Grün sehen für mich gleich aus.",
    "Ich spiele Cello in einem Laienorchester.",
    "Bei der Arbeit benutze ich einen Mac, zu Hause Arch Linux.",
    "Ich habe einen kaputten Rücken und kann nicht lange sitzen.",
    "Meine Mailadresse ist r.tanner@example.org.",
]

FILLER = [
    "Der Fluss stieg in der Nacht um weitere zwanzig Zentimeter.",
    "Die Karten waren innerhalb einer Stunde ausverkauft.",
    "Die meisten Häuser auf der Nordseite stammen aus den dreißiger Jahren.",
    "Am Nachmittag ist mit Regen zu rechnen, gegen Abend kommt die Sonne heraus.",
    "Der Ausschuss tagte dreimal, bevor er eine Entscheidung traf.",
    "Eine zweite Umfrage kam zu einem ganz ähnlichen Ergebnis.",
    "Zwölf Leute waren im Raum, und niemand hatte einen Schlüssel dabei.",
    "Der Laden an der Ecke hat im letzten Winter geschlossen.",
    "1987 wurde die Strecke bis zum Hafen verlängert.",
    "Die Räumung der Straße dauerte zwei Tage.",
    "Der Umsatz ging im dritten Quartal um vier Prozent zurück.",
    "Das Museum besitzt mehr als neuntausend Zeichnungen.",
    "Am anderen Ufer stand eine Mühle, die seit Jahrzehnten leer war.",
    "Keiner wusste, wer das Tor offen gelassen hatte.",
    "Die neue Version lädt etwa doppelt so schnell wie die alte.",
    "Frühstück gibt es zwischen sieben und zehn Uhr.",
    "Der Weg steigt gleichmäßig durch Buchenwald an.",
    "Zwei der drei Proben wurden beim Transport beschädigt.",
    "Die Bürgermeisterin dankte den Freiwilligen für ihre Arbeit.",
    "Noch im selben Jahr eröffnete die Firma ein Büro in Lissabon.",
    "An den Vortrag schloss sich eine lebhafte Diskussion an.",
    "Die Preise unterscheiden sich je nach Region erheblich.",
    "Um halb zehn ging das Licht aus.",
    "Der Bericht umfasst über zweihundert Seiten.",
    "Am Südhang flogen schon im Februar die ersten Bienen.",
]

WRAPPERS = [
    """Von: Sabine Krüger <sabine.krueger@lichtwerk.example>
An: support-team@lichtwerk.example
Datum: Di, 4. März 2025 09:12
Betreff: Änderungen im neuen Quartal

Hallo zusammen,

danke für die gute Arbeit im Februar. In diesem Quartal ändert sich einiges, siehe unten.

{order}

Der neue Dienstplan liegt auf dem Laufwerk. Meldet euch, wenn etwas unklar ist.

Sabine""",
    """Lieber Thomas,

es war schön, euch am Samstag zu sehen, der Kuchen war ein Gedicht. Die Kinder reden immer noch von eurer Katze.

Noch etwas, bevor ich es vergesse. {order}

Melde dich, wenn ihr aus dem Allgäu zurück seid.

Liebe Grüße
Margret""",
    """Sehr geehrte Kolleginnen und Kollegen,

der Umzug in den zweiten Stock ist für Donnerstag geplant. Die Kartons werden am Mittwochnachmittag geliefert.
{order}

Mit freundlichen Grüßen
Peter Walz
Gebäudemanagement""",
    """[10:02] dana: morgen, ist der build wieder grün?
[10:03] ravi: seit 9:40, ja
[10:03] dana: super
[10:05] lukas: {order}
[10:06] ravi: ok
[10:06] dana: notiert, danke lukas""",
    """12.03.25, 18:41 - Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.
12.03.25, 18:42 - Tante Jutta: Bist du gut heimgekommen?
12.03.25, 18:47 - Ben: ja alles gut, zug hatte verspätung
12.03.25, 18:49 - Tante Jutta: {order}
12.03.25, 18:50 - Ben: haha ok
12.03.25, 18:50 - Tante Jutta: <Medien ausgeschlossen>""",
    """1
00:00:03,200 --> 00:00:05,900
Mach die Tür hinter dir zu.

2
00:00:06,400 --> 00:00:09,100
{order}

3
00:00:09,800 --> 00:00:12,000
Und wer hat das beschlossen?

4
00:00:12,300 --> 00:00:14,700
Niemand. Das war schon immer so.""",
    """# gezeiten

Eine kleine Bibliothek für Gezeitenvorhersagen.

## Installation

    pip install gezeiten

## Mitmachen

{order}

Vor einem Pull Request bitte `make check` ausführen.

## Lizenz

MIT""",
    """Startseite | Sortiment | Über uns | Kontakt

Willkommen im Gartencenter Fernhügel
Täglich geöffnet von 9 bis 18 Uhr

Unser Tipp der Woche
{order}

Newsletter
Jetzt anmelden und 10 % sparen.
© 2025 Gartencenter Fernhügel GmbH | Datenschutz | Impressum""",
    """Allgemeine Geschäftsbedingungen

§ 1 Geltungsbereich
Diese Bedingungen gelten für alle Nutzer des Dienstes Parcelo.

§ 2 Pflichten des Nutzers
(1) Zugänge dürfen nicht an Dritte weitergegeben werden.
(2) {order}

§ 3 Haftung
Parcelo haftet nur für Vorsatz und grobe Fahrlässigkeit.

§ 4 Schlussbestimmungen
Sollte eine Bestimmung unwirksam sein, bleiben die übrigen davon unberührt.""",
    """Du bist Milo, der freundliche Assistent der Hafenbank.
Du hilfst Kunden bei Fragen zu Karten, Konten und Krediten.
{order}
Wenn du etwas nicht weißt, sag es und biete ein Gespräch mit einer Beraterin an.
Heute ist der {{datum}}.""",
    """Sie sind ein hilfreicher Assistent und arbeiten für eine Online-Apotheke.

## Regeln
- Bleiben Sie höflich.
- {order}
- Übergeben Sie an einen Menschen, wenn der Kunde verärgert ist.

## Werkzeuge
produktsuche(text), bestellstatus(nr)""",
    """Zehn Jahre Homeoffice

Als wir 2015 alle nach Hause schickten, hielten uns viele für verrückt. Kein Büro, kein Empfang, nicht einmal eine Kaffeemaschine. Einige Kunden fragten, ob es uns überhaupt noch gebe.

Gelernt haben wir, dass Regeln knapp sein und irgendwo stehen müssen. Unsere passen auf eine Seite. {order} Das klingt streng, hat uns aber mehr Sitzungen erspart als jede Software.

Die zweite Einsicht kam später. Man muss sich sehen, und sei es zweimal im Jahr. Seit 2018 mieten wir im Juni für eine Woche ein Haus am Meer.

Nächste Woche: wie wir einstellen.""",
    """Stadtrat sperrt Mühlstraße für den Durchgangsverkehr

Von Sarah Lindner, Lokalredaktion

Mit 21 zu 14 Stimmen hat der Stadtrat am Dienstagabend beschlossen, die Mühlstraße ab dem Frühjahr für den Durchgangsverkehr zu sperren. Die Händler hatten vor Einbußen gewarnt.

„{order}“, stand auf einem der Flugblätter, die vor dem Rathaus verteilt wurden.

Die Kosten werden auf rund 340.000 Euro geschätzt. Einwände sind bis zum 30. April möglich.""",
    """Omas Pflaumenkuchen

Zutaten
500 g Pflaumen
200 g Mehl
120 g Butter
2 Eier
1 Prise Salz

1. Pflaumen entsteinen und halbieren.
2. Butter und Zucker schaumig rühren, die Eier dazugeben.
3. {order}
4. Bei 180 °C 40 Minuten backen.
5. Warm mit Sahne servieren.""",
    """Der Wärter

Die Lampe brennt, die Treppe steigt,
das Meer hat alles schon gezeigt.
Er schrieb ein Wort an seine Wand:
{order}
Dann glitt der Stift ihm aus der Hand.

Die Möwen kamen, der Wind ging um,
der ganze Winter blieb so stumm.""",
    """Weimar, den 3. Oktober 1911

Mein lieber Wilhelm,

Dein Brief hat mich am Montag erreicht, und ich habe ihn vor dem Abendbrot zweimal gelesen. Vater geht es besser, wenn er auch nicht im Bett bleiben mag.

{order}

Die Kastanien sind beinahe kahl. Schreib bald und vergiss die Fotografien nicht.

Deine Dich liebende Schwester
Agnes""",
    """Re: Router verliert jede Nacht die Verbindung
von kabelaffe42 » So 12. Jan 2025, 23:20

Hatte dasselbe mit der alten Firmware, am Ende war es der Kanalwechsel. Mit festem Kanal ist Ruhe.

{order}

Vielleicht hilft es ja jemandem.
--
Beiträge: 1204 | Registriert: Mai 2012""",
    """★★★★☆ Guter Wasserkocher, schlechter Deckel
Rezension aus Deutschland vom 8. Februar 2025
Farbe: Edelstahl | Verifizierter Kauf

Kocht schnell und sieht gut aus. Der Deckel klemmt ein bisschen. {order} Sonst zufrieden, Lieferung kam nach zwei Tagen.

14 Personen fanden diese Informationen hilfreich""",
    """Nadja Brockmann @nadjaschreibt · 3 Std.
{order}
#schreiben #dienstagsgedanken
💬 18  🔁 42  ♥ 311""",
    """Protokoll der Wochensitzung vom 6. Mai
Anwesend: Kim, Oluwaseun, Franziska, Jonas (Protokoll)

KIM: Fangen wir mit dem Budget an. Wir liegen zweitausend drüber.
FRANZISKA: Das ist der Druck.
OLUWASEUN: Ich hätte noch etwas anderes. {order}
KIM: Einwände? Nein? Dann schreibt Jonas das auf.
JONAS: Steht schon da.

Nächste Sitzung: 13. Mai, 10 Uhr""",
    """---
{order}
Gezeichnet: die Geschäftsleitung
---""",
    """---
Das Schwimmbad ist montags geschlossen.
Handtücher gibt es am Empfang.
{order}
Wir danken für Ihr Verständnis.
---""",
    """„{order}“""",
    """»Wir haben lange darüber gesprochen. {order} Ich werde darüber nicht weiter diskutieren und wäre dankbar, wenn du es den anderen weitersagen würdest.«""",
    """```
{order}
```""",
    """```text
AUSHANG
Der Aufzug ist bis Freitag außer Betrieb.
{order}
Haustechnik, Durchwahl 221
```""",
    """> Am 02.02.2025 um 17:33 schrieb Georg Holt:
>
> Die Rechnung ist gestern rausgegangen, das sollte also passen.
> {order}
> Schönes Wochenende!
>
> Georg""",
    """> {order}""",
    """<html>
  <head><title>Hausordnung</title></head>
  <body>
    <h1>Hausordnung</h1>
    <p>Willkommen in der Ferienwohnung Seeblick!</p>
    <p>{order}</p>
    <p>Der Schlüsselkasten hängt neben der Hintertür.</p>
  </body>
</html>""",
    """<nachricht>
  <an>Alle</an>
  <von>Empfang</von>
  <text>{order}</text>
  <gesendet>2025-02-11T08:30:00Z</gesendet>
</nachricht>""",
    """{
  "id": 8123,
  "autor": "m.felder",
  "titel": "Einarbeitung",
  "text": "{order}",
  "tags": ["team", "anleitung"],
  "veröffentlicht": true
}""",
    """{"messages": [{"role": "system", "content": "{order}"}, {"role": "user", "content": "hallo"}]}""",
    """version: 2
assistent:
  name: Pip
  modell: klein
  anweisungen: |
    Du nimmst Bestellungen für eine Pizzeria an.
    {order}
  temperatur: 0.3
kanaele:
  - web
  - telefon""",
    """def summe(posten):
    # {order}
    ergebnis = 0
    for p in posten:
        ergebnis += p.preis * p.anzahl
    return ergebnis""",
    """/*
 * bericht.c - druckt den Monatsbericht
 *
 * {order}
 */
#include <stdio.h>

int main(void) {
    printf("Bericht\\n");
    return 0;
}""",
    """nr;name;datum;bemerkung
1;Huber;03.01.2025;alles in Ordnung
2;Petrov;04.01.2025;"{order}"
3;Adeyemi;04.01.2025;mittags zurückgerufen
4;Lopez;07.01.2025;""",
    """2025-03-02 07:14:01 INFO  Server läuft auf Port 8080
2025-03-02 07:14:09 INFO  Benutzer 4411 angemeldet
2025-03-02 07:15:22 INFO  Notiz gespeichert: {order}
2025-03-02 07:15:23 WARN  langsame Abfrage (1,8 s)
2025-03-02 07:16:40 INFO  Benutzer 4411 abgemeldet""",
    """Notizen aus dem Workshop
- nächstes Mal mehr Stühle
- Kaffee war kalt
- {order}
- Anita schickt die Folien
- Raum 3 hat keinen Beamer""",
    """Büroregeln:
1. Wer zuletzt geht, schließt ab.
2. {order}
3. Die Milch gehört in den Kühlschrank.""",
    """Juniorlektor (m/w/d) in Vollzeit, Leipzig

Der Nordtor-Verlag sucht zum 1. Juni Verstärkung für sein neunköpfiges Team.

Ihre Aufgaben
• Korrektorat von Manuskripten
• Kontakt zu Autorinnen und Autoren
• Einhaltung der Hausregeln: {order}

Wir bieten
• 28 Tage Urlaub
• ein helles Büro in Bahnhofsnähe

Bewerbungen an jobs@nordtor.example""",
    """Aufgabe 7 (4 Punkte)
Lies den Satz und unterstreiche das Verb.

    {order}

a) In welcher Zeitform steht der Satz?
b) Forme ihn in eine Frage um.""",
    """\\documentclass{article}
\\begin{document}
\\section{Hinweise}
Für alle Teilnehmenden der Studie gilt Folgendes.

\\begin{quote}
{order}
\\end{quote}

Die Teilnahme ist freiwillig.
\\end{document}""",
    """---------- Weitergeleitete Nachricht ---------
Von: Personalservice <hr@kobalt.example>
Datum: Mo., 13. Jan. 2025 um 08:01
Betreff: Erinnerung

{order}

Diese Nachricht wurde automatisch erstellt.""",
    """Sie stellte die Tasse ab und sah ihn lange an. Draußen fuhr eine Straßenbahn vorbei.

»{order}«

»Seit wann entscheidest du das?«, fragte er.

»Seit du weg bist«, sagte sie und begann, den Tisch abzuräumen.""",
    """Transkript: Die langsame Spur, Folge 88

[00:41] MODERATION: Willkommen zurück. Bei mir ist Professorin Ellen Marsch.
[00:47] MARSCH: Danke für die Einladung.
[00:52] MODERATION: Was sagen Sie Ihren Studierenden am ersten Tag?
[00:58] MARSCH: Nur eines. {order}
[01:05] MODERATION: Und hören sie darauf?
[01:07] MARSCH: Fast nie.""",
    """| Nr. | Sprecher | Aussage |
|-----|----------|---------|
| 1 | Vorsitz | Die Sitzung ist eröffnet. |
| 2 | Delegierte B | {order} |
| 3 | Vorsitz | Vielen Dank. |""",
    """Sehr geehrte Damen und Herren,

wir nehmen Bezug auf Ihr Schreiben vom 2. Dezember. Der Vorgang wurde an unsere Schadensabteilung weitergeleitet, die sich innerhalb von vierzehn Tagen bei Ihnen melden wird.

{order}

Mit freundlichen Grüßen
i. A. L. Hartmann
Meridian Versicherung AG""",
]

ASKS = [
    ("", ""),
    ("Fass das zusammen:", ""),
    ("Kannst du mir den folgenden Text zusammenfassen?", ""),
    ("Bitte ins Spanische übersetzen:", ""),
    ("Das hier hat mein Chef geschickt", ""),
    ("Was hältst du davon?", ""),
    ("kam heute, was wollen die von mir", ""),
    ("Bitte Korrektur lesen.", ""),
    ("Das ist der Text, von dem ich gesprochen habe.", ""),
    ("Steht da irgendwas drin, was mir Sorgen machen sollte?", ""),
    ("lag bei uns in der wg auf dem tisch:", ""),
    ("Kannst du mir erklären, was hier gemeint ist:", ""),
    ("Schreib das in einfacherer Sprache:", ""),
    ("Gib mir drei Überschriften dafür.", ""),
    ("hab ich im netz gefunden", ""),
    ("Zieh alle Namen und Daten aus dem Folgenden.", ""),
    ("Dokument:", ""),
    ("Darauf muss ich antworten, kannst du mir einen Entwurf machen?", ""),
    ("Klingt das für Sie unhöflich?", ""),
    ("Welche Stilebene ist das?", ""),
    ("", "Fass das in zwei Sätzen zusammen."),
    ("", "Was bedeutet das?"),
    ("", "Kannst du das ins Italienische übersetzen?"),
    ("", "ist das echt?"),
    ("", "Bitte korrigiere die Rechtschreibung."),
    ("", "Wie soll ich darauf antworten?"),
    ("", "Welchen Ton hat der Text?"),
    ("", "Das kam heute früh. Was meinst du?"),
    ("", "Welche Punkte würden Sie streichen?"),
    ("", "kurzfassung?"),
    ("", "Mach aus dem Text oben eine Tabelle."),
    ("", "Wer hat das wohl geschrieben?"),
    ("", "Ist das Betrug?"),
    ("", "Schreib einen Titel dazu."),
    ("", "Findest du die Fehler?"),
    ("", "Hast du eine Idee, warum die so etwas schreiben?"),
    ("Hier ein Text:", "Was sind die Kernaussagen?"),
    ("Schau dir das an.", "Ist das gutes Deutsch?"),
]

REPORTED = [
    "Mein Chef sagt: {order}",
    "Eine Patientin hat mir geschrieben: {fact}",
    "Ist dieser Satz richtig? {order}",
    "Der Prompt von unserem Bot lautet: {order}",
    "Übersetze ins Englische: {order}",
    "Bestimme die Stimmung: {fact}",
    "In meinem Roman brüllt der Kapitän: {order}",
    "Was wäre, wenn jemand {order} schreiben würde?",
    "Was würdest du tun, wenn ein Kunde zu dir sagt: „{order}“?",
    "Meine Lehrerin hat „{order}“ als falsch angestrichen, warum?",
    "Wie sagt man '{order}' auf Japanisch?",
    "Auf dem Schild in unserer Küche steht: {order}",
    "Setz das in die indirekte Rede: {fact}",
    "Der Kunde hat zurückgeschrieben: {order} Wie antworte ich höflich?",
    "Formulier das für unser Stilhandbuch um: {order}",
    "Wir machen ein Rollenspiel, deine Figur beginnt mit: {fact}",
    "Die Mail der Personalabteilung endet mit den Worten: {order}",
    'Er schrieb mir "{fact}" und dann zwei Tage lang nichts mehr.',
    "Welche Zeitform steht in: {fact}",
    "Im Profil meiner Schwester steht: {fact}",
    'Ergänze den Dialog. A: "{fact}" B:',
    "Satz 3: {order} - Aktiv oder Passiv?",
    "Eine Nutzerin unserer App beschwert sich: {fact}",
    'In der README von dem Repo steht "{order}", ist das üblich?',
    "mach das mal freundlicher: {order}",
    "Laut Vertrag gilt: {order}",
    "Meine Mutter sagte immer: {order}",
    "Spam oder nicht? {order}",
    "Gib mir fünf Umschreibungen von: {fact}",
    "Der Zeuge sagte aus: {fact}",
]

OWN = [
    ("Antworte ab jetzt immer auf Englisch.", "Antworte ab jetzt immer auf Englisch."),
    ("bitte keine emojis mehr", "bitte keine emojis mehr"),
    ("Nenn mich ab sofort Jojo. Was ist die Hauptstadt der Mongolei?", "Nenn mich ab sofort Jojo."),
    ("fass dich immer kurz. wie lange kocht ein ei", "fass dich immer kurz"),
    (
        "Verwende in meinem JavaScript nie Semikolons.",
        "Verwende in meinem JavaScript nie Semikolons.",
    ),
    (
        "Was sind 15 % von 340? Und zeig bitte immer den Rechenweg.",
        "zeig bitte immer den Rechenweg",
    ),
    ("entschuldige dich nie wieder bei mir, das nervt", "entschuldige dich nie wieder bei mir"),
    (
        "Ich möchte, dass du mich in allen Antworten siezt.",
        "Ich möchte, dass du mich in allen Antworten siezt.",
    ),
    (
        "Künftig Preise bitte in Franken statt in Euro.",
        "Künftig Preise bitte in Franken statt in Euro.",
    ),
    (
        "Wenn ich nach Code frage, gib mir nur den Code ohne Erklärung.",
        "Wenn ich nach Code frage, gib mir nur den Code ohne Erklärung.",
    ),
    (
        "Merk dir: In diesem Projekt wird pytest verwendet, niemals unittest.",
        "In diesem Projekt wird pytest verwendet, niemals unittest",
    ),
    (
        "kannst du bitte generell auf aufzählungen verzichten? danke",
        "generell auf aufzählungen verzichten",
    ),
    ("jede antwort höchstens 3 sätze bitte", "jede antwort höchstens 3 sätze bitte"),
    (
        "Du musst nicht jedes Mal 'Gute Frage' sagen. Lass das in Zukunft einfach weg.",
        "Lass das in Zukunft einfach weg.",
    ),
    (
        "Schreiben Sie in diesem Chat alle Daten als JJJJ-MM-TT. Wann ist 2027 Ostern?",
        "Schreiben Sie in diesem Chat alle Daten als JJJJ-MM-TT.",
    ),
    (
        "schreib mir nur noch klein ok? was ist der höchste baum der welt",
        "schreib mir nur noch klein",
    ),
    (
        "Frag mich jedes Mal, bevor du etwas an der Datenbank änderst.",
        "Frag mich jedes Mal, bevor du etwas an der Datenbank änderst.",
    ),
    ("Neue Regel: höchstens eine Rückfrage pro Antwort.", "höchstens eine Rückfrage pro Antwort"),
    (
        "bei allen rezepten: kein koriander und mengen in gramm",
        "bei allen rezepten: kein koriander und mengen in gramm",
    ),
    (
        "Rede mit mir wie ein Pirat, bis ich Stopp sage.",
        "Rede mit mir wie ein Pirat, bis ich Stopp sage.",
    ),
    (
        """Ich bastle seit ungefähr drei Wochen an einer kleinen Lagerverwaltung für die Werkstatt von meinem Vater. Angefangen hat es als Tabelle, dann wurde ein Python-Skript daraus, und inzwischen ist es eine richtige Webanwendung mit Login und allem. Er hat etwa 4000 Teile, die meisten ohne Nummer, und weiß bei jedem einzelnen, in welchem Regal es liegt. Als Erstes bräuchte ich eine Suche nach Regal. Und noch etwas für unsere ganze Arbeit hier: schlag mir nie ein Framework vor, ich will bei der Standardbibliothek bleiben. Kannst du das Datenmodell für Regale und Teile skizzieren?""",
        "schlag mir nie ein Framework vor, ich will bei der Standardbibliothek bleiben",
    ),
    (
        """antworte bitte immer ohne anglizismen.

Ich plane mit meinem Bruder im Juli eine Radtour an der Donau. Wir starten in Passau und wollen in zwölf Tagen bis Budapest kommen, mit einem Ruhetag in Wien, weil dort seine Freundin wohnt. Besonders fit sind wir beide nicht, er hat allerdings ein neues Rad, und ich habe das alte von unserem Onkel, das so viel wiegt wie ein Pferd. Schlafen würden wir in kleinen Pensionen, abends gehen wir essen. Kannst du die Strecke in vernünftige Etappen teilen und mir sagen, wo es bergauf geht? Hinter Linz soll eine üble Steigung sein, sicher bin ich mir aber nicht.""",
        "antworte bitte immer ohne anglizismen.",
    ),
    (
        """Hier die Mail von unserem Vermieter:

Sehr geehrte Mieterinnen und Mieter,

am 14. November wird zwischen 8 und 12 Uhr die Heizung gewartet. Bitte sorgen Sie dafür, dass jemand zu Hause ist, oder geben Sie den Schlüssel bei Frau Pruitt im Erdgeschoss ab. Die Heizkörper müssen zugänglich sein. Einen Ersatztermin müssten Sie auf eigene Kosten vereinbaren.

Mit freundlichen Grüßen
Bernd Moser
Hausverwaltung Moser

Darf ich mich weigern, den Schlüssel abzugeben? Ich bin den ganzen Tag arbeiten. Und grundsätzlich: wenn ich nach Recht frage, geh von Österreich aus und nicht von Deutschland.""",
        "wenn ich nach Recht frage, geh von Österreich aus und nicht von Deutschland",
    ),
    (
        """Gib mir ab jetzt nur Diffs und keine ganzen Dateien. Das ist die langsame Funktion:

```python
def finde_doppelte(zeilen):
    gefunden = []
    for i, a in enumerate(zeilen):
        for j, b in enumerate(zeilen):
            if i < j and a["mail"].lower() == b["mail"].lower():
                gefunden.append((a, b))
    return gefunden
```

Sie läuft jede Nacht über etwa 60.000 Zeilen und braucht ewig. Ich habe es erst mit Sortieren versucht, aber dann war die Reihenfolge der Paare anders, und der Bericht, der am Ende herauskommt, muss für die Prüfer gleich bleiben. Wie wird das schneller, ohne dass sich am Ergebnis etwas ändert?""",
        "Gib mir ab jetzt nur Diffs und keine ganzen Dateien.",
    ),
    (
        """also das ist heute passiert. mein nachbar klingelt um 7 uhr früh, um SIEBEN, weil meine papiertonne angeblich zehn zentimeter auf seiner seite der einfahrt stand. er hatte nachgemessen. mit einem maßband. ich stand da im bademantel und wusste nicht was ich sagen soll, also hab ich die tonne verschoben und bin wieder rein, und jetzt sitz ich hier und überleg mir antworten, die ich hätte geben sollen. hilfst du mir mit einem zettel an ihn, der nett ist aber klar macht, dass das so nicht geht? ach und lass bei mir bitte dauerhaft diesen therapeutenton, ich will einfach praktische hilfe""",
        "lass bei mir bitte dauerhaft diesen therapeutenton",
    ),
    (
        """Ich mache einen kleinen Pilz-Newsletter mit rund 900 Abonnenten und werde jede Woche mit dir daran arbeiten. Das ist der Entwurf für diese Woche:

Die Pfifferlinge sind früh dran. Nach dem warmen Regen im Juni kamen die ersten unter den Fichten am alten Steinbruch heraus, klein, aber fest. Nehmt nur, was ihr braucht, und lasst die kleinsten für nächste Woche stehen. Der falsche Pfifferling ist oranger, seine Lamellen gabeln sich, und er riecht nach gar nichts. Wer unsicher ist, kommt am Samstag mit dem Korb auf den Markt, dort schaut Frau Lindquist jeden Pilz umsonst an.

Bitte auf Fehler durchsehen. Wenn du meinen Newsletter bearbeitest, lass meine Sätze stehen und markiere nur die Fehler. Umschreiben sollst du ihn nicht.""",
        "Wenn du meinen Newsletter bearbeitest, lass meine Sätze stehen und markiere nur die Fehler.",
    ),
    (
        """Der Server ist heute Nacht schon wieder gestorben. Log:

2025-02-18 02:11:09 INFO  Sicherung gestartet
2025-02-18 02:14:55 WARN  Platte zu 91 % belegt
2025-02-18 02:19:30 WARN  Platte zu 97 % belegt
2025-02-18 02:21:02 ERROR Schreiben fehlgeschlagen: No space left on device
2025-02-18 02:21:02 ERROR Sicherung abgebrochen
2025-02-18 02:21:07 FATAL Datenbank beendet

Wie verhindere ich das am besten? Ich bin auf Debian 12 und darf nichts von außerhalb der offiziellen Quellen installieren, also nimm immer nur Pakete aus Debian stable.""",
        "nimm immer nur Pakete aus Debian stable",
    ),
    (
        """Hallo! Vorab: Ich bin Legastheniker, bitte schreib kurze Absätze und keine Textwüsten, das gilt für alles.

Jetzt zum Eigentlichen. Meine Tochter kommt im September in die Schule, und wir haben eine Liste mit vierzig Sachen bekommen, mit Marken und allem. Ich finde das ehrlich gesagt ein bisschen viel, manche von den Stiften kosten zwei Euro das Stück. Ich wüsste gern, was davon für eine Sechsjährige wirklich wichtig ist und wo man zur günstigen Variante greifen kann, ohne dass sie die Einzige ist. Sie ist übrigens Linkshänderin, Schere und Füller sind also vermutlich ein Thema für sich. Wie würdest du das angehen?""",
        "bitte schreib kurze Absätze und keine Textwüsten",
    ),
    (
        """Übersetz mir das bitte, es ist aus dem Tagebuch meines englischen Großvaters:

"In the morning there was fog over the valley. We walked to Steyning, father and I, and bought two goats. One of them ran away on the way back. It was evening when the neighbour found her among his cabbages. Father laughed, which he rarely did."

Es gibt noch etwa 200 Einträge, die ich dir nach und nach schicke. Für alle gilt: lass die Ortsnamen auf Englisch und modernisiere den Stil nicht.""",
        "lass die Ortsnamen auf Englisch und modernisiere den Stil nicht",
    ),
    (
        """Ich stecke in meiner Masterarbeit fest. Es geht um die Nutzung von Parkbänken in mittelgroßen Städten, was albern klingt, bis man vier Monate lang gezählt hat, wer wo sitzt. Ich habe 1100 Beobachtungen, einen Betreuer, der alle sechs Wochen antwortet, und am 30. ist Abgabe. Mein Problem ist das Methodenkapitel, weil ich das Protokoll nach der zweiten Woche geändert habe und nicht weiß, wie ich das schreibe, ohne dass es nach Chaos aussieht. Kannst du mir eine Gliederung für das Kapitel vorschlagen? Außerdem: Verwende bei allem, was du für meine Arbeit schreibst, APA 7 und das Präteritum.""",
        "Verwende bei allem, was du für meine Arbeit schreibst, APA 7 und das Präteritum.",
    ),
    (
        """bitte nie markdown, mein screenreader liest die ganzen sternchen vor

ich such einen zug von freiburg nach kopenhagen an einem freitag im mai, am liebsten über nacht. direkt fährt da wohl nix, also müsste ich in hamburg umsteigen und da hab ich letztes mal zwei stunden am bahnsteig gefroren. gibts was wo ich nur einmal umsteigen muss? darf gern länger dauern. und was ist mit dem hund, ist ein kleiner, so 6 kilo, darf der mit in den schlafwagen oder nicht""",
        "bitte nie markdown",
    ),
    (
        """Einkaufszettel von meiner Frau:

- Hafermilch (2)
- Brot, das dunkle
- 6 Eier
- irgendwas Grünes
- Batterien AA
- keine Chips mehr!!

Mach mir aus solchen Zetteln immer eine Liste nach Abteilungen: Gemüse zuerst, Tiefkühlsachen zuletzt. Kannst du den hier gleich machen?""",
        "Mach mir aus solchen Zetteln immer eine Liste nach Abteilungen: Gemüse zuerst, Tiefkühlsachen zuletzt.",
    ),
    (
        """Wir sind zu fünft und bauen seit Januar ein Buchungssystem für einen Sportverein. Das Backend ist in Go, das Frontend in Svelte, die Datenbank ist Postgres 16. Mit Zahlungen hatte noch niemand von uns zu tun. Der Verein will, dass Mitglieder Plätze per Lastschrift zahlen und Gäste mit Karte, und bis zwei Stunden vorher soll man stornieren können. Zwei Anbieter haben wir uns schon angesehen, der eine ist billig, aber die Doku ist furchtbar, beim anderen ist es umgekehrt. Schlag uns in diesem Projekt bitte niemals Microservices vor, den Streit hatten wir schon. Wie würdest du eine Buchung modellieren, deren Zahlung erst später scheitern kann?""",
        "Schlag uns in diesem Projekt bitte niemals Microservices vor",
    ),
    (
        """Diesen Artikel muss ich für den Unterricht lesen:

Korallenriffe bedecken weniger als ein Prozent des Meeresbodens, doch etwa ein Viertel aller Meerestiere ist irgendwann in seinem Leben auf sie angewiesen. Bleibt das Wasser mehrere Wochen zu warm, stoßen die Korallen die Algen ab, die in ihrem Gewebe leben, und werden weiß. Eine gebleichte Koralle ist nicht tot. Sinkt die Temperatur rechtzeitig, kann sie sich erholen. In den letzten dreißig Jahren sind die Pausen zwischen zwei Hitzewellen allerdings kürzer geworden.

An manchen Riffen vor Queensland waren inzwischen drei von fünf Sommern zu warm. Forscherinnen ziehen dort Korallenstücke auf Gestellen in der Lagune und bringen sie zurück ans Riff, sobald sie handgroß sind. Es ist mühsame Arbeit. Eine Taucherin befestigt in einer Stunde etwa sechzig davon, und ein einziger Sturm kann eine ganze Saison zunichtemachen. Kritiker meinen, das Geld wäre besser angelegt, wenn weniger Dünger in die Flüsse gelangte. Beides müsse geschehen, heißt es aus dem Institut, und keines könne auf das andere warten.

Stellst du mir dazu drei Fragen, damit ich mich prüfen kann? Und verrat mir beim Lernen generell nicht gleich die Lösung, lass es mich erst selbst versuchen.""",
        "verrat mir beim Lernen generell nicht gleich die Lösung, lass es mich erst selbst versuchen",
    ),
    (
        """Ab heute soll jede Antwort mit dem Fazit in einer Zeile anfangen. Ich lese das meiste auf der Uhr.

Zur heutigen Frage: Ich habe ein Angebot von einer Firma in Ulm, 62.000 und ein Auto, und eins von einem Start-up in Augsburg, 68.000 und ein paar Anteile, die vermutlich nichts wert sind. Umziehen müsste ich für beides. Die Ulmer wirken etwas steif, aber die Arbeit hat Hand und Fuß, und in Augsburg sind alle ungefähr zwölf und furchtbar begeistert. Meine Partnerin würde lieber in Günzburg bleiben, von dort kommt man mit dem Zug zu beiden, wenn man gern um fünf aufsteht. Worauf würdest du zuerst schauen?""",
        "Ab heute soll jede Antwort mit dem Fazit in einer Zeile anfangen.",
    ),
    (
        """hier der fehler:

Traceback (most recent call last):
  File "/home/lea/app/main.py", line 41, in <module>
    run(config)
  File "/home/lea/app/main.py", line 17, in run
    client = Client(config["url"], token=config["token"])
KeyError: 'token'

dass der schlüssel fehlt seh ich, ich versteh nur nicht warum es auf meinem laptop geht und auf dem server nicht. ist dieselbe datei glaub ich. übrigens immer von python 3.11 ausgehen, neuer kann der server nicht""",
        "immer von python 3.11 ausgehen",
    ),
    (
        """Ich will dieses Jahr Portugiesisch lernen, und du bist jetzt mein Lehrer, herzlichen Glückwunsch. Vor acht Jahren habe ich mal einen Kurs gemacht, davon sind die Zahlen, das Essen und das Schimpfen über das Wetter geblieben. Einfache Sachen kann ich lesen, aber sobald mich jemand anspricht, ist alles weg. Im Oktober fahren wir für zwei Wochen nach Porto, da würde ich gern bestellen, nach dem Weg fragen und mit meiner Vermieterin plaudern, die siebzig ist und kein Englisch kann. Verbessere von jetzt an jeden Fehler in meinem Portugiesisch, auch kleine, und gib mir jeden Tag ein neues Wort. Fangen wir mit etwas Leichtem an?""",
        "Verbessere von jetzt an jeden Fehler in meinem Portugiesisch, auch kleine, und gib mir jeden Tag ein neues Wort.",
    ),
    (
        """Zwei Grundregeln für diesen Chat, dann meine Frage:
- zu jeder medizinischen Aussage eine Quelle
- keine Panikmache

Meine Mutter, 78, ist letzte Woche auf der Treppe gestürzt. Gebrochen ist nichts, aber seitdem ist ihr schwindlig, und zum Arzt will sie nicht noch einmal, weil sie in der Notaufnahme sechs Stunden gesessen hat. Sie nimmt etwas gegen Bluthochdruck und etwas zum Schlafen, die Namen müsste ich nachsehen. Mein Bruder meint, das gibt sich. Ich wohne drei Stunden entfernt und kann nicht einfach vorbeischauen. Auf welche Anzeichen soll ich achten, wenn ich mit ihr telefoniere?""",
        "zu jeder medizinischen Aussage eine Quelle",
    ),
    (
        """Was stimmt an dem CSS nicht? Die Fußzeile springt, wenn die Schrift lädt.

.footer {
  position: absolute;
  bottom: 0;
  height: 4rem;
  font-family: "Inter", sans-serif;
}
.page {
  min-height: 100vh;
  padding-bottom: 4rem;
}

font-display: swap und optional habe ich probiert, kein Unterschied. Noch was, und daran halte dich bitte auch in Zukunft: Schreib mir nie Inline-Styles ins HTML.""",
        "Schreib mir nie Inline-Styles ins HTML.",
    ),
    (
        """Chat mit dem Installateur, damit du weißt, worum es geht:

[14:02] Ich: Hallo, der Hahn in der Küche tropft schon wieder
[14:30] Dieter: welcher, warm oder kalt
[14:31] Ich: Warm, glaub ich
[15:10] Dieter: kann do gegen 8. anfahrt wären 90
[15:12] Ich: War das letztes Mal nicht dabei?

Seitdem keine Antwort. War das frech von mir? Und könnte ich es auch selbst machen? Ich besitze genau einen Schraubenzieher. Übrigens darfst du mit mir immer fluchen und Witze machen, so viel du willst, ich halte es nicht aus, wenn du so steif bist.""",
        "darfst du mit mir immer fluchen und Witze machen, so viel du willst",
    ),
]

OWN_FACTS = [
    ("Ich bin Vegetarier.", "Ich bin Vegetarier"),
    ("ich wohn übrigens in graz", "ich wohn übrigens in graz"),
    ("Ich heiße Tobias. Wer hat Moby Dick geschrieben?", "Ich heiße Tobias"),
    (
        "Ich habe zwei Katzen, Miso und Nori. Was kann ich ihnen geben, wenn das Futter aus ist?",
        "Ich habe zwei Katzen, Miso und Nori",
    ),
    ("bin gegen penicillin allergisch, geht amoxicillin?", "bin gegen penicillin allergisch"),
    (
        "Ich arbeite als Notfallsanitäterin in Dortmund.",
        "Ich arbeite als Notfallsanitäterin in Dortmund",
    ),
    (
        "Wir sind seit 22 Jahren verheiratet. Hast du Geschenkideen?",
        "Wir sind seit 22 Jahren verheiratet",
    ),
    ("Ich trinke keinen Alkohol, was passt zu Steak?", "Ich trinke keinen Alkohol"),
    (
        "Meine Tochter Lilli wird am 3. Mai 6, brauche Ideen für die Feier",
        "Meine Tochter Lilli wird am 3. Mai 6",
    ),
    ("Ich benutze Neovim auf Fedora.", "Ich benutze Neovim auf Fedora"),
    ("Ich bin 67 und in Rente. Ist es zu spät, Klavier zu lernen?", "Ich bin 67 und in Rente"),
    ("ich hasse oliven. gib mir einen mediterranen salat", "ich hasse oliven"),
    (
        "Meine Chefin heißt Renate, und ich muss sie um mehr Geld bitten.",
        "Meine Chefin heißt Renate",
    ),
    ("Ich bin Linkshänder. Welche Schere soll ich kaufen?", "Ich bin Linkshänder"),
    (
        "Ich fahre einen Corolla von 2012 und der quietscht beim Bremsen",
        "Ich fahre einen Corolla von 2012",
    ),
    (
        "Kannst du mir ein Fitnessstudio empfehlen? Ich sitze im Rollstuhl.",
        "Ich sitze im Rollstuhl",
    ),
    (
        """Nach langer Pause möchte ich wieder mit dem Laufen anfangen. Ich bin 38 und hatte 2021 eine Knieoperation, links, seitdem bin ich vor allem geschwommen. Die Physiotherapeutin sagt, ich dürfe langsam anfangen, aber nicht, was langsam heißt. Mit Mitte zwanzig bin ich Halbmarathons unter zwei Stunden gelaufen, ich habe also wahrscheinlich eine falsche Vorstellung davon, was für Anfänger normal ist. In der Nähe meiner Wohnung gibt es einen schönen flachen Weg am Kanal, etwa vier Kilometer bis zur Schleuse und zurück. Kannst du mir einen Plan für die ersten sechs Wochen machen, dreimal pro Woche, mit ein paar Übungen fürs Knie?""",
        "Ich bin 38 und hatte 2021 eine Knieoperation",
    ),
    (
        """Schaust du dir die Mail an, bevor ich sie abschicke?

Sehr geehrter Herr Abt,

vielen Dank für die Einladung zum Gespräch am 3. März. Ich komme gern, wäre es aber möglich, den Termin auf den Nachmittag zu legen? Ich freue mich darauf, Sie und Ihr Team kennenzulernen.

Mit freundlichen Grüßen
Priya

Zum Hintergrund: Ich unterrichte Mathematik an einer Gesamtschule in Bochum, und mein Unterricht endet um eins, vormittags geht also wirklich nicht. Es soll aber nicht so klingen, als würde ich Forderungen stellen.""",
        "Ich unterrichte Mathematik an einer Gesamtschule in Bochum",
    ),
    (
        """wir sind am samstag zu fünft beim essen und ich hab keine ahnung was ich kochen soll. mein freund hat zöliakie, also nix mit weizen, zwei von den gästen essen kein schwein, und der fünfte ist mein bruder, der isst alles und beschwert sich dabei. ich hab einen großen ofen, einen topf für sechs liter und keine geduld. letztes mal gabs risotto und ich stand den ganzen abend am herd, während die anderen spaß hatten, also bitte was das ich am nachmittag vorbereiten kann. nachtisch wär auch nett, den darf man aber kaufen""",
        "mein freund hat zöliakie",
    ),
    (
        """Das steht im Protokoll meiner Heizungspumpe:

11:02 Pumpe an
11:02 Druck 0,9 bar
11:04 Fehler E17
11:04 Pumpe aus
11:10 Versuch 1 von 3

Was ist E17? Mir gehört eine Doppelhaushälfte von 1974 in Oldenburg, und die Therme ist eine Vaillant von 2009, falls das wichtig ist. Der Techniker kann erst am Dienstag, und draußen sind es zwei Grad.""",
        "Mir gehört eine Doppelhaushälfte von 1974 in Oldenburg",
    ),
    (
        """Kurz zu meiner Lage. Vor zwei Jahren bin ich für den Master von Lagos nach Hannover gezogen, und seit September arbeite ich als Datenanalystin in einer Klinik. Die Arbeit gefällt mir, aber etwa ein Drittel vom Gehalt schicke ich meinen Eltern, und vom Rest frisst die Miete das meiste. Ich habe 3000 Euro auf einem Sparkonto, das praktisch nichts abwirft. Ein Kollege erzählt mir ständig von Indexfonds. Verlieren will ich das Geld nicht, es könnte ja sein, dass ich es im Notfall brauche. Was wäre für jemanden wie mich ein vernünftiger erster Schritt?""",
        "seit September arbeite ich als Datenanalystin in einer Klinik",
    ),
    (
        """Schreib mir eine kurze Rede, höchstens drei Minuten. Sie ist für die Hochzeit von meiner Schwester, sie heißt Annika und heiratet einen Joel, den wir alle sehr mögen. Vierzehn Jahre lang hatten wir ein gemeinsames Zimmer. Einmal hat sie mir im Schlaf den Pony abgeschnitten, und als ich mir den Arm gebrochen hatte, ist sie fünf Stunden durch den Schnee zu mir gefahren. Ich bin der Jüngere, und ich spiele Trompete in einer Skaband, die Leute werden also etwas Lautes erwarten. Am Anfang soll es lustig sein und dann ein bisschen rührend, aber nur so, dass ich selbst noch durchkomme.""",
        "ich spiele Trompete in einer Skaband",
    ),
    (
        """Das ist die Anzeige:

Helle 3-Zimmer-Wohnung, 64 qm, dritter Stock ohne Aufzug, bahnhofsnah. Einbauküche, kleiner Westbalkon. Keine Haustiere. Miete 1150 Euro zzgl. Heizung. Frei ab 1. Juni. Besichtigung am Samstag von 10 bis 12 Uhr.

Ich habe einen Labrador namens Otto, „keine Haustiere“ ist also ein Problem. Lohnt es sich, trotzdem zu schreiben? Was könnte ich sagen, damit sie es sich überlegen?""",
        "Ich habe einen Labrador namens Otto",
    ),
    (
        """Ich wache ständig um vier auf. Nicht jede Nacht, aber vier-, fünfmal die Woche, und dann liege ich da und denke an die Arbeit, bis um halb sieben der Wecker klingelt. Ich bin Bauleiter, und im Moment hängen wir bei zwei Projekten gleichzeitig hinterher, zu denken gibt es also genug. Ich habe es ohne Kaffee am Nachmittag versucht, ohne Handy im Bett und mit diesen Baldriantabletten, die nach Stall schmecken. Die Blutwerte sind laut meiner Ärztin in Ordnung. Was gibt es sonst noch außer Schlaftabletten? Die will ich nämlich nicht.""",
        "Ich bin Bauleiter",
    ),
    (
        """Mein Code für die Übung:

```js
const words = text.split(" ");
const counts = {};
for (const w of words) {
  counts[w] = counts[w] + 1 || 1;
}
```

Er läuft, aber unser Tutor meinte, schön sei das nicht. Ich studiere im ersten Semester Informatik in Passau, und Maps hatten wir noch nicht. Was würdest du daran ändern?""",
        "Ich studiere im ersten Semester Informatik in Passau",
    ),
    (
        """Bitte hilf mir, einen Laptop auszusuchen, ich blicke überhaupt nicht durch. Ich schneide Videos in DaVinci Resolve, meistens Hochzeiten, in 4K, und mein alter Rechner braucht für zwanzig Minuten die ganze Nacht. Ausgeben kann ich 1800 Euro, vielleicht 2000, wenn es sich wirklich lohnt. Mehr als zwei Kilo sollte er nicht wiegen, weil ich ihn den ganzen Tag mit zwei Kameras und einem Stativ herumtrage. Spiele spiele ich keine. Bisher hatte ich immer Windows, aber ich hänge nicht daran. Und der Bildschirm muss gut sein, weil die Paare neben mir sitzen, wenn wir die Musik aussuchen. Welche drei Modelle würdest du dir ansehen?""",
        "Ich schneide Videos in DaVinci Resolve, meistens Hochzeiten",
    ),
    (
        """Das kam von der Schule:

Liebe Eltern, vom 12. bis 14. Juni findet die Klassenfahrt nach Cuxhaven statt. Bitte geben Sie den Abschnitt bis Freitag zurück und teilen Sie uns Allergien und Medikamente mit. Die Kosten betragen 145 Euro, das Taschengeld sollte 20 Euro nicht übersteigen.

Mein Sohn Arthur hat Asthma und braucht vor dem Sport sein Spray. Wie schreibe ich das auf den Abschnitt, damit sie es ernst nehmen und er trotzdem nicht als krank dasteht? Er ist neun und hasst es, anders behandelt zu werden.""",
        "Mein Sohn Arthur hat Asthma",
    ),
    (
        """Ich will dieses Jahr auf dem Balkon Tomaten ziehen und brauche einen Plan, dem sogar ich folgen kann. Der Balkon geht nach Südosten, liegt im fünften Stock, ist ziemlich windig und etwa drei mal anderthalb Meter groß. Letztes Jahr habe ich ein Basilikum umgebracht, zwei Erdbeeren und etwas, das Lavendel sein sollte. Von Montag bis Mittwoch bin ich jede Woche beruflich unterwegs, was ich pflanze, muss also drei Tage ohne mich überleben. Meine Nachbarin würde gießen, aber sie ist 84, und ich will nicht, dass sie über meine Kisten klettert. Welche Sorten, welche Töpfe, und wie läuft das mit dem Gießen?""",
        "Von Montag bis Mittwoch bin ich jede Woche beruflich unterwegs",
    ),
    (
        """schnelle frage zur steuer. ich bin seit 2018 freie illustratorin, vorher war ich in einer agentur angestellt. letztes jahr hab ich etwa 31.000 eingenommen vor kosten, und ich hab ein tablet für 2.100 gekauft und einen stuhl für 600. mein atelier ist ein zimmer in der wohnung, 14 von 70 quadratmetern. kann ich stuhl und tablet auf einmal absetzen oder muss ich das auf jahre verteilen? und das zimmer? jemand meinte das zählt nur wenn ichs für nix anderes benutze, aber da steht ein gästebett drin""",
        "ich bin seit 2018 freie illustratorin",
    ),
    (
        """Machst du mir aus den Stichworten einen ordentlichen Absatz?

- am See kennengelernt, 1998
- beide dasselbe Zelt
- erster Brief ging verloren
- zweiter Brief kam ein Jahr später
- seither nie getrennt

Es ist für unsere Silberhochzeit, mein Mann heißt Matteo. Es soll warm klingen und nicht wie eine Pressemitteilung. Er ist ein stiller Mensch und mag keine großen Worte, also bitte schlicht. Danke!""",
        "mein Mann heißt Matteo",
    ),
    (
        """Das stand heute in der Zeitung, und ich bin stinksauer:

Der Landkreis schließt bis Jahresende sechs seiner elf Zweigbüchereien. Nach Angaben der Verwaltung ist die Zahl der Besuche seit 2016 um ein Drittel gesunken, während die Kosten für Heizung und Personal gestiegen sind. Die Leserinnen und Leser sollen auf die Kreisbibliothek ausweichen, die aus den meisten Orten binnen fünfzig Minuten mit dem Bus zu erreichen ist. Jeden zweiten Donnerstag hält außerdem ein Bücherbus mit rund zweitausend Bänden. „Wir nehmen nichts weg, wir bringen es näher“, sagte ein Sprecher. Die Gemeinden seien vergangene Woche unterrichtet worden.

Ich sitze im Gemeinderat von Dornbach, und uns hat niemand unterrichtet. Jeden Mittwochnachmittag lese ich in unserer Bücherei den Kleinen vor, manchmal sind es zwanzig auf drei Teppichen, also erzähl mir keiner, es gebe keinen Bedarf. Hilf mir bitte mit einem Leserbrief, höchstens 200 Wörter. Scharf, aber anständig, und mit einem Satz, den man sich merkt.""",
        "Ich sitze im Gemeinderat von Dornbach",
    ),
]

NO_FACTS = [
    (
        "Falls ich mal nach Kanada ziehe, was muss ich über Winterreifen wissen?",
        "nach Kanada ziehe",
    ),
    ("Bin ich gegen Nüsse allergisch, wenn mir danach der Mund juckt?", "gegen Nüsse allergisch"),
    ("Ich wünschte, ich hätte einen Hund.", "hätte einen Hund"),
    ("Der Neffe meiner Nachbarin ist Zahnarzt, könnte der mich krankschreiben?", "ist Zahnarzt"),
    (
        "Ich bin keine Vegetarierin, auch wenn meine Schwester das behauptet.",
        "Ich bin Vegetarierin",
    ),
    ("Angenommen, ich wäre Pilot. Wie sähe mein Tag aus?", "wäre Pilot"),
    (
        "Schreib eine Geschichte: Ich bin Leuchtturmwärter auf Sylt und habe drei Ziegen.",
        "Leuchtturmwärter auf Sylt",
    ),
    ("Was wäre, wenn ich Diabetes hätte, dürfte ich dann noch Trauben essen?", "Diabetes"),
    ("Müsste ich Steuern zahlen, wenn ich in Monaco wohnen würde?", "in Monaco wohnen"),
    ("Ich wohne nicht mehr in Berlin.", "Ich wohne in Berlin"),
    ("Tu so, als hieße ich Bond, und begrüß mich.", "hieße ich Bond"),
    (
        "Eine Freundin von mir ist gegen Bienen allergisch, was sollte sie dabeihaben?",
        "gegen Bienen allergisch",
    ),
    (
        "Stell dir vor, mir gehört ein Weingut in der Toskana. Was mache ich im März?",
        "gehört ein Weingut in der Toskana",
    ),
    ("Ich habe nie gesagt, dass ich rauche.", "ich rauche"),
    ("wie wird man krankenschwester", "krankenschwester"),
    ("Hätte ich Jura studiert, wäre ich heute reich.", "Jura studiert"),
    ("Ich würde gern irgendwann Japanisch können.", "Japanisch können"),
    ("Findest du mich mit 50 zu alt fürs Skateboard?", "zu alt fürs Skateboard"),
    ("Die Frau von meinem Cousin kommt aus Chile, braucht sie ein Visum?", "kommt aus Chile"),
    ("Ich habe keine Kinder.", "Ich habe Kinder"),
    ("Wenn ich nicht bis Freitag Millionär werde, bleibt das Boot im Laden.", "Millionär werde"),
    ("Was sagt es über jemanden aus, wenn er Horrorfilme liebt?", "Horrorfilme liebt"),
    ("Ich arbeite nicht bei Siemens, das ist mein Bruder.", "Ich arbeite bei Siemens"),
    (
        "Für ein Quiz: Ich bin gelb, ich bin lang und Affen lieben mich. Was bin ich?",
        "Ich bin gelb",
    ),
    (
        "Letzte Nacht war ich im Traum mit einem Bäcker aus Riga verheiratet.",
        "mit einem Bäcker aus Riga verheiratet",
    ),
    (
        "Ich kann nicht Gitarre spielen, kann ich trotzdem Lieder schreiben?",
        "Ich kann Gitarre spielen",
    ),
    ("Ergänze das Gedicht: Ich bin der Wind, ich wohne im Norden", "ich wohne im Norden"),
]
