"""Write deploy/memtree.env.example anew: every setting with its help and its default.

    python scripts/env_example.py            # write
    python scripts/env_example.py --check    # fail where the file is not what would be written

The same file serves systemd (EnvironmentFile) and compose (env_file and interpolation):
`NAME=value` lines without quotes. Defaults are comments, because an empty value is a value, too.
"""

import sys
import textwrap
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a script, from anywhere

from memtree.config import Settings, variable  # noqa: E402

EXAMPLE = ROOT / "deploy" / "memtree.env.example"
HEAD = """\
# Settings of MemTree, for systemd (/etc/memtree/memtree.env) and compose (deploy/.env).
# It will hold secrets: chmod 600. What begins with '#' is a comment or a default.
# Made by scripts/env_example.py; change a copy, not this file.

# ---------------------------------------------------------------- compose alone
# Both passwords must be set, or compose refuses to start. They become parts of URLs: use
# letters and digits only, as `openssl rand -hex 24` gives them.
POSTGRES_PASSWORD=
REDIS_PASSWORD=
# The image to run; unset: memtree:latest, as `docker compose build` makes it.
#MEMTREE_IMAGE=
# Where the balancer listens on this host, in plain HTTP.
#MEMTREE_BIND=127.0.0.1:8080
# With compose.tls.yaml: the domain name to fetch a certificate for and to serve on 80 and 443.
#MEMTREE_SITE=

# ---------------------------------------------------------------- settings
# A file of settings (TOML) that these variables win over.
#MEMTREE_CONFIG=
"""


def example() -> str:
    """The whole file."""
    return HEAD + "".join(entry(one) for one in fields(Settings))


def entry(one: "Field[Any]") -> str:
    """A setting's help as comments, and its variable, commented out, with the default."""
    told = one.metadata["default"]
    help_ = one.metadata["help"] + (f"; unset: {told}" if told else "")
    about = textwrap.wrap(help_, 96, break_long_words=False, break_on_hyphens=False)
    comments = "".join(f"# {line}\n" for line in about)
    return f"\n{comments}#{variable(one.name)}={'' if told else shown(one.default)}\n"


def shown(value: Any) -> str:
    """A default as the variable would be written. None is `none`, except that an empty line says
    better that a secret is missing; the reader takes both."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def main(arguments: list[str]) -> int:
    wanted = example()
    if arguments == ["--check"]:
        same = EXAMPLE.read_text("utf-8") == wanted
        print("up to date" if same else f"{EXAMPLE} is old: run python scripts/env_example.py")
        return 0 if same else 1
    EXAMPLE.write_text(wanted, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
