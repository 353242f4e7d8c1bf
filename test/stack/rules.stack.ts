import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { change, exactSum } from "../../dashboards/src/promql.ts";
import { ROOT } from "../support/program.ts";
import { programs } from "./programs.ts";

// Tests the rules with promtool, of the release that we build and of Debian's older one

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
  });

  test("a change compares with the period of the same length before", () => {
    const folder = mkdtempSync(join(tmpdir(), "openhook-change-"));
    const expr = change(exactSum("calls_total")).replaceAll("$__range", "1h");
    const file = join(folder, "change.yaml");
    // One machine makes one call a minute, then two; another one starts in the last hour, with 30 calls
    const series = [
      { series: 'calls_total{instance="a"}', values: "0+1x180 182+2x60" },
      { series: 'calls_total{instance="b"}', values: "_x210 30x30" },
    ];
    const check = { expr, eval_time: "4h", exp_samples: [{ labels: "{}", value: 1.5 }] };
    writeFileSync(
      file,
      JSON.stringify({ tests: [{ interval: "1m", input_series: series, promql_expr_test: [check] }] }),
    );
    const { status, stdout, stderr } = spawnSync(path, ["test", "rules", file], { encoding: "utf8" });
    rmSync(folder, { recursive: true, force: true });
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});

if (tools.length === 0) test.skip("not covered here: the rules by promtool");
