"""The example of an environment file: each setting and its default, fit for all readers."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from memtree.config import Settings, variable
from scripts.env_example import EXAMPLE, example

LINE = re.compile(r"#?([A-Z_]+)=(.*)")
OF_OTHERS = {"POSTGRES_PASSWORD", "REDIS_PASSWORD", "MEMTREE_IMAGE", "MEMTREE_BIND", "MEMTREE_SITE",
             "MEMTREE_CONFIG"}  # fmt: skip


def entries():
    lines = EXAMPLE.read_text("utf-8").splitlines()
    return {m[1]: m[2] for line in lines if (m := LINE.fullmatch(line))}


def test_it_is_up_to_date():
    assert EXAMPLE.read_text("utf-8") == example(), "run: python scripts/env_example.py"


def test_every_setting_is_there_and_nothing_else():
    assert entries().keys() - OF_OTHERS == {variable(one.name) for one in fields(Settings)}


def test_what_it_shows_are_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # `make run` leaves a store in the clone, which would be taken
    shown = {name: value for name, value in entries().items() if name not in OF_OTHERS}
    # There is no home among these, and so no store.
    assert Settings.from_env(env=shown) == replace(Settings(), store="")


def test_every_line_is_understood_by_systemd_and_compose():
    for line in EXAMPLE.read_text("utf-8").splitlines():
        assert not line or line.startswith("#") or LINE.fullmatch(line), line
    assert not re.search("[\"'$\\\\]", "".join(entries().values()))


def test_no_password_is_given():
    given = [line for line in EXAMPLE.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert [line for line in given if line] == ["POSTGRES_PASSWORD=", "REDIS_PASSWORD="]
