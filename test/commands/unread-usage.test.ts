// Token usage in a record of an unknown kind: what the user sees of it, in lines, an object, a database, a folder of files.
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { driftFindings } from "#check/health/checks/collector.ts";
import { examinedOf } from "#check/health/facts/examined.ts";
import { reconcile } from "#commands/reconcile.ts";
import { report } from "#commands/report.ts";
import { status } from "#commands/status.ts";
import { openDatabase } from "#store/database.ts";
import { type RecordedHome, recordedHome } from "../import/home.ts";
import { contextAt, SGR } from "../support/context.ts";
import { locateAll } from "../support/located.ts";
import { appendLine, PLANTED, UNKNOWN, USAGE } from "../support/planted-usage.ts";

let at: RecordedHome | undefined;
afterEach(() => at?.replay.remove());

async function reported({ replay }: RecordedHome) {
  const world = contextAt(replay.places, { columns: 400 });
  await report([], { json: false, csv: false, since: "2020-01-01" }, world.context);
  await status({ json: false }, world.context);
  await reconcile(undefined, { since: "2020-01-01", sampled: false, json: false }, world.context);
  const findings: string[] = [];
  for (const { level, text } of driftFindings(await examinedOf(world.context))) {
    if (level === "remark") findings.push(text);
  }
  return { out: world.out().replaceAll(SGR, ""), findings };
}

test.each(["claude-code", "amp", "opencode", "openhands"])(
  "%s: it is in report, status, doctor and reconcile",
  async (source) => {
    const agent = (await allAgents()).find((one) => one.source === source);
    const [planted] = PLANTED[source] ?? [];
    if (agent === undefined || planted === undefined) throw new Error(`nothing is planted for ${source}`);
    at = await recordedHome({ agent, source, name: "basic" });
    const { replay, reader, home, roots } = at;
    for (const call of replay.calls) replay.put(call);
    const { sessions } = await locateAll(reader, home, roots);
    const [file] = sessions[0] === undefined ? [] : await reader.files({ ...sessions[0], roots });
    planted.add(file?.path ?? "");
    await replay.drain({ endIdle: true });
    const { out, findings } = await reported(at);
    const kind = planted.found.replaceAll(".", "\\.");
    expect(out).toMatch(/^(?:total|\d{4}-\d\d-\d\d \w+) +.*≥\d/m);
    expect(out).not.toContain("cut short");
    expect(out).toMatch(/^tokens and cost are a lower bound: 1 call or turn reported none, or not all: /m);
    const line = new RegExp(
      `${source}.* writes token usage that this version cannot read, in 1 kind of record \\(${kind}\\): totals with it are lower bounds`,
    );
    expect(out).toMatch(line);
    expect(findings).toContainEqual(expect.stringMatching(line));
    expect(out).toContain(`token usage in 1 record "${planted.found}" cannot be read: totals are lower bounds`);
  },
);

test("a turn that ends with it has the same spans and the same end as without it", async () => {
  const agent = (await allAgents()).find(({ source }) => source === "claude-code");
  if (agent === undefined) throw new Error("no agent");
  const turnsWith = async (record: object | undefined): Promise<unknown> => {
    at = await recordedHome({ agent, source: agent.source, name: "basic" });
    const { replay, reader, home, roots } = at;
    for (const call of replay.calls) replay.put(call);
    const { sessions } = await locateAll(reader, home, roots);
    if (record !== undefined) appendLine(sessions[0]?.path ?? "", record);
    await replay.drain();
    const db = openDatabase(replay.places.storePath);
    const spans = db.prepare("SELECT record FROM spans").all();
    db.close();
    replay.remove();
    return spans
      .map(({ record: text }) => JSON.parse(String(text)))
      .map(({ name, status, attributes }) => [name, status, attributes?.["gen_ai.response.finish_reasons"]])
      .sort();
  };
  const atEnd = { ...UNKNOWN, timestamp: "2026-11-21T05:55:32.890Z", usage: USAGE };
  const spans = await turnsWith(undefined);
  expect(spans).not.toEqual([]);
  expect(await turnsWith(atEnd)).toEqual(spans);
});
