import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { generatedFiles } from "../../dashboards/src/index.ts";
import { ROOT } from "../support/program.ts";

const FOLDER = join(ROOT, "dashboards");
const files = Object.entries(generatedFiles());

describe("files in dashboards/ equal the output of dashboards/src", () => {
  test.each(files)("%s", (name, text) => {
    const message = `dashboards/${name} is stale: run node scripts/dashboards.mjs`;
    expect(readFileSync(join(FOLDER, name), "utf8") === text, message).toBe(true);
  });

  test("dashboards/ contains no other files", () => {
    const there = [".", "rules", "grafana-alerting"].flatMap((folder) =>
      readdirSync(join(FOLDER, folder))
        .filter((name) => /\.(json|yaml)$/.test(name))
        .map((name) => join(folder, name)),
    );
    expect(there.sort()).toEqual(
      files
        .map(([name]) => join(name))
        .filter((name) => !name.startsWith(".."))
        .sort(),
    );
  });
});
