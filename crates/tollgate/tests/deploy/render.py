"""Renders the chart in the folder of the first argument, with the values in the second, a JSON object, over its own. What the chart's schema
refuses is an error."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml


def merged(base: dict, over: dict) -> dict:
    both = {
        name: merged(base[name], value) if isinstance(value, dict) and isinstance(base.get(name), dict) else value
        for name, value in over.items()
    }
    return {**base, **both}


chart = Path(sys.argv[1])
described = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
values = merged(yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8")), json.loads(sys.argv[2]))
try:
    jsonschema.validate(values, json.loads((chart / "values.schema.json").read_text(encoding="utf-8")))
except jsonschema.ValidationError as error:
    sys.exit(f"{error.json_path}: {error.message}")
given = {
    "Values": values,
    # As Helm names its fields.
    "Chart": {"Name": described["name"], "Version": described["version"], "AppVersion": described["appVersion"]},
    "Release": {"Name": "tollgate", "Namespace": "payments"},
}
templates = sorted((chart / "templates").iterdir())
program = Path(__file__).with_name("render.go")
go = subprocess.run(["go", "run", program, *templates], input=json.dumps(given), text=True, stdout=subprocess.PIPE)
sys.stdout.write(go.stdout)
sys.exit(go.returncode)
