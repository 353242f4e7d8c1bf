// Writes the figures of test/privacy/recall.ts into docs/privacy.md. Run it after changes of the redaction rules.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_THE_PROGRAM, importBundled, typescript } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const path = join(root, "docs", "privacy.md");
const { recall, recallText } = await importBundled({
  stdin: typescript(`export * from "./test/privacy/recall.ts";`),
  ...AS_THE_PROGRAM,
});
const { formats } = JSON.parse(await readFile(join(root, "test", "privacy", "formats", "formats.json"), "utf8"));
const text = await readFile(path, "utf8");
const figures = /(<!-- recall -->\n)[\s\S]*?(\n<!-- \/recall -->)/;
if (!figures.test(text)) throw new Error(`${path}: the marks <!-- recall --> and <!-- /recall --> are missing`);
await writeFile(
  path,
  text.replace(figures, (_, start, end) => `${start}${recallText(formats)}${end}`),
);
for (const { forms, missed } of recall(formats))
  if (missed.length > 0) console.log(`${forms}, missed: ${missed.join(", ")}`);
