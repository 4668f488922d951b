"""Reads YAML files and prints their documents as JSON. Those that are Kubernetes objects are validated against the schemas of
an old and of the newest version, and unknown fields are errors."""

import json
import sys

import kubernetes_validate
import yaml

OLDEST = "1.29"

documents = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for document in yaml.safe_load_all(file):
            if "apiVersion" in document:
                for version in (OLDEST, kubernetes_validate.latest_version()):
                    kubernetes_validate.validate(document, version, strict=True)
            documents.append(document)
json.dump(documents, sys.stdout)
