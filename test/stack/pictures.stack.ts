// Pages of all dashboards, for the pictures in dashboards/README.md: `node scripts/dashboard-pictures.mjs` runs this file.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { dashboards } from "../../dashboards/src/index.ts";
import { sum } from "./ask.ts";
import { programs } from "./programs.ts";
import { screens } from "./render.ts";
import { startPrometheus } from "./servers.ts";
import { teamWeeks } from "./team-weeks.ts";

const { prometheus, promtool } = await programs();
const folder = process.env["OPENHOOK_STACK_SCREENS"] ?? "";
const work = mkdtempSync(join(tmpdir(), "openhook-pictures-"));
const HOUR_MS = 3_600_000;

afterAll(() => rmSync(work, { recursive: true, force: true, maxRetries: 10 }));

describe.skipIf(prometheus === undefined)("pages of the dashboards", () => {
  test("show two made-up weeks of a team", async () => {
    const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const text = join(work, "weeks.om");
    writeFileSync(text, "");
    for await (const part of teamWeeks(endMs)) appendFileSync(text, part);
    const data = join(work, "data");
    // It reads the whole text for each block
    tool("tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=720h", text, data);
    // Series have a point every six hours
    const server = await startPrometheus(prometheus ?? "", { data, args: ["--query.lookback-delta=7h"] });
    try {
      expect(await sum(server.url, "sum(last_over_time(openhook_cost_usage_USD_total[1d]))", endMs)).toBeGreaterThan(
        100,
      );
      expect(await sum(server.url, "count(openhook:budget_spent:ratio_30d)", endMs)).toBe(1);
      await screens(folder, server.url, { fromMs: endMs - 7 * 24 * HOUR_MS, toMs: endMs });
      expect(readdirSync(folder).length).toBeGreaterThanOrEqual(2 * Object.keys(dashboards()).length);
    } finally {
      await server.remove();
    }
  });
});

// --- internal ---

function tool(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(promtool ?? "", args, { encoding: "utf8", maxBuffer: 1e9 });
  if (status !== 0) throw new Error(`promtool ${args.join(" ")} exited with ${status}: ${stderr.slice(-2_000)}`);
}
