import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/program.ts";
import { programs } from "./programs.ts";

/** The rules by promtool, of the release we build and of the old one that Debian has. */

const { promtool, oldPromtool } = await programs();
const RULES = join(ROOT, "dashboards", "rules");
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => join(folder, name));

const tools = [...new Set([promtool, oldPromtool])].filter((path) => path !== undefined);

describe.each(tools)("%s", (path) => {
  test("accepts the rules without a warning", () => {
    const { status, stdout, stderr } = spawnSync(path, ["check", "rules", ...filesIn(RULES)], { encoding: "utf8" });
    expect(`${stdout}${stderr}`).not.toMatch(/lint|duplicate|FAILED/i);
    expect(status).toBe(0);
  });

  test("each alert fires when it should, and only then", () => {
    const { status, stdout, stderr } = spawnSync(path, ["test", "rules", ...filesIn(join(RULES, "tests"))], {
      encoding: "utf8",
      cwd: RULES,
    });
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout.match(/SUCCESS/g)?.length).toBe(filesIn(join(RULES, "tests")).length);
  }, 120_000);
});

if (tools.length === 0) test.skip("not covered here: the rules by promtool");
