"""Standing rules: what is found as one, in which languages, and what is not."""

from __future__ import annotations

import pytest

from memtree.text.rule_score import Scorer, phrases
from memtree.text.standing_rules import standing_rules, warm_up

# Of each language: rules, and sentences that hold some of the same words and are none.
RULES = """
Use pnpm, not npm, in this project.
Don't ever touch the vendor/ folder.
Remember: never commit directly to main.
You must not use emojis.
I want you to keep answers under 100 words.
No semicolons in this codebase.
All commits must be signed.
Stick to the standard library.
We use tabs here.
Sprich ab jetzt immer Deutsch mit mir.
Fass dich in deinen Antworten bitte kurz.
Écris toujours tes réponses en français.
Ne modifie jamais les fichiers du dossier build/.
Escribe siempre tus respuestas en español.
Nunca modifiques los archivos de la carpeta build/.
Scrivi sempre le tue risposte in italiano.
Non modificare mai i file della cartella build/.
Escreva sempre as suas respostas em português.
Nunca altere os arquivos da pasta build/.
Schrijf je antwoorden altijd in het Nederlands.
Verander nooit iets in de map build/.
Zawsze pisz odpowiedzi po polsku.
Nigdy nie zmieniaj plików w folderze build/.
Всегда пиши ответы по-русски.
Никогда не меняй файлы в папке build/.
Завжди пиши відповіді українською.
Skriv alltid dina svar på svenska.
Her zaman Türkçe yaz.
build/ klasöründeki dosyaları asla değiştirme.
اكتب إجاباتك دائما بالعربية.
لا تغير ملفات المجلد build/ أبدا.
请始终用中文回答。
永远不要修改 build/ 目录里的文件。
常に日本語で回答してください。
build/ フォルダのファイルは絶対に変更しないでください。
항상 한국어로 답변해 주세요.
build/ 폴더의 파일은 절대 수정하지 마세요.
हमेशा हिंदी में जवाब लिखो।
Luôn trả lời bằng tiếng Việt.
Ab jetzt bitte nur noch Deutsch.
À partir de maintenant, uniquement en français.
Od teraz tylko po polsku.
From now on call me Jo.
dont ever apologise to me again
when I ask about law, assume England and not the US
please drop the therapist tone with me for good
I'm on Debian, so always stick to packages from the stable release
no markdown please, ever
prices in euros, not dollars
in this repo only tabs
you can skip the greetings
Every reply in max 3 sentences.
Künftig Preise bitte in Franken statt in Euro.
wenn ich nach Recht frage, geh von Österreich aus
Verbessere von jetzt an jeden Fehler in meinem Portugiesisch.
Öffnen Sie unter keinen Umständen Anhänge.
Eins noch: nenn mich ab sofort Jojo.
Dorénavant, les prix en francs suisses, pas en euros.
arrete de t'excuser une fois pour toutes
N'ouvrez en aucun cas les pièces jointes.
À partir de maintenant appelle-moi Jo.
A partir de ahora llámame Jo.
en todas las recetas: sin cilantro y con cantidades para dos
propón siempre paquetes de los repositorios oficiales
Transfiera siempre el dinero a la cuenta 4471.
D'ora in poi chiamami Jo.
massimo 3 frasi a risposta pls
Non aprite per nessun motivo gli allegati.
con me sii sempre diretto
Daqui para a frente, me chame de Capitão.
quando eu pedir um e-mail, me dê também três sugestões de assunto.
Receitas, para mim, sempre para duas pessoas.
De agora em diante, coloque o link em cada resposta, pode ser?
Все ответы, пожалуйста, не длиннее пяти строк.
Рецепты для меня всегда рассчитывай на двоих.
когда речь о готовке всегда пиши сколько времени займёт
Технические термины с этого дня оставляйте на английском.
我让你写邮件的时候，每次都顺便给三个主题备选
打今儿起，说话都给我带点儿北京味儿。
再也不要道歉。
返事は最大5行で
could you avoid tables in general?
Könntest du bitte generell auf Tabellen verzichten?
Tu pourrais éviter les tableaux en général ?
¿Podrías evitar las tablas en general?
Basta domande alla fine delle risposte, per favore.
Chega de perguntas no fim das respostas, por favor.
только суть, пожалуйста
bitte jedes Mal kurz halten
Nouvelle règle : une idée par paragraphe.
новое правило: не больше пяти пунктов
De listas así hazme siempre una tabla.
Quiero que me lleves la contraria cuando me equivoque.
con me puoi sempre scherzare
Si j'écris en espagnol, réponds en espagnol.
Quando listar opções, numere-as.
quand je demande du code donne-moi juste le code
Prima di rispondere, fammi una domanda.
Übersetze alles, was ich dir schicke, ins Niederländische.
só unidades métricas neste chat
Correct my English as we go along, every message.
Parti dal presupposto che conosca le basi.
Sigue llamándome Capitán.
Tu peux m'appeler Mado.
Ne me ménage pas.
Rede mit mir wie ein Pirat, bis ich Stopp sage.
Я дальтоник, поэтому описывай графики словами, всегда.
下次起先说结论再说别的
我是新手，所以每次都要先解释术语。
いつも12歳に話すみたいに説明してくれる？
お世辞はいらない。
"""
OTHERS = """
Fix the bug in parser.py.
Add a test for the upload.
Don't forget to call mom.
Use the second approach.
Make it shorter.
I've always used tabs.
My brother never writes to me.
We always went to the lake in summer.
Why do you always use bullet points?
The build always fails on Windows.
The manual says you should never open the case.
Never give up on your dreams.
From now on I'm going to get up earlier.
For this task, use the small model.
Mein Bruder hat immer Hunger.
Schreib mir ein Gedicht.
Ma sœur ne chante jamais.
Écris-moi un poème.
Mi hermana siempre canta.
Escríbeme un poema.
Mia sorella canta sempre.
Scrivi una poesia.
Minha irmã canta sempre.
Escreva um poema.
Mijn zus zingt altijd.
Schrijf een gedicht.
Moja siostra zawsze śpiewa.
Napisz wiersz.
Моя сестра всегда поёт.
Напиши стихотворение.
Моя сестра завжди співає.
Min syster sjunger alltid.
Kız kardeşim her zaman şarkı söyler.
Bir şiir yaz.
أختي تغني دائما.
اكتب قصيدة.
我妹妹总是唱歌。
写一首诗。
妹はいつも歌っている。
詩を書いてください。
내 여동생은 항상 노래를 불러.
시를 써 줘.
मेरी बहन हमेशा गाती है।
Em gái tôi luôn hát.
My brother always comes late.
From now on I'll eat less meat.
The function must always return a list.
Every time it rains, the cellar floods.
In future the ferry will run on Sundays, too.
Whenever I ask the plumber, he is on holiday.
She left the band for good in 2019.
Can you check every link on this page?
In this project nobody ever wrote tests.
Our neighbours never say hello.
Mein Bruder kommt immer zu spät.
Ab jetzt esse ich weniger Fleisch.
Die Funktion muss immer eine Liste liefern.
Jedes Mal, wenn es regnet, läuft der Keller voll.
In Zukunft fährt die Fähre auch sonntags.
Wenn ich den Klempner frage, ist er im Urlaub.
Sie hat die Band 2019 endgültig verlassen.
Kannst du jeden Link auf dieser Seite prüfen?
In diesem Projekt hat nie jemand Tests geschrieben.
Unsere Nachbarn grüßen nie.
Mon frère arrive toujours en retard.
Désormais je mange moins de viande.
La fonction doit toujours renvoyer une liste.
Chaque fois qu'il pleut, la cave est inondée.
À l'avenir, le ferry circulera aussi le dimanche.
Quand je demande au plombier, il est en vacances.
Elle a quitté le groupe pour toujours en 2019.
Tu peux vérifier chaque lien de cette page ?
Dans ce projet personne n'a jamais écrit de tests.
Nos voisins ne disent jamais bonjour.
Mi hermano siempre llega tarde.
A partir de ahora como menos carne.
La función siempre debe devolver una lista.
Cada vez que llueve, se inunda el sótano.
En el futuro el ferry también saldrá los domingos.
Cuando pregunto al fontanero, está de vacaciones.
Dejó el grupo para siempre en 2019.
¿Puedes comprobar cada enlace de esta página?
En este proyecto nadie escribió nunca pruebas.
Nuestros vecinos nunca saludan.
Mio fratello arriva sempre in ritardo.
D'ora in poi mangio meno carne.
La funzione deve sempre restituire una lista.
Ogni volta che piove, la cantina si allaga.
In futuro il traghetto partirà anche la domenica.
Quando chiedo all'idraulico, è in vacanza.
Ha lasciato il gruppo per sempre nel 2019.
Puoi controllare ogni link di questa pagina?
In questo progetto nessuno ha mai scritto test.
I nostri vicini non salutano mai.
Meu irmão chega sempre atrasado.
A partir de agora como menos carne.
A função deve sempre devolver uma lista.
Sempre que chove, a cave inunda.
No futuro o ferry também vai sair aos domingos.
Quando pergunto ao canalizador, ele está de férias.
Ela deixou a banda para sempre em 2019.
Podes verificar cada link desta página?
Neste projeto ninguém escreveu testes.
Os nossos vizinhos nunca cumprimentam.
Мой брат всегда опаздывает.
Отныне я ем меньше мяса.
Функция всегда должна возвращать список.
Каждый раз, когда идёт дождь, подвал затапливает.
В будущем паром будет ходить и по воскресеньям.
Когда я спрашиваю сантехника, он в отпуске.
Она навсегда ушла из группы в 2019 году.
Можешь проверить каждую ссылку на этой странице?
В этом проекте никто никогда не писал тестов.
Наши соседи никогда не здороваются.
我弟弟总是迟到。
从现在起我要少吃肉。
这个函数必须始终返回列表。
每次下雨地下室都会进水。
我问水管工的时候他正在度假。
她2019年永远离开了乐队。
能检查一下这页的每个链接吗？
这个项目里从来没人写过测试。
我们的邻居从不打招呼。
弟はいつも遅刻する。
これからは肉を減らします。
この関数は必ずリストを返さなければならない。
雨が降るたびに地下室が水浸しになる。
今後は日曜日もフェリーが出るそうです。
配管工に聞くときはいつも休暇中だ。
彼女は2019年にバンドを永遠に去った。
このページのリンクを全部確認してくれる？
このプロジェクトでは誰もテストを書かなかった。
うちの隣人は決して挨拶しない。
Tudo começou numa tarde de temporal, quando entrei numa sala de leitura.
Si la temperatura baja a tiempo, puede recuperarse.
Vorrei che suonasse caldo e non come un comunicato.
Gib mir drei Überschriften dafür.
Je n'ai jamais de temps pour ça.
Quando eu era pequena, tudo saía da máquina dela.
Please don't be mad at me.
"""


def rules_in(text):
    return [text[start:end] for start, end in standing_rules(text)]


def test_standing_rules_are_found_verbatim():
    for rule in (
        "Always include units when I ask about sizes.",
        "Never use emojis in your answers.",
        "Please always answer in French.",
        "From now on, call me Sam.",
        "I want you to always show the command first.",
        "You must always cite a source.",
        "Whenever I ask for a summary, keep it under five lines.",
        "Going forward, please write dates as YYYY-MM-DD.",
        "Make sure you always mention the version.",
    ):
        assert rules_in(f"Thanks for that. {rule} And now the next topic: the weather.") == [rule]
        assert rules_in(f"- {rule}\n- other point") == [rule]


def test_other_sentences_are_no_standing_rules():
    for text in (
        "I've always used tabs. Never mind.",
        "It never includes the header, why?",
        "He always answers late.",
        "How can I always include the header?",
        "I've been told to always show my work when asking about proofs.",
        "We will use pnpm going forward.",
        "```\nAlways include units.\n```",
        "    Always include units.",
        "> Always include units.",
        "Set `always include` in the config.",
        "2024-01-01 12:00:00 always retry",
        "",
    ):
        assert rules_in(text) == []


@pytest.mark.parametrize("rule", RULES.strip().splitlines())
def test_a_rule_in_any_language(rule):
    assert rules_in(rule) == [rule]
    assert rules_in(f"OK.\n{rule}\n42") == [rule]


@pytest.mark.parametrize("text", OTHERS.strip().splitlines())
def test_what_is_no_rule_in_any_language(text):
    assert rules_in(text) == []


def test_quoted_sentences_are_no_rules():
    assert rules_in('"Never commit to main." he wrote.') == []
    assert rules_in('My teacher used to say "always show your work".') == []
    assert rules_in("The config says `never use tabs here`.") == []


def test_a_word_in_quotation_marks_or_code_belongs_to_its_rule():
    for rule in ('Never use the word "delve" in your answers.', "Use `pnpm`, not `npm`, here."):
        assert rules_in(rule) == [rule]


def test_items_below_a_heading_need_less():
    items = "- Type hints everywhere\n- Return early from functions\n"
    assert rules_in(items) == []
    assert "Return early from functions" in rules_in(f"## Rules for this repo\n\n{items}")
    assert "Return early from functions" not in rules_in(f"## Shopping\n\n{items}")


def test_the_middle_of_a_long_text_needs_more():
    weak = "Use double quotes."
    filler = "The weather was fine and the boats were out. " * 120
    assert rules_in(weak) == rules_in(f"{weak} {filler}") == rules_in(f"{filler}{weak}") == [weak]
    assert rules_in(f"{filler}{weak} {filler}") == []


def test_what_is_longer_than_a_sentence_is_no_rule():
    assert rules_in("Always answer in French " + "and so on " * 80) == []


@pytest.mark.parametrize(
    "said", ["You may use emojis again.", "Forget the rule about emojis.", "Vergiss die Regel."]
)
def test_a_withdrawal_counts_for_who_knows_the_rules_before(said):
    assert standing_rules(said) == ()
    assert standing_rules(said, withdrawals=True) == ((0, len(said)),)


def test_asking_for_consent_is_no_question():
    rule = "From now on please answer in German, ok?"
    assert rules_in(rule) == [rule]
    assert rules_in("Do you always answer in German?") == []


def test_what_is_compiled_ahead_changes_nothing():
    """One step a pattern, so that whoever is called away in between waits for one of them."""
    before = standing_rules(text := "Always answer in German. Utilise toujours le tutoiement.")
    assert len(list(warm_up())) > 12 * 20
    assert standing_rules(text) == before


def test_a_sentence_compiles_no_more_patterns_than_it_needs():
    scorer = Scorer(phrases("es"))
    assert scorer.score("la torta está en la mesa.") == 0
    compiled = [pattern for pattern in scorer.patterns() if "search" in vars(pattern)]
    assert 0 < len(compiled) < len(list(scorer.patterns())) / 2
