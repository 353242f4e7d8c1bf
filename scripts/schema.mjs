// Writes the JSON Schemas in schema/ from the zod schemas in src/. `--check` writes nothing and exits 1 if one is stale.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_THE_PROGRAM, importBundled, typescript } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes("--check");

const ENTRY = `
  import * as z from "zod";
  import { Envelope } from "./src/core/model/envelope.ts";
  export { configJsonSchema, machineJsonSchema } from "./src/config/schema.ts";
  import { textSchemaOf } from "./src/collect/convert/text-schemas.ts";
  import { discoveryJsonSchema } from "./src/config/discovery-file.lazy.ts";
  export { discoveryJsonSchema };
  export { pricesJsonSchema } from "./src/config/own-prices.lazy.ts";
  export const envelopeJsonSchema = () => z.toJSONSchema(Envelope, { io: "input" });
  export const textJsonSchema = (text) => z.toJSONSchema(textSchemaOf(text), { io: "input" });
`;

const {
  configJsonSchema,
  discoveryJsonSchema,
  envelopeJsonSchema,
  machineJsonSchema,
  pricesJsonSchema,
  textJsonSchema,
} = await importBundled({
  stdin: typescript(ENTRY),
  format: "esm",
  ...AS_THE_PROGRAM,
});
const files = {
  "schema/config.schema.json": configJsonSchema(),
  "schema/machine-config.schema.json": machineJsonSchema(),
  "schema/prices.schema.json": pricesJsonSchema(),
  "schema/openhook.schema.json": { title: "OpenHook v0.1 event, as read: either text", ...envelopeJsonSchema() },
  "schema/openhook-cwd.schema.json": { title: "OpenHook v0.1 envelope, text cwd", ...textJsonSchema("cwd") },
  "schema/openhook-context.schema.json": {
    title: "OpenHook v0.1 envelope, text context",
    ...textJsonSchema("context"),
  },
  "schema/openhook-discovery.schema.json": { title: "OpenHook v0.1 .openhook.json", ...discoveryJsonSchema() },
};

for (const [name, schema] of Object.entries(files)) {
  const path = join(root, name);
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if ((await readFile(path, "utf8").catch(() => "")) === text) continue;
  if (check) {
    console.error(`${name} is stale: run node scripts/schema.mjs`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    console.log(`wrote ${name}`);
  }
}
