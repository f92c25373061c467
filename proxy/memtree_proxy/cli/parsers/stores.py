"""Parsers of the commands for a store: `keys`, `tenants`, `store`, `check`, `report`, `doctor`."""

from __future__ import annotations

from memtree.memories.user_memories import PLANS
from memtree_proxy.cli.parsers.arguments import WHOSE_HELP, Actions, CommandGroups, add_settings

STORE = ("home", "store")
_VALUE = "use this value instead of a new one; several mean one tenant; - asks for it"
_PLAN = "free: no memories are made of conversations, or shown unasked (default: as it was, or pro)"


def add_keys(commands: CommandGroups) -> None:
    actions = Actions(
        commands.add("keys", "create, rotate, list and revoke access keys; their plans"),
        "memtree_proxy.cli.store.keys",
    )
    new = actions.add("create", "make a key and print it once", "create", STORE)
    new.add_argument("label")
    new.add_argument("--value", action="append", metavar="SECRET", help=_VALUE)
    new.add_argument("--plan", choices=PLANS, help=_PLAN)
    whose = new.add_mutually_exclusive_group()
    whose.add_argument(
        "--tenant", metavar="NAME", help="give it the memory of this key (id or label) or tenant"
    )
    whose.add_argument(
        "--keep-memory",
        action="store_true",
        help="give it the memory that the first --value collected while there were no keys",
    )
    add = actions.add("add-value", "one more value for a key: the same memory", "add_value", STORE)
    add.add_argument("key", metavar="ID|LABEL")
    add.add_argument("--value", action="append", metavar="SECRET", help=_VALUE)
    add.add_argument("--only", action="store_true", help="and let its other values in no more")
    less = "let one value of a key in no more"
    remove = actions.add("remove-value", less, "remove_value", STORE)
    remove.add_argument("key", metavar="ID|LABEL")
    remove.add_argument("--value", default="-", metavar="SECRET", help="the value (asked for)")
    actions.add("list", "labels, tenants and plans, never the keys", "show", STORE)
    plan = actions.add("plan", "set the plan of a key's tenant", "set_plan", STORE)
    plan.add_argument("key", metavar="ID|LABEL", help="or a tenant, or - for a credential")
    plan.add_argument("plan", choices=PLANS, help="free: no memories of conversations, unasked")
    gone = actions.add("revoke", "take a key back", "revoke", STORE)
    gone.add_argument("key", metavar="ID|LABEL")


def add_tenants(commands: CommandGroups) -> None:
    actions = Actions(
        commands.add("tenants", "whose memory is kept; move it to another credential"),
        "memtree_proxy.cli.store.tenants",
    )
    actions.add("list", "who has memory, how much, and which keys reach it", "show", STORE)
    move = actions.add("move", "let TO go on with the memory of FROM", "move", STORE)
    move.description = (
        "FROM and TO: a key (id or label), a tenant as `tenants list` shows it, or - for a "
        "credential that is asked for (read from standard input, FROM first). FROM itself begins "
        "anew. Memory is found by the tenant's name and what was said, so that of two tenants "
        "cannot be merged."
    )
    move.add_argument("source", metavar="FROM")
    move.add_argument("target", metavar="TO")
    move.add_argument("--share", action="store_true", help="let FROM go on with it, too")
    move.add_argument("--replace", action="store_true", help="forget first what TO has")


def add_store(commands: CommandGroups) -> None:
    sub = commands.add("store", "copy a store into another one")
    actions = Actions(sub, "memtree_proxy.cli.store.store_copy")
    what = "make TO what FROM is; a copy that was stopped goes on where it is run again"
    copy = actions.add("copy", what, "run")
    copy.description = (
        "Stores are named as by --store: sqlite:///PATH or postgresql://... TO may be empty or "
        "hold a part of FROM; let nobody else write to it meanwhile. FROM may be in use: what "
        "comes later is not copied."
    )
    copy.add_argument("source", metavar="FROM")
    copy.add_argument("target", metavar="TO")


def add_check(commands: CommandGroups) -> None:
    sub = commands.add("check", "check the integrity of the store")
    add_settings(sub, STORE)
    sub.set_defaults(run="memtree_proxy.cli.history.history_commands:check")


def add_doctor(commands: CommandGroups) -> None:
    sub = commands.add("doctor", "what is configured, what can be reached, what is wrong")
    sub.add_argument("--settings", action="store_true", help="show all settings as well")
    add_settings(sub, [*STORE, "embedder", "upstream"])
    sub.set_defaults(run="memtree_proxy.cli.doctor:run")


def add_requests(commands: CommandGroups) -> None:
    sub = commands.add("requests", "what each request was, cost and saved; also as they come")
    sub.add_argument("--follow", action="store_true", help="go on, until Ctrl-C, as they come")
    whose = sub.add_mutually_exclusive_group()
    whose.add_argument("--tenant", metavar="WHOSE", help=WHOSE_HELP)
    whose.add_argument("--all", action="store_true", help="of all tenants (the default)")
    sub.add_argument("--wrap", metavar="ID", help="of one run of memtree wrap")
    sub.add_argument("--limit", type=int, default=20, help="most rows (default 20)")
    sub.add_argument("--json", action="store_true", help="as JSON, a line for each")
    add_settings(sub, STORE)
    sub.set_defaults(run="memtree_proxy.cli.requests:run")


def add_report(commands: CommandGroups) -> None:
    sub = commands.add("report", "what summaries by a model cost, by tenant")
    sub.add_argument("--days", type=int, default=30, help="how far back (default 30, UTC)")
    whose = "the beginning of a tenant's hash, or a key's label"
    sub.add_argument("--tenant", metavar="WHICH", help=whose)
    sub.add_argument("--json", action="store_true", help="as JSON")
    add_settings(sub, STORE)
    sub.set_defaults(run="memtree_proxy.cli.store.report:run")
