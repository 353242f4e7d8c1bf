import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import Libsql from "libsql";

// The software bill of materials of the package, in CycloneDX: npm's own list, limited to what users get. That is what the build
// bundled, the native packages that are installed with it, and SQLite, which is compiled into them and which npm does not know.
//
//   node scripts/sbom.mjs [FILE]     after `npm run build`; default dist/sbom.cdx.json

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const file = resolve(process.argv[2] ?? join(ROOT, "dist", "sbom.cdx.json"));

const bundled = new Set(
  [...readFileSync(join(ROOT, "dist", "LICENCES.txt"), "utf8").matchAll(/^(@?[\w./-]+) (\d[\w.+-]*): /gm)].map(
    ([, name, version]) => `${name}@${version}`,
  ),
);
const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
const all = JSON.parse(execFileSync("npm", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 26 }));

/** Installed with the package: its dependencies and theirs, the native part for each system among them. */
const installed = new Set();
const dependencies = new Map(all.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
const { dependencies: own } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
for (const wanted = Object.entries(own).map(([name, version]) => `${name}@${version}`); wanted.length > 0; ) {
  const ref = wanted.pop();
  if (installed.has(ref)) continue;
  installed.add(ref);
  wanted.push(...(dependencies.get(ref) ?? []));
}

const store = new Libsql(":memory:");
const { version, source } = store.prepare("SELECT sqlite_version() AS version, sqlite_source_id() AS source").get();
store.close();
const sqlite = {
  "bom-ref": `sqlite@${version}`,
  type: "library",
  name: "sqlite",
  version,
  description: `compiled into the native packages of libsql; source ${source.slice(0, 10)}`,
  purl: `pkg:generic/sqlite@${version}`,
  cpe: `cpe:2.3:a:sqlite:sqlite:${version}:*:*:*:*:*:*:*`,
  licenses: [{ license: { name: "Public Domain" } }],
};

const isKept = ({ "bom-ref": ref }) => bundled.has(ref) || installed.has(ref);
const components = all.components.filter(isKept).map(({ properties, ...one }) => ({
  ...one,
  scope: "required",
  // npm calls what is bundled a development dependency
  properties: (properties ?? []).filter(({ name }) => name !== "cdx:npm:package:development"),
}));
const missing = [...bundled].filter((ref) => !components.some((one) => one["bom-ref"] === ref));
if (missing.length > 0) throw new Error(`bundled, and not in package-lock.json: ${missing.join(", ")}`);

const main = { ...all.metadata.component, name: "openhook-otel" };
const refs = new Set([...components, sqlite, main].map((one) => one["bom-ref"]));
const bill = {
  ...all,
  metadata: { ...all.metadata, component: main },
  components: [...components, sqlite],
  dependencies: [
    { ref: main["bom-ref"], dependsOn: components.map((one) => one["bom-ref"]) },
    ...components.map(({ "bom-ref": ref }) => ({
      ref,
      dependsOn: [
        ...(dependencies.get(ref) ?? []).filter((one) => refs.has(one)),
        ...(ref.startsWith("@libsql/") ? [sqlite["bom-ref"]] : []),
      ],
    })),
    { ref: sqlite["bom-ref"], dependsOn: [] },
  ],
};
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
process.stdout.write(`${file}: ${bill.components.length} components, SQLite ${version}\n`);
