"""Memories that should stand in every prompt, and ordinary ones that should not.

Written before the rules that tell them apart. Every second wish was looked at while the rules were
written (`SEEN`), the others once, at the end (`UNSEEN`).
"""

from __future__ import annotations

WISHES = """
en Always answer in British English.
en Call me Captain.
en Never use emojis.
en User prefers short answers without an introduction.
en User wants recipes in grams, not cups.
en Please write all code examples in Python.
en The user wants dates as day month year.
en Don't apologise in your replies.
en Use metric units only.
en User asks to be addressed by first name.
en Keep your tone friendly but professional.
en I want explanations step by step.
en Never mention my weight.
en User would like answers in bullet points.
en From now on, reply in French.
en User is vegetarian.
en Don't use tables.
de Antworte immer auf Deutsch.
de Bitte duze mich.
de Nenn mich Chef.
de Verwende niemals Emojis.
de Der Benutzer möchte kurze Antworten.
de Schreib Datumsangaben immer als Tag.Monat.Jahr.
de Benutze Kilometer statt Meilen.
de Erkläre mir alles Schritt für Schritt.
de Halte dich kurz.
de Ich möchte, dass du mich mit Frau Doktor ansprichst.
de Keine Aufzählungen bitte.
de Gib Temperaturen in Celsius an.
de Die Nutzerin will Codebeispiele in Rust.
de Sei nicht so förmlich.
de Ich bin Veganerin.
de Bitte antworte mir nur auf Englisch.
es Responde siempre en español.
es Llámame Lucía.
es No uses emojis nunca.
es El usuario quiere respuestas cortas.
es Usa el sistema métrico.
es Prefiero que me tutees.
es Escribe los ejemplos de código en Java.
es Háblame de usted, por favor.
es Evita los tecnicismos.
es Quiero las respuestas en viñetas.
es Da las temperaturas en grados Celsius.
es Explícame todo paso a paso.
es Soy vegetariano.
es La usuaria pide un tono formal.
es De ahora en adelante contesta en catalán.
es Nunca menciones a mi exmarido.
es Sé breve.
fr Réponds toujours en français.
fr Appelle-moi Camille.
fr N'utilise jamais d'émojis.
fr L'utilisateur veut des réponses courtes.
fr Tutoie-moi s'il te plaît.
fr Utilise le système métrique.
fr Écris les exemples de code en TypeScript.
fr Évite le jargon.
fr Je veux des listes à puces.
fr Donne les températures en degrés Celsius.
fr Explique-moi les choses étape par étape.
fr Je suis végétalien.
fr L'utilisatrice préfère un ton décontracté.
fr À partir de maintenant, réponds en anglais.
fr Ne parle jamais de mon ex.
fr Sois concis.
fr Vouvoyez-moi.
it Rispondi sempre in italiano.
it Chiamami Dottoressa.
it Non usare mai emoji.
it L'utente vuole risposte brevi.
it Dammi del tu.
it Usa il sistema metrico.
it Scrivi gli esempi di codice in Go.
it Evita il gergo tecnico.
it Voglio elenchi puntati.
it Indica le temperature in gradi Celsius.
it Spiegami tutto passo per passo.
it Sono vegana.
it L'utente preferisce un tono informale.
it D'ora in poi rispondi in inglese.
it Non parlare mai di politica.
it Sii conciso.
it Scrivi le date come giorno/mese/anno.
pt Responda sempre em português.
pt Me chame de Doutor.
pt Nunca use emojis.
pt O usuário quer respostas curtas.
pt Trate-me por tu.
pt Use o sistema métrico.
pt Escreva os exemplos de código em Python.
pt Evite jargões.
pt Quero respostas em tópicos.
pt Dê as temperaturas em graus Celsius.
pt Explique tudo passo a passo.
pt Sou vegetariana.
pt A usuária prefere um tom informal.
pt A partir de agora, responda em inglês.
pt Não fale de política.
pt Seja breve.
""".strip()

# What a person saves of the things of a day: no order for every answer, no trait.
_ORDINARY = """
The staging port is 8090
The project deadline is March 15, 2026
User's dog Otto is a beagle
The demo is on Friday at 10
Anna's birthday is on May 4
The car is parked on level 3
The wifi at the cabin is slow
Call the plumber on Monday
Always was a difficult client, that Mr Hill
User bought a new bicycle in Graz
The client wants the report in PDF
The meeting was moved to Thursday
The team uses Postgres 16 for billing
Marta likes the blue version better
Never got an answer from the insurer
User read the book about bees twice
Keep the receipt for the washing machine until June
The children prefer pancakes on Sundays
Release 2.4 broke the import
Use of the pool is free on weekdays
The landlord wants the rent in cash
Sara never eats before ten
Write-off of the old printer is booked
The bakery on Elm Street opens at six
User has an appointment with Dr Weiss on 3 June
The flight to Lisbon leaves at 7:40
The invoice 2231 is unpaid
Jonas speaks Dutch and German
User visited Kyoto in 2019
The red pan is not for the dishwasher
"""
_LATER = """
Der Port der Testumgebung ist 8091
Das Auto steht im dritten Stock
Oma hat am 4. Mai Geburtstag
Der Kunde will den Bericht als PDF
Die Besprechung ist auf Donnerstag verschoben
Die Heizung wurde im Herbst repariert
Immer noch keine Antwort vom Vermieter
Der Flug nach Lissabon geht um 7:40
Jonas mag keine Oliven
Der Schlüssel liegt unter der Matte
El puerto de pruebas es 8091
La reunión es el jueves
El coche está en el tercer piso
Marta cumple años el 4 de mayo
El cliente quiere el informe en PDF
La panadería abre a las seis
El vuelo a Lisboa sale a las 7:40
A Jonas no le gustan las aceitunas
La llave está debajo del felpudo
La factura 2231 sigue sin pagar
Le port de test est 8091
La réunion est jeudi
La voiture est au troisième étage
Marthe fête son anniversaire le 4 mai
Le client veut le rapport en PDF
La boulangerie ouvre à six heures
Le vol pour Lisbonne part à 7 h 40
Jonas n'aime pas les olives
La clé est sous le paillasson
La facture 2231 n'est pas payée
La porta di prova è la 8091
La riunione è giovedì
La macchina è al terzo piano
Marta compie gli anni il 4 maggio
Il cliente vuole il rapporto in PDF
Il panificio apre alle sei
Il volo per Lisbona parte alle 7:40
A Jonas non piacciono le olive
La chiave è sotto lo zerbino
La fattura 2231 non è pagata
A porta de teste é 8091
A reunião é na quinta
O carro está no terceiro andar
Marta faz anos a 4 de maio
O cliente quer o relatório em PDF
A padaria abre às seis
O voo para Lisboa parte às 7:40
O Jonas não gosta de azeitonas
A chave está debaixo do tapete
A fatura 2231 não foi paga
"""
_SUBJECTS = (
    "The printer", "Anna", "The garden gate", "Our supplier", "The night train", "Mr Okafor",
    "The blue folder", "The choir", "The dentist", "Route 66", "The backup job", "Team Falcon",
    "The neighbour's cat", "The museum", "The tax office", "Bogdan", "The old server", "The recipe",
    "The school", "Lena's band", "The roof", "The gym",
)  # fmt: skip
_TOLD = (
    "was repaired on 12 March", "wants an answer by Monday", "never opens before nine",
    "always arrives late on Fridays", "keeps the spare key", "uses version 3.2",
    "is closed in August", "costs 45 euros a month", "prefers to be called in the morning",
    "likes quiet weekends",
)  # fmt: skip


def wishes() -> list[str]:
    return [line.partition(" ")[2] for line in WISHES.splitlines()]


SEEN, UNSEEN = wishes()[::2], wishes()[1::2]


def ordinary() -> list[str]:
    """300 of them."""
    made = [f"{subject} {told}" for subject in _SUBJECTS for told in _TOLD]
    return [*_ORDINARY.strip().splitlines(), *_LATER.strip().splitlines(), *made][:300]
