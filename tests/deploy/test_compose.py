"""compose.yaml: valid, complete, and refusing to start without passwords."""

from __future__ import annotations

import pytest

from memtree_proxy.cli.main import build_parser
from tests.deploy.programs import DEPLOY, ask

SECRETS = {"POSTGRES_PASSWORD": "p1", "REDIS_PASSWORD": "r1"}
FILES = [str(DEPLOY / "compose.yaml")]


def composed(files=FILES, **variables):
    return ask("composed.py", {"files": files, "variables": variables})


@pytest.fixture(scope="module")
def services():
    said = composed(**SECRETS)
    assert not said["error"]
    return said["model"]["services"]


def test_the_topology(services):
    assert services.keys() == {"proxy-1", "proxy-2", "worker-1", "worker-2", "balancer", "redis",
                               "postgres"}  # fmt: skip
    targets = services["balancer"]["environment"]["MEMTREE_PROXIES"].split()
    assert targets == ["proxy-1:8787", "proxy-2:8787"]


@pytest.mark.parametrize("missing", SECRETS)
def test_no_password_no_start(missing):
    assert missing in composed(**(SECRETS | {missing: ""}))["error"]


def test_https_needs_a_name():
    files = [*FILES, str(DEPLOY / "compose.tls.yaml")]
    assert "MEMTREE_SITE" in composed(files, **SECRETS)["error"]
    said = composed(files, **SECRETS, MEMTREE_SITE="memory.example")
    assert said["model"]["services"]["balancer"]["environment"]["MEMTREE_SITE"] == "memory.example"


def test_passwords_reach_both_ends(services):
    for name in ("proxy-1", "proxy-2", "worker-1", "worker-2"):
        own = services[name]["environment"]
        assert own["MEMTREE_STORE"] == "postgresql://memtree:p1@postgres:5432/memtree"
        assert own["MEMTREE_QUEUE"] == "redis://:r1@redis:6379/0"
    assert services["postgres"]["environment"]["POSTGRES_PASSWORD"] == "p1"
    assert "requirepass r1" in composed(**SECRETS)["model"]["configs"]["valkey"]["content"]


def test_everything_waits_for_what_it_needs(services):
    for name in ("proxy-1", "worker-2"):
        assert services[name]["depends_on"] == {
            "postgres": {"condition": "service_healthy"},
            "redis": {"condition": "service_healthy"},
        }
    for name in ("redis", "postgres", "worker-1"):
        assert services[name]["healthcheck"]["test"]


def test_commands_are_those_of_memtree(services):
    for name in ("proxy-1", "proxy-2", "worker-1", "worker-2"):
        build_parser().parse_args(services[name]["command"])
    (port,) = [services["worker-1"]["healthcheck"]["test"][-1]]
    assert port == services["worker-1"]["command"][-1]


def test_everything_is_bounded_and_comes_back(services):
    for name, service in services.items():
        assert service["deploy"]["resources"]["limits"]["memory"], name
        assert service["restart"] == "unless-stopped", name
        assert "no-new-privileges:true" in service["security_opt"], name


def test_own_containers_write_nowhere_and_may_nothing(services):
    for name in ("proxy-1", "proxy-2", "worker-1", "worker-2"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert "user" not in services[name]  # the image's own, 10001


def test_only_the_balancer_is_reached_from_outside(services):
    assert {name for name, one in services.items() if "ports" in one} == {"balancer"}
    assert services["balancer"]["ports"] == ["127.0.0.1:8080:8080"]
    assert "back" not in services["balancer"]["networks"]
    assert composed(**SECRETS)["model"]["networks"]["back"] == {"internal": True}


def test_nonsense_is_found(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("services: {redis: {restart: now, networks: [nowhere]}}", "utf-8")
    assert composed([*FILES, str(wrong)], **SECRETS)["error"]
