"""Reads YAML files and prints their documents as JSON. Those that are Kubernetes objects are validated against the schemas of the oldest
version that the chart takes and of the newest there is, and unknown fields are errors."""

import json
import re
import sys
from pathlib import Path

import kubernetes_validate
import yaml

CHART = Path(__file__).resolve().parents[4] / "deploy/chart/Chart.yaml"
OLDEST = re.match(r">=(1\.\d+)\.0", yaml.safe_load(CHART.read_text(encoding="utf-8"))["kubeVersion"])[1]

documents = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for document in yaml.safe_load_all(file):
            if "apiVersion" in document:
                for version in (OLDEST, kubernetes_validate.latest_version()):
                    kubernetes_validate.validate(document, version, strict=True)
            documents.append(document)
json.dump(documents, sys.stdout)
