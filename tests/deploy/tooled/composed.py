"""A compose file as compose would read it: anchors merged, variables put in, files laid over each
other, then held to the Compose Specification. Runs in the tools' environment.

In: {"files": [path, ...], "variables": {...}}. Out: {"error": text, "model": {...}}.
"""

import json
import re
import sys
from pathlib import Path

import yaml  # type: ignore[import-untyped]
from compose_spec import PyCompose  # type: ignore[import-not-found]

# ${NAME}, ${NAME:-default}, ${NAME:?message}: the forms that our files use; $$ is a dollar.
VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?:(:[-?])([^}]*))?\})")


class Missing(Exception):
    """A variable that must be set is not."""


def filled(value, variables):
    if isinstance(value, dict):
        return {name: filled(one, variables) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, variables) for one in value]
    return (
        VARIABLE.sub(lambda found: _one(found, variables), value)
        if isinstance(value, str)
        else value
    )


def _one(found, variables):
    dollar, name, how, rest = found.groups()
    if dollar:
        return "$"
    if variables.get(name):
        return variables[name]
    if how == ":-":
        return rest
    raise Missing(rest if how == ":?" else f"{name} is not set")


def laid_over(under, over):
    if isinstance(under, dict) and isinstance(over, dict):
        both = {name: laid_over(under[name], over[name]) for name in under if name in over}
        return {**under, **over, **both}
    return under + over if isinstance(under, list) and isinstance(over, list) else over


def answer(files, variables):
    model = {}
    for path in files:
        model = laid_over(model, yaml.safe_load(Path(path).read_text("utf-8")))
    try:
        model = filled(model, variables)
        plain = {name: one for name, one in model.items() if not name.startswith("x-")}
        checked = PyCompose.from_yaml(yaml.safe_dump(plain))
        checked.validate()
    except (Missing, ValueError) as error:
        return {"error": str(error), "model": {}}
    return {"error": "", "model": model}


if __name__ == "__main__":
    json.dump(answer(**json.load(sys.stdin)), sys.stdout)
