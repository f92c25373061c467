"""Helm's own engine (helm-python-sdk) on a chart, and each object held to the schemas of several
releases of Kubernetes. Runs in the tools' environment.

In: {"chart": path, "values": {...}, "kubernetes": ["1.37", ...]}.
Out: {"lint": [...], "error": text, "notes": text, "objects": [...],
"faults": [[kind, release, text]]}.
"""

import json
import sys

import helm_python as helm  # type: ignore[import-not-found]
import kubernetes_validate  # type: ignore[import-not-found]
import yaml  # type: ignore[import-untyped]

CUSTOM = ("PodMonitor",)  # of the Prometheus operator, whose schema Kubernetes does not have


def rendered(chart, values):
    with helm.Chart.load(chart) as loaded:
        loaded.validate_schema(values)
        texts = loaded.render(values, name="demo", namespace="prod")
    notes = "".join(text for name, text in texts.items() if name.endswith("NOTES.txt"))
    parts = [text for name, text in sorted(texts.items()) if name.endswith(".yaml")]
    return notes, [one for text in parts for one in yaml.safe_load_all(text) if one]


def faults(objects, releases):
    for one in objects:
        for release in releases if one["kind"] not in CUSTOM else ():
            try:
                kubernetes_validate.validate(one, release, strict=True)
            except Exception as error:  # noqa: BLE001  its errors have no common base
                yield [one["kind"], release, f"{type(error).__name__}: {error}"[:500]]


def answer(chart, values, kubernetes):
    linted = helm.lint(chart)
    said = {"lint": linted["messages"] + linted["errors"], "error": "", "notes": "", "objects": []}
    try:
        said["notes"], said["objects"] = rendered(chart, values)
    except helm.HelmError as error:
        said["error"] = str(error)
    return said | {"faults": list(faults(said["objects"], kubernetes))}


if __name__ == "__main__":
    json.dump(answer(**json.load(sys.stdin)), sys.stdout)
