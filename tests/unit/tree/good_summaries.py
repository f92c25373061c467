"""Small texts and good summaries of them, each with how it can be spoiled: for the checks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memtree.tree.summary_prompts import SourcePiece, Task, leaf_task
from memtree.tree.summary_replies import Draft


@dataclass(frozen=True)
class Good:
    """`spoiled` maps a name of a problem to (from, to): the draft with this change must fail."""

    task: Task
    draft: Draft
    spoiled: dict[str, tuple[str, str]]


def _good(text, headline, body, **spoiled):
    sources = []
    for number, line in enumerate(text.strip().splitlines()):
        role, _, said = line.partition(": ")
        kind = {"call": "call", "result": "result"}.get(role, "text")
        role = {"call": "assistant", "result": "tool"}.get(role, role)
        sources.append(SourcePiece(role, number, said, kind))
    return Good(leaf_task("1", sources), Draft(headline, body), spoiled)


GOOD = [
    _good(
        """user: The import in src/load.py fails with KeyError: 'id' since Monday. Please fix it.
call: read_file src/load.py
assistant: The header row is skipped, so the column is missing. I changed skip=1 to skip=0.
result: 14 passed in 2.1s""",
        "KeyError in src/load.py fixed: header row was skipped",
        "The user asked to fix KeyError: 'id' in src/load.py. The header row was skipped, so the "
        "assistant changed skip=1 to skip=0; 14 tests passed.",
        number=("14 tests", "41 tests"),
        anchor=("src/load.py", "src/loader.py"),
        speaker=("The user asked to fix", "The assistant said the import fails since Monday. Fix"),
    ),
    _good(
        """user: Do not use Redux in this project, I find it heavy. Use Zustand 4.5 for the cart.
assistant: Understood. I replaced the Redux slice in store/cart.ts with a Zustand store.""",
        "Cart store moved from Redux to Zustand 4.5",
        'The user said: "Do not use Redux in this project". The assistant replaced the Redux slice '
        "in store/cart.ts with a Zustand store.",
        negation=("Do not use Redux", "Use Redux"),
        number=("4.5", "5.4"),
        anchor=("store/cart.ts", "store/basket.ts"),
    ),
    _good(
        """user: My daughter Emma turns 7 on 12 June 2024. She does not eat peanuts.
assistant: Noted! How about a picnic at Lake Merritt with a carrot cake?""",
        "Emma's seventh birthday on 12 June 2024",
        "The user's daughter Emma turns 7 on 12 June 2024 and does not eat peanuts. The assistant "
        "proposed a picnic at Lake Merritt with a carrot cake.",
        negation=("does not eat", "likes to eat"),
        number=("12 June 2024. ", ""),
        anchor=("Lake Merritt", "Lake Tahoe"),
    ),
    _good(
        """user: We decided to stay on PostgreSQL 15 because the extension does not support 16.
assistant: Then I leave the Dockerfile as it is and pin postgres:15.8.""",
        "Stay on PostgreSQL 15, image pinned to 15.8",
        "The user decided to stay on PostgreSQL 15 because the extension does not support 16. "
        "The assistant pinned postgres:15.8 and left the Dockerfile.",
        negation=("does not support", "does support"),
        number=("15.8", "15.9"),
    ),
    _good(
        """user: Ich möchte keine Cookies auf der Seite haben, und das Banner muss weg.
assistant: Das Banner ist entfernt, die Statistik läuft jetzt ohne Cookies über GoAccess.""",
        "Cookie-Banner entfernt",
        "Der Nutzer möchte keine Cookies auf der Seite haben. Das Banner ist entfernt, die "
        "Statistik läuft jetzt ohne Cookies über GoAccess.",
        negation=("möchte keine Cookies auf der Seite haben", "möchte Cookies auf der Seite haben"),
        language=(
            "Der Nutzer möchte keine Cookies auf der Seite haben. Das Banner ist entfernt, die "
            "Statistik läuft jetzt ohne Cookies über GoAccess.",
            "Пользователь не хочет видеть файлы на сайте. Баннер удалён, статистика работает.",
        ),
    ),
    _good(
        """user: 我们下周三在上海开会，预算是3万元，不要订早上的航班。
assistant: 好的，我订了周二下午的航班，酒店每晚680元。""",
        "上海会议：已订周二下午航班",
        "用户下周三在上海开会，预算3万元，不要订早上的航班。助手订了周二下午的航班，酒店每晚680元。",
        number=("680", "860"),
        language=(
            "用户下周三在上海开会，预算3万元，不要订早上的航班。助手订了周二下午的航班，酒店每晚680元。",
            "The user meets next week in a city and set a budget. The assistant booked a flight.",
        ),
    ),
    _good(
        """user: The nightly backup took 3 hours instead of 40 minutes. Why?
call: bash du -sh /var/backups
result: 212G /var/backups
assistant: Compression was disabled in backup.conf, so 212 GB were written over the network.""",
        "Slow backup explained: compression was disabled",
        "The user asked why the backup took 3 hours instead of 40 minutes. Compression was "
        "disabled in backup.conf, so 212 GB were written over the network.",
        number=("212 GB", "121 GB"),
        anchor=("backup.conf", "backups.yaml"),
    ),
    _good(
        """user: In my story, Captain Mara loses her left arm in the siege of Velden.
assistant: "Hold the gate!" Mara cried, before the beam fell. Tobin dragged her to the cellar.""",
        "Mara loses her left arm in the siege of Velden",
        "In the siege of Velden Mara lost her left arm when a beam fell; Tobin dragged her to the "
        "cellar.",
        anchor=("Tobin", "Gregor"),
    ),
    _good(
        """user: From now on, always answer in metric units. How tall is the tower?
assistant: The Eiffel Tower is 330 metres tall.""",
        "Metric units from now on; Eiffel Tower is 330 m",
        'The user\'s rule: "From now on, always answer in metric units." Asked for the height of '
        "the tower, the assistant said that the Eiffel Tower is 330 metres tall.",
        number=("330 metres", "303 metres"),
    ),
    _good(
        """user: J'ai changé de poste en mars, je travaille maintenant chez Decathlon à Lille.
assistant: Félicitations ! Le trajet depuis Roubaix prend environ 25 minutes en métro.""",
        "Nouveau poste chez Decathlon à Lille",
        "L'utilisateur travaille depuis mars chez Decathlon à Lille. Le trajet depuis Roubaix "
        "prend environ 25 minutes en métro.",
        number=("25 minutes", "52 minutes"),
        anchor=("Roubaix prend", "Tourcoing prend"),
    ),
    _good(
        """user: Roll back the last commit, the login page is blank.
call: bash git revert a1b2c3d4
result: [main 9f8e7d6] Revert "Use new router"
assistant: Reverted a1b2c3d4. The login page works again, the router change is still open.""",
        "New router reverted, login page works again",
        "The user asked to roll back the last commit because the login page was blank. The "
        "assistant reverted a1b2c3d4 and the login page works; the router change is open.",
        anchor=("a1b2c3d4", "a1b2c3d5"),
    ),
    _good(
        """user: I prefer tea to coffee, and I never drink alcohol.
assistant: Then let us skip the wine tour and book the tea house in Kyoto for 14:30.""",
        "Tea house in Kyoto at 14:30 instead of wine tour",
        "The user prefers tea to coffee and never drinks alcohol. The assistant proposed the tea "
        "house in Kyoto for 14:30.",
        number=("for 14:30", "for 15:40"),
        anchor=("house in Kyoto for", "house in Osaka for"),
        speaker=("The user prefers tea to coffee", "The assistant prefers tea to coffee"),
    ),
    _good(
        """user: Why is test_parse_date flaky?
assistant: It compares with datetime.now() without a timezone. I froze the clock with freezegun.
result: 200 passed""",
        "Flaky test_parse_date fixed with a frozen clock",
        "The user asked why test_parse_date is flaky. It compared with datetime.now() without a "
        "timezone; the assistant froze the clock with freezegun, 200 passed.",
        number=("200 passed", "20 passed"),
        anchor=("test_parse_date is", "test_parse_time is"),
        negation=("without a timezone", "with a timezone"),
    ),
    _good(
        """user: Мы не будем переносить сервер в облако, это слишком дорого: 900 долларов в месяц.
assistant: Хорошо, тогда я настрою резервное копирование на локальный диск.""",
        "Сервер остаётся на месте: облако слишком дорого",
        "Пользователь: мы не будем переносить сервер в облако, это слишком дорого: 900 долларов в "
        "месяц. Ассистент настроит резервное копирование на локальный диск.",
        negation=("мы не будем переносить", "мы будем переносить"),
        number=("900", "90"),
    ),
    _good(
        """user: Set the timeout to 30 seconds and the retries to 5.
assistant: Done: timeout is 30 seconds, retries 5, in config/http.toml.""",
        "HTTP timeout 30 seconds and 5 retries set",
        "The user asked for a timeout of 30 seconds and 5 retries. The assistant set both in "
        "config/http.toml.",
        number=("30 seconds and 5 retries. ", "35 seconds and 5 retries. "),
        anchor=("config/http.toml", "config/https.toml"),
    ),
    _good(
        """user: The invoice from Hartmann & Co is wrong, they charged $1,250 and not $1,150.
assistant: I drafted an e-mail to accounting@hartmann.example asking for a credit of $100.""",
        "Hartmann invoice is $100 too high, e-mail drafted",
        "The user said that Hartmann & Co charged $1,250 and not $1,150. The assistant drafted an "
        "e-mail to accounting@hartmann.example asking for a credit of $100.",
        number=("$1,250", "$1,520"),
        anchor=("accounting@hartmann.example", "billing@hartmann.example"),
    ),
    _good(
        """user: Quiero cambiar el vuelo a Bogotá al 3 de mayo, no puedo viajar en abril.
assistant: El cambio cuesta 85 euros y el nuevo vuelo sale a las 07:15.""",
        "Vuelo a Bogotá cambiado al 3 de mayo",
        "El usuario no puede viajar en abril y quiere cambiar el vuelo a Bogotá al 3 de mayo. El "
        "cambio cuesta 85 euros y el nuevo vuelo sale a las 07:15.",
        number=("85 euros", "58 euros"),
    ),
    _good(
        """user: Does the cache survive a restart?
assistant: No, the cache does not survive a restart, it lives in memory only. RedisCache would.""",
        "Cache lives in memory and is lost at a restart",
        "The user asked about a restart. The assistant explained that the cache does not survive "
        "a restart, it lives in memory only; RedisCache would survive.",
        negation=("the cache does not survive a restart", "the cache does survive a restart"),
        anchor=("RedisCache", "MemcachedCache"),
    ),
    _good(
        """user: Add an index on orders(customer_id), the report takes 48 s.
assistant: CREATE INDEX idx_orders_customer brought the report down to 0.9 s.""",
        "Index on orders brought the report from 48 s to 0.9 s",
        "The user asked for an index on orders(customer_id) because the report took 48 s. The "
        "assistant created idx_orders_customer; the report takes 0.9 s.",
        number=("takes 0.9 s", "takes 0.6 s"),
        anchor=("idx_orders_customer", "idx_orders_date"),
    ),
    _good(
        """user: I have two dogs, Biscuit and Pepper, and I plan to move to Oregon in the fall.
assistant: Biscuit and Pepper will love the forests! Have you found a house yet?""",
        "Two dogs, move to Oregon planned for the fall",
        "The user has two dogs, Biscuit and Pepper, and plans to move to Oregon in the fall. The "
        "assistant asked about a house.",
        anchor=("Oregon in", "Montana in"),
        speaker=(
            "The user has two dogs, Biscuit and Pepper, and plans to move to Oregon",
            "The assistant has two dogs, Biscuit and Pepper, and plans to move to Oregon",
        ),
    ),
]
# Nothing is spoiled by taking out a repetition of the date: the headline has it.
del GOOD[2].spoiled["number"]


def _block(block):
    text, said = block.strip().replace("\n  ", " ").split("\n--\n")
    headline, *body = said.split("\n")
    return _good(text, headline, " ".join(body))


# Written freely: other words, other forms of numbers and dates, other languages. None of them may
# be refused, as every refusal costs a call. A block each: the text (indented lines go on), a line
# of dashes, headline, body.
BLOCKS = Path(__file__).with_suffix(".txt").read_text("utf-8")
GOOD += map(_block, BLOCKS.split("\n\n"))
