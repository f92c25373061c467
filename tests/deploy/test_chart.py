"""The Helm chart, rendered by Helm's own engine and held to Kubernetes' schemas, offline."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from memtree.config import Settings
from memtree_proxy.cli.main import build_parser
from tests.deploy.programs import DEPLOY, ask

CHART = DEPLOY / "helm" / "memtree"
KUBERNETES = ["1.25", "1.31", "1.37"]  # the oldest that Chart.yaml admits, one between, the newest
SECRET = {"existingSecret": "own"}
FULL = {
    "secrets": {"store": "postgresql://a:b@c/d", "queue": "redis://e", "metrics_key": "f"},
    "accessKey": {"existingSecret": "access"},
    "settings": {"target_tokens": 30000, "prices": ["a=1/0.1", "*=1/0.5"], "memory": True,
                 "embedding_relevant": 0.25, "max_body_bytes": 134217728,
                 "trusted_proxies": ["10.1.0.0/16", "10.2.0.1"]},
    "imagePullSecrets": [{"name": "pull"}],
    "proxy": {"autoscaling": {"enabled": True}, "extraEnv": [{"name": "A", "value": "b"}],
              "podLabels": {"a": "b"}, "podAnnotations": {"c": "d"}, "nodeSelector": {"e": "f"},
              "tolerations": [{"key": "g", "operator": "Exists"}], "priorityClassName": "high"},
    "worker": {"autoscaling": {"enabled": True, "metrics": [
        {"type": "External", "external": {"metric": {"name": "memtree_queue"},
                                          "target": {"type": "Value", "value": "10"}}}]}},
    "ingress": {"enabled": True, "host": "memory.example", "tlsSecret": "tls"},
    "service": {"annotations": {"a": "b"}},
    "serviceAccount": {"annotations": {"a": "b"}},
    "monitoring": {"enabled": True, "labels": {"release": "prometheus"}},
}  # fmt: skip


def render(values):
    return ask("chart.py", {"chart": str(CHART), "values": values, "kubernetes": KUBERNETES})


@pytest.fixture(scope="module")
def full():
    return render(FULL)


@pytest.fixture(scope="module")
def plain():
    return render(SECRET)


def of(said, kind, ending=""):
    (found,) = [one for one in said["objects"]
                if one["kind"] == kind and one["metadata"]["name"].endswith(ending)]  # fmt: skip
    return found


def pods(said):
    return [one["spec"]["template"] for one in said["objects"] if one["kind"] == "Deployment"]


def test_nothing_to_complain_of(full, plain):
    for said in (full, plain):
        assert (said["lint"], said["error"], said["faults"]) == ([], "", [])


def test_plain_is_two_and_two(plain):
    assert of(plain, "Deployment", "-proxy")["spec"]["replicas"] == 2
    assert of(plain, "Deployment", "-worker")["spec"]["replicas"] == 2
    kinds = {one["kind"] for one in plain["objects"]}
    assert not kinds & {"Ingress", "HorizontalPodAutoscaler", "PodMonitor", "Secret"}
    for pod in pods(plain):
        sources = pod["spec"]["containers"][0]["envFrom"]
        assert {"secretRef": {"name": "own"}} in sources


def test_full_has_everything_and_autoscaling_owns_the_number(full):
    assert len([one for one in full["objects"] if one["kind"] == "HorizontalPodAutoscaler"]) == 2
    assert all("replicas" not in one["spec"] for one in full["objects"]
               if one["kind"] == "Deployment")  # fmt: skip
    assert of(full, "Secret")["stringData"]["MEMTREE_STORE"] == "postgresql://a:b@c/d"
    assert of(full, "Ingress")["metadata"]["annotations"][
        "nginx.ingress.kubernetes.io/proxy-buffering"
    ] == "off"  # fmt: skip


def test_pods_are_restricted(full):
    for pod in pods(full):
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["spec"]["automountServiceAccountToken"] is False
        for one in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
            assert one["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_selectors_choose_the_pods_and_only_these(full):
    labels = {p["metadata"]["labels"]["app.kubernetes.io/component"]: p["metadata"]["labels"]
              for p in pods(full)}  # fmt: skip
    for kind in ("PodDisruptionBudget", "PodMonitor"):
        for part, own in labels.items():
            chosen = of(full, kind, part)["spec"]["selector"]["matchLabels"].items()
            assert chosen <= own.items()
            assert not any(
                chosen <= other.items() for name, other in labels.items() if name != part
            )
    assert of(full, "Service")["spec"]["selector"].items() <= labels["proxy"].items()


def test_settings_become_variables_that_memtree_reads(full):
    env = of(full, "ConfigMap")["data"] | of(full, "Secret")["stringData"]
    env.pop("MEMTREE_QUEUE")  # what queues there are is another test's matter
    found = Settings.from_env(env=env)
    assert (found.target_tokens, found.max_body_bytes) == (30000, 134217728)
    assert found.trusted_proxies == ("10.1.0.0/16", "10.2.0.1")
    assert (found.memory, found.prices) == (True, ("a=1/0.1", "*=1/0.5"))
    assert (found.embedding_relevant, found.host, found.port) == (0.25, "0.0.0.0", 8787)


def test_no_proxy_is_trusted_by_default(plain):
    env = of(plain, "ConfigMap")["data"]
    assert env["MEMTREE_TRUSTED_PROXIES"] == ""
    assert Settings.from_env(env=env).trusted_proxies == ()


def test_new_settings_are_new_pods(plain):
    sums = [p["metadata"]["annotations"]["checksum/settings"] for p in pods(plain)]
    other = pods(render(SECRET | {"settings": {"memory": True}}))
    assert not set(sums) & {p["metadata"]["annotations"]["checksum/settings"] for p in other}


def test_the_store_is_opened_before_a_proxy_starts(full, plain):
    (opener,) = of(plain, "Deployment", "-proxy")["spec"]["template"]["spec"]["initContainers"]
    assert opener["args"] == ["keys", "list"]
    (opener,) = of(full, "Deployment", "-proxy")["spec"]["template"]["spec"]["initContainers"]
    assert {one["name"] for one in opener["env"]} == {"A", "ACCESS_KEY", "ACCESS_KEY_LABEL"}
    assert "b@c" not in str(of(full, "Deployment", "-proxy"))  # secrets stay in the Secret


def test_commands_are_those_of_memtree(plain):
    for pod in pods(plain):
        for one in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
            build_parser().parse_args(one["args"])


def test_probes_reach_what_they_ask(plain):
    (proxy, worker) = (of(plain, "Deployment", part)["spec"]["template"]["spec"]["containers"][0]
                       for part in ("-proxy", "-worker"))  # fmt: skip
    assert proxy["ports"] == [{"name": "health", "containerPort": 8787}]
    assert worker["ports"] == [{"name": "health", "containerPort": 8788}]
    assert worker["args"][1:] == ["--health-host", "0.0.0.0", "--health-port", "8788"]


def test_an_old_proxy_goes_when_a_new_one_answers(plain):
    spec = of(plain, "Deployment", "-proxy")["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] > 5 + 10


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "existingSecret"),
        (SECRET | {"settings": {"upstream_api_key": "sk"}}, "not"),
        (SECRET | {"proxy": {"replica": 3}}, "replica"),
        *(
            pytest.param(values, says, marks=pytest.mark.long)
            for values, says in [
                ({"secrets": {"store": "postgresql://x"}}, "secrets.queue"),
                ({"secrets": {"store": "sqlite:///x", "queue": "redis://x"}}, "secrets/store"),
                (SECRET | {"settings": {"host": "::"}}, "not"),
                (SECRET | {"settings": {"MEMTREE_MEMORY": True}}, "MEMTREE_MEMORY"),
                (SECRET | {"ingress": {"enabled": True}}, "ingress.host"),
                (SECRET | {"worker": {"healthPort": 80}}, "healthPort"),
            ]
        ),
    ],
)
def test_wrong_values_are_refused(values, says):
    assert says in render(values)["error"]


def test_notes_say_how_to_get_in(full, plain):
    assert "https://memory.example/v1" in full["notes"]
    assert "trusted_proxies" not in full["notes"]
    assert "access-key" in plain["notes"]
    assert "WARNING" in render(SECRET | {"open": True})["notes"]


def test_the_schema_keeps_secrets_out_of_settings():
    text = (CHART / "values.schema.json").read_text("utf-8")
    (pattern,) = re.findall(r'"pattern": "(\(_key.*?)"', text)
    refused = {one.name for one in fields(Settings) if re.search(pattern, one.name)}
    secret = {one.name for one in fields(Settings) if one.name.endswith("_key")}
    assert refused == secret | {"store", "queue", "host", "port", "open"}


def test_every_value_is_in_the_readme():
    readme = (CHART / "README.md").read_text("utf-8")
    for line in (CHART / "values.yaml").read_text("utf-8").splitlines():
        if found := re.match(r" *([A-Za-z]+):", line):
            assert found[1] in readme or found[1] in ("requests", "limits"), found[1]
