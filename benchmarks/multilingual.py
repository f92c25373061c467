# ruff: noqa: E501 - a message is one line
"""Conversations in German, Chinese, Japanese and Russian, with facts to be kept: invented.

The same scenes in each language, told again and again with other names and numbers, so that a tree
has a level above its leaves. The facts are said once.

    >>> sorted(LANGUAGES)
    ['chinese', 'german', 'japanese', 'russian']
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.facts import Fact
from memtree.history.message import Message

# role | text; {0}, {1} and {2} are filled in anew for each telling: name, place, number
_SCENES = {
    "german": """\
user|Kannst du mir helfen, die Sicherung der Datenbank umzustellen? Bisher läuft sie nachts um {2} Uhr und dauert zu lange.
assistant|Gerne. Ich schlage vor, zuerst nur die geänderten Tabellen zu sichern, weil das die Laufzeit ungefähr halbiert. Danach prüfen wir, ob sich das Ergebnis auf {1} wieder einspielen lässt.
user|Das hat nicht geklappt. Beim Einspielen auf {1} kam ein Fehler: die Tabelle der Rechnungen war gesperrt.
assistant|Der Fehler entsteht, weil ein zweiter Prozess die Tabelle offen hält. Ich habe den Ablauf so geändert, dass er vorher beendet wird. Jetzt läuft die Wiederherstellung in {2} Minuten durch.
user|Gestern war ich mit {0} auf dem Markt, und wir haben lange über den Umzug gesprochen. Sie möchte lieber auf dem Land wohnen, ich brauche aber die Bahn nach {1}.
assistant|Das klingt nach einer schwierigen Entscheidung. Vielleicht hilft es, die Fahrzeiten und die Mieten nebeneinander zu stellen. In {1} sind die Mieten im letzten Jahr um {2} Prozent gestiegen.
user|Wir haben uns jetzt für die kleine Wohnung entschieden, obwohl sie keinen Balkon hat. {0} hat den Vertrag schon unterschrieben.
assistant|Glückwunsch! Denkt daran, den alten Vertrag rechtzeitig zu kündigen und den Strom umzumelden. Für den Umzug würde ich einen Wagen mit {2} Kubikmetern nehmen.
""",
    "chinese": """\
user|你能帮我检查一下订单系统的备份吗？现在每天凌晨{2}点运行，时间太长了。
assistant|可以。我建议先只备份有变化的表，因为这样可以把时间缩短一半。然后我们在{1}的服务器上测试恢复。
user|恢复的时候出错了，{1}的服务器提示发票表被锁定，无法写入数据。
assistant|出错的原因是另一个进程没有关闭。我已经修改了流程，先结束那个进程再恢复数据。现在恢复只需要{2}分钟就能完成。
user|昨天我和{0}去了市场，我们谈了很久搬家的事情。她想住在乡下，可是我每天要坐火车去{1}上班。
assistant|这确实是一个不容易的决定。你们可以把通勤时间和房租放在一起比较。{1}的房租去年上涨了百分之{2}。
user|我们最后决定租那套小房子，虽然没有阳台。{0}已经签了合同，下个月就可以搬进去。
assistant|恭喜你们！别忘了提前通知原来的房东，并且办理电费的转移手续。搬家的时候可以租一辆{2}立方米的货车。
""",
    "japanese": """\
user|注文システムのバックアップを見直したいのですが、手伝ってもらえますか。今は毎朝{2}時に動いていて、時間がかかりすぎます。
assistant|もちろんです。まず変更されたテーブルだけを保存することを提案します。そうすれば時間が半分になるためです。その後、{1}のサーバーで復元を試しましょう。
user|復元の途中でエラーが出ました。{1}のサーバーで請求書のテーブルがロックされていると表示されました。
assistant|原因は別のプロセスが終了していなかったことです。先にそのプロセスを止めるように手順を修正しました。今では復元は{2}分で終わります。
user|昨日、{0}さんと市場に行って、引っ越しについて長く話しました。彼女は田舎に住みたいのですが、私は毎日{1}まで電車で通っています。
assistant|それは難しい決断ですね。通勤時間と家賃を並べて比べてみるとよいでしょう。{1}の家賃は去年{2}パーセント上がりました。
user|結局、小さい部屋を借りることに決めました。ベランダはありませんが、{0}さんがもう契約しました。
assistant|おめでとうございます。今の大家さんへの連絡と、電気の名義変更を忘れないでください。引っ越しには{2}立方メートルのトラックで足りると思います。
""",
    "russian": """\
user|Можешь помочь мне изменить резервное копирование базы? Сейчас оно запускается в {2} часов ночи и длится слишком долго.
assistant|Конечно. Я предлагаю сначала сохранять только изменённые таблицы, потому что это сокращает время вдвое. Затем проверим восстановление на сервере {1}.
user|Не получилось. При восстановлении на сервере {1} появилась ошибка: таблица счетов была заблокирована.
assistant|Ошибка возникает потому, что второй процесс держит таблицу открытой. Я исправил порядок действий, теперь процесс завершается заранее. Восстановление занимает {2} минут.
user|Вчера мы с подругой по имени {0} были на рынке и долго говорили о переезде. Она хочет жить в деревне, а мне нужна электричка до города {1}.
assistant|Это непростое решение. Попробуйте сравнить время в дороге и стоимость аренды. В городе {1} аренда за год подорожала на {2} процентов.
user|Мы решили снять маленькую квартиру, хотя в ней нет балкона. {0} уже подписала договор.
assistant|Поздравляю! Не забудьте заранее предупредить хозяина старой квартиры и переоформить электричество. Для переезда хватит машины на {2} кубометров.
""",
}
TELLINGS = 20
_NUMBERS = (3, 17, 24, 9, 31, 42, 12)
_NAMES = {
    "german": "Annegret,Friederike,Roswitha,Hannelore,Mechthild,Liselotte",
    "chinese": "林晓梅,赵丽华,孙佳琪,何雨桐,郑雅文,高淑芬",
    "japanese": "佐藤,高橋,中村,小林,渡辺,山口",
    "russian": "Зинаида,Маргарита,Клавдия,Раиса,Людмила,Антонина",
}
_PLACES = {
    "german": "Lüneburg,Passau,Kassel,Bremen,Jena",
    "chinese": "苏州,成都,青岛,昆明,长沙",
    "japanese": "横浜,仙台,金沢,長崎,札幌",
    "russian": "Тверь,Псков,Самара,Пермь,Тула",
}
# role | sentence | keys
_FACTS = {
    "german": """\
user|Das Zeitlimit der Warteschlange haben wir auf 85 Sekunden gesetzt.|85
assistant|Die Grenzwerte stehen in konfig/netz/grenzen.toml und sonst nirgends.|konfig/netz/grenzen.toml
user|Mein Patenkind heißt Korbinian und wohnt in Görlitz.|Patenkind,Korbinian,Görlitz
user|Den Ersatzschlüssel bewahre ich in der blauen Teekanne auf.|Ersatzschlüssel,Teekanne
user|Unser Chorkonzert ist am 6. Dezember 2026.|Chorkonzert,6. Dezember
user|Für den Webstuhl habe ich 1280 Euro bezahlt.|1280 Euro,Webstuhl
assistant|Der Sauerteig ist misslungen, weil das Mehl zu alt war.|Sauerteig,Mehl
user|Wir haben beschlossen, Kafka abzuschaffen, weil niemand es betreuen kann.|Kafka
assistant|Die Startzeit ist von 3,7 auf 0,84 Sekunden gesunken.|Startzeit,0,84
user|Tjark aus dem Zahlungsteam betreut jetzt den Rechnungsexport.|Tjark,Rechnungsexport
""",
    "chinese": """\
user|我们把网关的重试次数设为17次。|重试,17
assistant|限流规则写在deploy/edge/limits_zone.toml里。|deploy/edge/limits_zone.toml
user|我的教子叫石磊，住在哈尔滨。|石磊,哈尔滨
user|备用钥匙放在蓝色茶壶里。|钥匙,茶壶
user|我们的合唱音乐会在2026年12月6日举行。|音乐会,12月6日
user|我买那台织布机花了1280元。|织布机,1280
assistant|面团没有发起来，是因为酵母过期了。|面团,酵母
user|我们决定停用Kafka，因为没有人会维护。|Kafka
assistant|启动时间从3.7秒降到了0.84秒。|启动时间,0.84
user|支付团队的欧阳靖现在负责发票导出。|欧阳靖,发票导出
""",
    "japanese": """\
user|ゲートウェイの再試行回数は17回に設定しました。|再試行,17
assistant|制限の設定はdeploy/edge/limits_zone.tomlにあります。|deploy/edge/limits_zone.toml
user|私の甥は蒼介という名前で、函館に住んでいます。|蒼介,函館
user|予備の鍵は青い急須に入れてあります。|予備の鍵,急須
user|合唱の演奏会は2026年12月6日です。|演奏会,12月6日
user|織機に12800円を払いました。|織機,12800円
assistant|パン生地が膨らまなかったのは、酵母が古かったためです。|パン生地,酵母
user|誰も管理できないので、Kafkaをやめることに決めました。|Kafka
assistant|起動時間は3.7秒から0.84秒に短くなりました。|起動時間,0.84
user|決済チームの榊原さんが請求書の出力を担当しています。|榊原,請求書の出力
""",
    "russian": """\
user|Мы установили предел повторов шлюза на 17.|повторов,17
assistant|Ограничения описаны в файле deploy/edge/limits_zone.toml.|deploy/edge/limits_zone.toml
user|Моего крестника зовут Елисей, он живёт в Выборге.|Елисей,Выборге
user|Запасной ключ лежит в синем чайнике.|ключ,чайнике
user|Концерт нашего хора будет 6 декабря 2026 года.|Концерт,6 декабря
user|За ткацкий станок я заплатила 12800 рублей.|станок,12800
assistant|Тесто не поднялось, потому что дрожжи были старые.|Тесто,дрожжи
user|Мы решили отказаться от Kafka, потому что её некому поддерживать.|Kafka
assistant|Время запуска сократилось с 3,7 до 0,84 секунды.|запуска,0,84
user|Ярослав из команды платежей теперь отвечает за выгрузку счетов.|Ярослав,выгрузку счетов
""",
}


def messages(language: str) -> list[Message]:
    return [Message.of({"role": role, "content": text}) for role, text in _lines(language)]


def facts(language: str) -> tuple[Fact, ...]:
    rows = [line.split("|") for line in _FACTS[language].splitlines()]
    return tuple(
        Fact(language, language, role, sentence, _keys(keys)) for role, sentence, keys in rows
    )


def _keys(keys: str) -> tuple[str, ...]:
    """Apart by commas, but not by those of numbers."""
    return (
        tuple(keys.replace("0,84", "0.84").split(","))
        if "0,84" not in keys
        else (
            keys.split(",", maxsplit=1)[0],
            "0,84",
        )
    )


def _lines(language: str) -> Iterator[tuple[str, str]]:
    names, places = _NAMES[language].split(","), _PLACES[language].split(",")
    for telling in range(TELLINGS):
        filled = names[telling % 6], places[telling % 5], _NUMBERS[telling % 7]
        for line in _SCENES[language].splitlines():
            role, text = line.split("|")
            yield role, text.format(*filled)


LANGUAGES = tuple(_SCENES)
