"""Polish, Russian and Ukrainian."""

from __future__ import annotations

from memtree.text.rule_score import Phrases

_PL_MANNERS = (
    "odpowiadaj|odpowiadać|odpowiedz|używaj|używać|stosuj|stosować|pisz|pisać|mów|mówić|"
    "trzymaj|zachowaj|zachowuj|podawaj|podawać|cytuj|wymieniaj|zwracaj|formatuj|nazywaj|"
    "ograniczaj|ogranicz|zaczynaj|kończ|bądź|przestrzegaj|traktuj|"
    "zostaw|zostawiaj|rób|umieszczaj|preferuj|wyrażaj|korzystaj|oznaczaj|trzymaj"
)
_PL_TASKS = (
    "dodawaj|dodawać|dodaj|dawaj|podaj|wyjaśniaj|wyjaśnij|pokazuj|pokaż|sprawdzaj|sprawdź|"
    "pytaj|pytać|zapytaj|ostrzegaj|proponuj|dołączaj|uruchamiaj|uruchom|testuj|twórz|"
    "tłumacz|streszczaj|zmieniaj|usuwaj|usuń|commituj|pushuj|przypominaj|potwierdzaj|"
    "mów|powiedz|porównuj|dotykaj|ruszaj|modyfikuj|edytuj|poprawiaj|informuj|wypisuj|zgłaszaj"
)
POLISH = Phrases(
    first=(
        f"{_PL_MANNERS}|{_PL_TASKS}|nie|nigdy|zawsze|wszystkie|wszystko|każdy|każda|każde|"
        "musisz|masz|powinieneś|chcę|chciałbym|chciałabym|wolę|żadnych|żadne|bez|unikaj|"
        "od|odtąd|tylko|kiedy|gdy|przed|po|tutaj|tu|zasada|w|mów|proszę|przestań|zakaz|"
        "jeśli|prosze"
    ),
    anywhere="zawsze nigdy odtąd muszą musi teraz przyszłości powinny domyślnie zabronione",
    lead=(
        r"(?:(?:i|a|ale|też|więc|ok|dobrze|tak|proszę|dzięki|cześć|hej|ważne|uwaga|pamiętaj|"
        r"zapamiętaj|nie zapomnij(?= ?:)|jeszcze jedno|przy okazji)\b[\s,:!.–-]*+){1,4}+"
    ),
    standing=(
        r"\bzawsze\b|\bnigdy\b|\bod (?:teraz|tej pory|dziś|dzisiaj|tego momentu)\b|\bodtąd\b|"
        r"\bna przyszłość\b|\bw przyszłości\b|\bdomyślnie\b|\bpod żadnym pozorem\b|\bw "
        r"żadnym (?:wypadku|razie)\b|\bza każdym razem\b|\bbez (?:pytania|mojej zgody|"
        r"wyjątku)\b|\bchyba że (?:ja|o to|poproszę)\b|\bwyłącznie\b"
    ),
    frame=(
        r"\b(?:kiedy|gdy|ilekroć|zawsze gdy|jak) (?:\w+ )?(?:piszesz|odpowiadasz|proponujesz|"
        r"zmieniasz|tworzysz|dodajesz|pytam|proszę|mówię|piszę|wyjaśniasz|kończysz|programujesz|"
        r"pokazujesz|generujesz|podajesz|kodujesz|sugerujesz|modyfikujesz|zapytam|poproszę)\b|"
        r"^(?:przed|po) (?:każdym|każdą|każdej)\b|\bjeśli (?:nie wiesz|nie masz pewności|"
        r"masz wątpliwości)\b|\bna odpowiedź\b|\bw razie wątpliwości\b"
    ),
    scope=(
        r"\bw (?:tym|naszym|całym|tej) (?:projekcie|repozytorium|repo|kodzie|czacie|rozmowie|"
        r"bazie kodu)\b|\bdla tego projektu\b|\btutaj\b|\bwszędzie\b|\bw projekcie\b|"
        r"\bw kodzie\b"
    ),
    order=(
        rf"{{start}}(?:(?:zawsze|nigdy|tylko|proszę|od teraz|odtąd|w tym projekcie|wyłącznie) "
        rf"?,? ?)*+(?:nie )?(?:{_PL_MANNERS})\b"
    ),
    task=(
        rf"{{start}}(?:(?:zawsze|nigdy|tylko|proszę|od teraz|odtąd|w tym projekcie|nie|"
        rf"mnie) ?,? ?)*+(?:{_PL_TASKS})\b"
    ),
    duty=(
        r"\b(?:musisz|powinieneś|powinnaś|masz (?:zawsze|obowiązek)|proszę,? (?:zawsze|"
        r"abyś|żebyś))\b"
    ),
    forbid=(
        r"{start}(?:proszę,? )?nie (?!martw|zapomnij|przejmuj)(?:\w+j|\w+sz|mów|pisz|"
        r"rób|twórz|kończ|tłumacz)\b|\bnigdy nie (?:\w+j|pisz|mów|rób|twórz)\b|\bnie "
        r"(?:wolno|możesz|powinieneś|należy)\b|{start}(?:unikaj|przestań)\b|^(?:żadnych|"
        r"żadnego|żadnej|bez|zero) \w+|\b(?:zakaz|zabronione|zakazane)\b"
    ),
    wish=(
        r"\b(?:chcę|chciałbym|chciałabym|wolę|wolałbym|życzę sobie|oczekuję)(?:,? (?:że|"
        r"ż|a)by\w*|,| )"
    ),
    norm=(
        r"^(?!on|ona|ono|ja|my|oni|funkcja|trzeba)[\w' /-]{3,60}?\b(?:muszą|musi|powinny|"
        r"powinien|powinna|powinno|mają być|ma być)\b"
    ),
    habit=(
        r"\b(?:tutaj |tu |zawsze |nigdy nie |nie )*(?:używamy|stosujemy|piszemy|wcinamy|"
        r"nazywamy|wdrażamy|commitujemy|korzystamy)\b"
    ),
    style=(
        r"\b(?:twoje|twoich|swoich|swoje|wszystkie|każdą|każda|każdej|moje) (?:\w+ )?(?:odpowiedz"
        r"i\w*|odpowiedź|wyjaśnieni\w+|wiadomości\w*|teksty|tekstach|zdania|komentarze|"
        r"podsumowania|sugestie)\b|\b(?:w|na) (?:odpowiedziach|odpowiedzi|wyjaśnieniach|"
        r"tekstach|wiadomościach)\b"
        r"|\b(?:żargon\w*|fachow\w+|anglicyzm\w+|wypunktowan\w+|wykrzyknik\w+|średnik\w*|"
        r"tabulator\w*|spacj\w+|wielki\w* liter\w*|cudzysł\w+|komentarz\w*|nagłówk\w+|"
        r"tabel\w*|dat[yę]?|ceny|jednostk\w+|metryczn\w+|spoiler\w*|ton\w*|żart\w+|przepros\w*|"
        r"skrót\w+|źródł\w+|nazw\w* (?:zmiennych|plików|funkcji)|strony biernej|przekleńst\w+|"
        r"roli|na ty|na pan\w*)\b"
        r"|\b(?:mniej niż|poniżej|najwyżej|maksymalnie|nie więcej niż|do|w|krótsze niż) "
        r"(?:\d+|jednym|jedno|dwóch|trzech|pięciu|stu) (?:słów|słowa|zdań|zdania|zdaniu|"
        r"linii|znaków|akapitów)\b|\b(?:odpowiad|pisz|mów)\w* (?:\w+ ){0,3}?po (?:polsku|"
        r"angielsku|niemiecku|francusku|hiszpańsku|włosku|rosyjsku|ukraińsku|czesku)\b"
        r"|\b(?:odpowiad|pisz|mów|wyjaśni)\w* (?:\w+ ){0,2}?(?:krótko|zwięźle|prosto|"
        r"uprzejmie|formalnie|wierszem|w punktach|jak (?:do|dla|gdyby))"
    ),
    work=(
        r"\b(?:plik\w*|folder\w*|katalog\w*|funkcj\w+|klas\w*|gałę\w+|zależności\w*|bibliote\w+|"
        r"pakiet\w*|zmienn\w+|baz\w* danych|migracj\w+|polece\w+|moduł\w*|komponent\w*|"
        r"zapytań|schemat\w*|przepis\w*|link\w*|commity)\b"
    ),
    every=r"^(?:wszystkie|wszystko|każd\w+|tylko)\b|\b(?:tylko|wyłącznie|jedynie)\b",
    contrast=r"\bzamiast\b|, (?:nie|a nie|nigdy) \w+|\bi nie\b",
    tell=(
        r"{start}nie (?:proponuj|polecaj|sugeruj|wspominaj|używaj|dodawaj|powtarzaj|wymyślaj|"
        r"streszczaj|zdradzaj|pisz|wyjaśniaj|zaczynaj|kończ|przepraszaj|stosuj|zakładaj)\b(?! "
        r"(?:tego|tej|tych|jeszcze)\b)"
    ),
    fixed=(
        r"^(?:bądź) (?:zawsze |bardziej )?(?:zwięzł\w+|krótk\w+|bezpośredni\w*|uprzejm\w+|"
        r"formaln\w+|konkretn\w+)\b|\bzwracaj się do mnie\b|\b(?:mów|mówcie) (?:do mnie|"
        r"mi) (?!jutro|kiedy|o |więcej|prawdę|to)\w|^nazywaj mnie\b|\b(?:pytaj|zapytaj|"
        r"ostrzegaj|konsultuj)\b.{0,20}\b(?:przed|zanim)\b|^zasada(?: \d+)?: \w|^odpowiadaj "
        r"(?:zawsze )?(?:krótko|zwięźle)\b|\bpozosta\w+ w roli\b|\bnie (?:mów|działaj|"
        r"decyduj) za\b"
    ),
    nearly=r"^(?:trzymaj się|ogranicz się|przestrzegaj) ",
    polite=(
        r"\b(?:czy )?(?:możesz|mógłbyś|mogłabyś) (?:\w+ )?(?:zawsze|przestać|od teraz|"
        r"unikać|nigdy)\b"
    ),
    definite=r"{start}\w+ (?:tego|tę|tej|ten|te|to|mój|moją)\b(?! projek)",
    once=(
        r"\b(?:tym razem|na razie|teraz (?!odp|zawsze|pisz|uż|nie)|dzisiaj (?!zaw)|jutro|"
        r"wieczorem|drug\w+|trzeci\w*|jeszcze raz|ponownie|poniższ\w+|powyższ\w+|następn\w+|"
        r"poprzedni\w+|pierwsze pytanie|poniedziałk\w*|wtor\w+|czwart\w+|piąt\w+)\b"
    ),
    against=(
        r"^(?:ja|on|ona|oni|my|mój|moja|moje|jego|jej|nasz|ten|ta|to|nikt)\b(?: \w+){0,4}? "
        r"(?:zawsze|nigdy)\b|\b(?:zawsze|nigdy nie) \w+(?:łem|łam|ł|ła|li|liśmy)\b|^(?:mam|"
        r"jestem|byłem|byłam|pracuję|muszę|myślę)\b|\b(?:nadziei|nadzieję|poddawaj|marze\w+|"
        r"serc\w+|martw|zapomnij)\b|\b(?:powiedział\w*|mówi|mówił\w*|napisał\w*)\b|\bod "
        r"(?:poniedziałku|jutra|wtorku)\b|\bnie należy\b"
    ),
    asks=r"^(?:dlaczego|czemu|jak|co|kiedy \w+sz\?|kto|czy)\b(?! .*, zawsze)",
)

_RU_MANNERS = (
    "отвечай|отвечайте|ответь|отвечать|используй|используйте|использовать|пиши|пишите|"
    "писать|говори|говорите|держи|держите|указывай|указывайте|указывать|цитируй|упоминай|"
    "обращайся|обращайтесь|называй|называйте|форматируй|ограничивай|ограничься|ограничивайся|"
    "начинай|заканчивай|"
    "будь|будьте|соблюдай|соблюдайте|следуй|следуйте|относись|оставляй|оставайся|делай|"
    "делайте|ставь|применяй|применяйте|предпочитай|помещай|клади|придерживайся|выражайся|"
    "именуй|избегай"
)
_RU_TASKS = (
    "добавляй|добавляйте|добавлять|добавь|давай|приводи|объясняй|объясняйте|показывай|"
    "показывайте|покажи|проверяй|проверяйте|проверь|спрашивай|спрашивайте|спроси|предупреждай|"
    "предупреждайте|предлагай|включай|запускай|запусти|тестируй|создавай|переводи|меняй|"
    "изменяй|удаляй|коммить|пушь|"
    "напоминай|подтверждай|сообщай|скажи|сравнивай|трогай|трогайте|редактируй|исправляй|"
    "перечисляй|давай|рассказывай|советуй|сохраняй"
)
RUSSIAN = Phrases(
    first=(
        f"{_RU_MANNERS}|{_RU_TASKS}|не|никогда|всегда|все|всё|каждый|каждая|каждое|ты|"
        "вы|я|хочу|никаких|без|избегайте|отныне|впредь|с|только|когда|перед|после|здесь|"
        "тут|правило|в|зови|пожалуйста|перестань|прекрати|запрещено|если|прошу|мы|нельзя|"
        "любой|любые|кратко"
    ),
    anywhere="всегда никогда отныне впредь должны должен должна нельзя запрещено умолчанию",
    lead=(
        r"(?:(?:и|а|но|также|так|ок|хорошо|ладно|да|пожалуйста|спасибо|привет|важно|внимание|"
        r"запомни|помни|учти|имей в виду|кстати|ещё|и ещё)\b[\s,:!.–—-]*+){1,4}+"
    ),
    standing=(
        r"\bвсегда\b|\bникогда\b|\bотныне\b|\bвпредь\b|\bс (?:этого момента|этой минуты|"
        r"сегодняшнего дня)\b|\bна будущее\b|\bв дальнейшем\b|\bв будущем\b|\bпо умолчанию\b|"
        r"\bни (?:в коем случае|при каких)\b|\bкаждый раз\b|\bбез (?:спроса|моего разрешения|"
        r"исключени\w)\b|\bвезде и всегда\b|\bкак правило\b|\bисключительно\b|\bтеперь\b|"
        r"\bпостоянно\b"
    ),
    frame=(
        r"\b(?:когда|всякий раз,? когда|каждый раз,? когда|если) (?:ты |я |вы )?(?:пишешь|"
        r"отвечаешь|предлагаешь|меняешь|создаёшь|добавляешь|спрашиваю|прошу|говорю|объясняешь|"
        r"заканчиваешь|показываешь|спрошу|попрошу|даёшь|генерируешь|не уверен|не знаешь|"
        r"сомневаешься|пишете|отвечаете)\b|^(?:перед|после) (?:каждым|каждой|каждого|"
        r"любым)\b|\bв одном ответе\b|\bв случае сомнений\b"
    ),
    scope=(
        r"\bв (?:этом|нашем|данном|этой|всём) (?:проекте|репозитории|коде|чате|беседе|"
        r"разговоре|кодовой базе)\b|\bдля этого проекта\b|\bздесь\b|\bу нас\b|\bвезде\b|"
        r"\bв проекте\b|\bв коде\b"
    ),
    order=(
        rf"{{start}}(?:(?:всегда|никогда|только|пожалуйста|отныне|впредь|с этого момента|"
        rf"теперь|в этом проекте|в дальнейшем|прошу|ты|мне) ?,? ?)*+(?:не )?(?:{_RU_MANNERS})\b"
    ),
    task=(
        rf"{{start}}(?:(?:всегда|никогда|только|пожалуйста|отныне|впредь|с этого момента|"
        rf"теперь|в этом проекте|в дальнейшем|не|мне|меня) ?,? ?)*+(?:{_RU_TASKS})\b"
    ),
    duty=(
        r"\b(?:ты|вы) (?:должен|должна|должны|обязан\w*)\b|\b(?:тебе|вам) (?:следует|"
        r"надо|нужно)\b|\bпрошу (?:тебя|вас|всегда)\b"
    ),
    forbid=(
        r"{start}(?:пожалуйста,? |никогда )?не (?!волну|забудь|забывай|пережива|беспоко)(?:\w+й|"
        r"\w+йте|\w+йся|\w+ь|\w+ьте|пиши|говори|пишите|клади|трогай)\b|\bникогда не \w+(?:й|"
        r"йте|ь|и)\b|\b(?:нельзя|запрещено|запрещается|воспрещается)\b|{start}(?:избегай|"
        r"избегайте|перестань|прекрати|хватит)\b|^(?:никаких|без|ноль) \w+"
    ),
    wish=(
        r"\b(?:хочу|хотел бы|хотела бы|хотелось бы|предпочитаю|желаю)(?: видеть)?,? (?:чтобы|"
        r"твои|ваши|только|коротк|краткие|без)"
    ),
    norm=r"^(?!он|она|оно|я|мы|они|функция)[\w' /-]{3,60}?\b(?:должны|должен|должна|должно)\b",
    habit=(
        r"\b(?:мы|здесь|тут|у нас)\b.{0,30}\b(?:используем|пишем|применяем|называем|коммитим|"
        r"деплоим|отступаем|ставим)\b"
    ),
    style=(
        r"\b(?:твои|твоих|своих|свои|ваши|все|каждый|мои) (?:\w+ )?(?:ответ\w*|объяснени\w+|"
        r"сообщени\w+|текст\w*|предложения|комментарии)\b|\b(?:в|на) (?:ответах|ответе|"
        r"объяснениях|текстах|сообщениях)\b|\bответ(?:ы|ов)\b"
        r"|\b(?:эмодзи|смайл\w*|жаргон\w*|терминолог\w+|термин\w+|англицизм\w+|маркированн\w+|"
        r"восклицательн\w+|точ\w+ с запятой|табуляци\w+|таб[ыов]+|пробел\w*|заглавн\w+|"
        r"кавычк\w*|комментари\w+|заголовк\w+|таблиц\w*|дат[ыуа]|цены|единиц\w+|метрическ\w+|"
        r"спойлер\w*|тон\w*|шут\w+|извинени\w+|сокращени\w+|источник\w*|имена (?:переменных|"
        r"файлов|функций)|мат|ругательств\w+|рол[иь]|образ[еа]?|на ты|на вы|по имени|"
        r"маркдаун)\b"
        r"|\b(?:меньше|не длиннее|не более|не больше|короче|до|максимум|в|одним|в пределах) "
        r"(?:\d+|одно|одном|два|двух|три|трёх|пять|пяти|десяти|ста)? ?(?:слов\w*|предложени\w+|"
        r"строк\w*|символов|абзац\w*)\b|\b(?:отвеча|пиш|говор|писать)\w* (?:[\w-]+ ){0,3}?(?:по-("
        r"?:русски|английски|немецки|французски|испански|украински|китайски)|на (?:русском|"
        r"английском|немецком|французском|украинском))\b"
        r"|\b(?:отвеча|пиш|говор|объясня)\w* (?:[\w-]+ ){0,2}?(?:кратко|коротко|просто|"
        r"вежливо|подробно|официально|стихами|как (?:для|с|будто))"
    ),
    work=(
        r"\b(?:файл\w*|папк\w*|каталог\w*|директори\w+|функци\w+|класс\w*|ветк\w+|зависимост\w+|"
        r"библиотек\w*|пакет\w*|переменн\w+|баз\w* данных|миграци\w+|команд\w*|тест\w*|"
        r"модул\w+|компонент\w*|запрос\w*|схем\w*|коммит\w*|рецепт\w*|ссылк\w*|код\w*|"
        r"утвержден\w+)\b"
    ),
    every=r"^(?:все|всё|кажд\w+|только|люб\w+)\b|\b(?:только|исключительно|лишь)\b|\bкаждого\b",
    contrast=r"\bвместо\b|, (?:а не|не|никогда) \w+|\bи не\b",
    tell=(
        r"{start}не (?:предлагай|рекомендуй|советуй|упоминай|используй|добавляй|повторяй|"
        r"выдумывай|придумывай|пересказывай|раскрывай|пиши|объясняй|начинай|заканчивай|"
        r"извиняйся|применяй|используйте|пишите|предлагайте)\b(?! (?:этот|эту|это|эти|"
        r"пока|ещё)\b)"
    ),
    fixed=(
        r"^(?:будь|будьте) (?:всегда |более |по)?(?:кратк\w+|лаконичн\w+|прям\w+|вежлив\w+|"
        r"формальн\w+|конкретн\w+|кратк\w+)\b|\bобраща(?:йся|йтесь) ко мне\b|^(?:зови|"
        r"называй|зовите|называйте) меня (?!завтра|когда|если|на)[\w]|\b(?:спрашивай|"
        r"спроси|предупреждай|согласовывай|спрашивайте)\b.{0,20}\b(?:перед|прежде|до "
        r"того)\b|^правило(?: \d+)?: \w|^(?:всегда )?отвечай(?:те)? (?:всегда )?(?:кратко|"
        r"коротко|лаконично)\b|\bоставайся в (?:роли|образе)\b|\bне (?:говори|действуй|"
        r"решай) за\b"
    ),
    nearly=r"^(?:придерживайся|придерживайтесь|ограничивайся|соблюдай|соблюдайте) ",
    polite=(
        r"\b(?:можешь|мог бы|могла бы|можете|могли бы) (?:ты )?(?:всегда|перестать|впредь|"
        r"больше не|никогда не)\b"
    ),
    definite=r"{start}\w+ (?:этот|эту|это|эти|мой|мою|мне этот)\b(?! проект)",
    once=(
        r"\b(?:на этот раз|в этот раз|пока|сейчас|сегодня|завтра|вечером|втор\w+|треть\w+|"
        r"ещё раз|снова|ниже|выше|следующ\w+|предыдущ\w+|первый вопрос|понедельник\w*|"
        r"вторник\w*|сред[уы]|четверг\w*|пятниц\w*|суббот\w*)\b"
    ),
    against=(
        r"^(?:я|он|она|оно|они|мы|мой|моя|моё|мои|его|её|наш|этот|эта|это|никто)\b(?! "
        r"хочу| предпочитаю| хотел)(?: [\w-]+){0,4}? (?:всегда|никогда)\b|\b(?:всегда|"
        r"никогда не) \w+(?:л|ла|ли|ло|лся|лась)\b|^(?:я (?:работаю|был|была|иду|буду|"
        r"думаю)|мне (?:кажется|нравится)|мы были)\b|\b(?:надежд\w*|сдавайся|мечт\w+|"
        r"сердц\w+|волнуйся|забудь|забывай)\b(?! про| об)"
        r"|\b(?:сказал\w*|говорит|говорил\w*|написал\w*)\b|\bс (?:понедельника|завтрашнего|"
        r"вторника)\b"
    ),
    asks=r"^(?:почему|зачем|как|что|когда ты \w+\?|кто|где)\b(?! .*, всегда)",
)

_UK_MANNERS = (
    "відповідай|відповідайте|використовуй|використовуйте|пиши|пишіть|говори|тримай|вказуй|"
    "вказуйте|цитуй|згадуй|звертайся|називай|форматуй|обмежуйся|починай|закінчуй|будь|"
    "будьте|дотримуйся|дотримуйтесь|став|лишай|роби|віддавай|застосовуй|уникай"
)
_UK_TASKS = (
    "додавай|додавайте|додай|давай|пояснюй|показуй|перевіряй|питай|питайте|запитуй|попереджай|"
    "пропонуй|запускай|тестуй|створюй|перекладай|змінюй|видаляй|коміть|пуш|нагадуй|підтверджуй|"
    "чіпай|редагуй|виправляй|перелічуй"
)
UKRAINIAN = Phrases(
    first=(
        f"{_UK_MANNERS}|{_UK_TASKS}|не|ніколи|завжди|усі|всі|кожен|кожна|кожне|ти|ви|я|хочу|"
        "жодних|без|уникайте|відтепер|надалі|тільки|лише|коли|перед|після|тут|правило|у|в|зви|"
        "клич|будь|перестань|заборонено|якщо|прошу|ми|з"
    ),
    anywhere="завжди ніколи відтепер надалі мають повинні має замовчуванням заборонено",
    lead=(
        r"(?:(?:і|й|а|але|також|так|ок|добре|гаразд|будь ласка|дякую|привіт|важливо|увага|"
        r"запам'ятай|пам'ятай|май на увазі)\b[\s,:!.–—-]*+){1,4}+"
    ),
    standing=(
        r"\bзавжди\b|\bніколи\b|\bвідтепер\b|\bнадалі\b|\bз (?:цього моменту|сьогодні)\b|"
        r"\bна майбутнє\b|\bза замовчуванням\b|\bні в якому разі\b|\bза жодних\b|\bщоразу\b|"
        r"\bкожного разу\b|\bбез (?:мого дозволу|винятк\w+)\b|\bвиключно\b"
    ),
    frame=(
        r"\b(?:коли|щоразу,? коли|якщо) (?:ти |я )?(?:пишеш|відповідаєш|пропонуєш|змінюєш|"
        r"створюєш|додаєш|питаю|прошу|пояснюєш|не впевнений|не знаєш)\b|^(?:перед|після) "
        r"(?:кожним|кожної|кожною|кожного)\b"
    ),
    scope=(
        r"\b(?:у|в) (?:цьому|нашому|цій) (?:проєкті|проекті|репозиторії|коді|чаті|розмові)\b|"
        r"\bтут\b|\bусюди\b|\bв проєкті\b"
    ),
    order=(
        rf"{{start}}(?:(?:завжди|ніколи|тільки|лише|будь ласка|відтепер|надалі|у цьому "
        rf"проєкті) ?,? ?)*+(?:не )?(?:{_UK_MANNERS})\b"
    ),
    task=(
        rf"{{start}}(?:(?:завжди|ніколи|тільки|лише|будь ласка|відтепер|надалі|у цьому "
        rf"проєкті|не) ?,? ?)*+(?:{_UK_TASKS})\b"
    ),
    duty=r"\b(?:ти|ви) (?:повин\w+|маєш|маєте|мусиш)\b",
    forbid=(
        r"{start}(?:будь ласка,? |ніколи )?не (?!хвилюй|забудь)(?:\w+й|\w+йте|\w+йся|"
        r"\w+ь|пиши|говори|роби)\b|\bніколи не \w+(?:й|йте|ь|и)\b|\b(?:не можна|заборонено)\b|"
        r"{start}(?:уникай|уникайте|перестань|припини)\b|^(?:жодних|без|ніяких) \w+"
    ),
    wish=r"\b(?:хочу|хотів би|хотіла б|бажаю|волію)(?: бачити)?,? (?:щоб|твої|ваші|тільки)",
    norm=(
        r"^(?!він|вона|воно|я|ми|вони|функція)[\w' /-]{3,60}?\b(?:мають|має|повинні|повинен|"
        r"повинна)\b"
    ),
    habit=(
        r"\b(?:ми|тут|у нас)\b.{0,30}\b(?:використовуємо|пишемо|застосовуємо|називаємо|"
        r"комітимо)\b"
    ),
    style=(
        r"\b(?:твої|твоїх|своїх|ваші|усі|кожна) (?:\w+ )?(?:відповіді|відповідь|пояснення|"
        r"повідомлення|тексти|речення|коментарі)\b|\b(?:у|в) (?:відповідях|відповіді|"
        r"поясненнях|текстах)\b|\b(?:емодзі|смайл\w*|жаргон\w*|термін\w+|окличн\w+|крап\w+ "
        r"з комою|табуляці\w+|пробіл\w*|лапк\w+|коментар\w+|заголовк\w+|таблиц\w*|дат[иу]|"
        r"ціни|одиниц\w+|спойлер\w*|жарт\w+|скорочен\w+|джерел\w+|на ти|на ви)\b"
        r"|\b(?:менше|не довші за|не більше|коротші за|коротше|до) (?:\d+|одного|двох|"
        r"трьох) (?:слів|речен\w+|рядків|символів)\b|\bвідповіда\w* (?:\w+ ){0,2}?(?:українською|"
        r"англійською|російською|польською|німецькою|коротко|стисло|просто|ввічливо)\b|"
        r"\bпиши (?:\w+ )?(?:українською|англійською)\b"
    ),
    work=(
        r"\b(?:файл\w*|папк\w*|теку|функці\w+|клас\w*|гілк\w+|залежност\w+|бібліотек\w*|"
        r"пакет\w*|змінн\w+|баз\w* даних|міграці\w+|команд\w*|тест\w*|модул\w+|коміт\w*|"
        r"посиланн\w*|код\w*)\b"
    ),
    every=r"^(?:усі|всі|кож\w+|тільки|лише)\b|\b(?:тільки|виключно|лише)\b",
    contrast=r"\bзамість\b|, (?:а не|не|ніколи) \w+",
    tell=(
        r"{start}не (?:пропонуй|рекомендуй|радь|згадуй|використовуй|додавай|повторюй|"
        r"вигадуй|пиши|пояснюй|починай|закінчуй|вибачайся|застосовуй)\b(?! (?:цей|цю|"
        r"це|ці|поки|ще)\b)"
    ),
    fixed=(
        r"^(?:будь) (?:завжди )?(?:стисл\w+|коротк\w+|лаконічн\w+|ввічлив\w+)\b|\bзвертайся "
        r"до мене\b|^(?:зви|називай|клич) мене (?!завтра|коли|якщо)\w|\b(?:питай|запитуй|"
        r"попереджай)\b.{0,20}\b(?:перед|перш|до того)\b|^правило(?: \d+)?: \w|^(?:завжди "
        r")?відповідай(?:те)? (?:завжди )?(?:коротко|стисло|лаконічно)\b"
    ),
    nearly=r"^(?:дотримуйся|дотримуйтесь|обмежуйся) ",
    polite=r"\b(?:можеш|міг би|могла б|можете) (?:ти )?(?:завжди|перестати|надалі|більше не)\b",
    definite=r"{start}\w+ (?:цей|цю|це|ці|мій|мою)\b",
    once=(
        r"\b(?:цього разу|поки що|зараз|сьогодні|завтра|друг\w+|трет\w+|ще раз|знову|"
        r"нижче|вище|наступн\w+|попередн\w+|понеділ\w+|вівтор\w+)\b"
    ),
    against=(
        r"^(?:я|він|вона|воно|вони|ми|мій|моя|моє|його|її|наш|цей|ця|це|ніхто)\b(?! хочу)(?: "
        r"[\w'-]+){0,4}? (?:завжди|ніколи)\b|\b(?:завжди|ніколи не) \w+(?:в|ла|ли|ло)\b|"
        r"\b(?:надії|надію|здавайся|мрії|серц\w+|хвилюйся|забудь)\b|\b(?:сказа\w+|каже|"
        r"написа\w+)\b|\bз (?:понеділка|завтра)\b"
    ),
    asks=r"^(?:чому|навіщо|як|що|хто|де)\b",
)
