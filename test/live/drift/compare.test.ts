// The drift radar reports what a newer version of an agent does differently, and whether we use it.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findAgent } from "#agents/registry.ts";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import type { Agent } from "#core/model/agent.ts";
import { removeFolder } from "../../support/remove.ts";
import { CASES } from "../../support/replay.ts";
import { recordingsIn } from "./observe.ts";
import { acceptable, differenceLines, differencesOf, withoutAccepted } from "./report.ts";

const claude = (await findAgent("claude-code")) as Agent;
const RECORDINGS = join(CASES, "claude-code");
const [basic] = recordingsIn(RECORDINGS).filter(({ name }) => name === "basic");
const EVENTS = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];

let folder: string | undefined;
afterEach(() => folder !== undefined && removeFolder(folder));

type Payload = Record<string, unknown>;

/** The report about a version that sends the payloads of the basic recording, changed. */
function reportOf(
  change: (payload: Payload) => Payload | undefined,
  { files = {}, failures = new Map() }: { files?: Record<string, string>; failures?: ReadonlyMap<string, string> } = {},
): readonly string[] {
  folder = mkdtempSync(join(tmpdir(), "openhook-drift-test-"));
  const scenario = join(folder, "basic");
  mkdirSync(join(scenario, "inbox"), { recursive: true });
  mkdirSync(join(scenario, "home"), { recursive: true });
  writeFileSync(join(scenario, "registered.json"), JSON.stringify(EVENTS));
  for (const [index, { payload }] of (basic?.sent ?? []).entries()) {
    const sent = change(payload as Payload);
    if (sent === undefined) continue;
    const head = formatHead({ source: "claude-code", ppid: 1, pid: index + 1, cwd: "/home/dev", env: {} });
    writeFileSync(join(scenario, "inbox", `${index}-1.evt`), `${head}${JSON.stringify(sent)}${formatEnd("whole")}`);
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(scenario, "home", name), text);
  return differenceLines(differencesOf(claude, { recordings: RECORDINGS, kept: folder }, failures));
}

const onlyIn =
  (event: string, change: (payload: Payload) => Payload | undefined) =>
  (payload: Payload): Payload | undefined =>
    payload["hook_event_name"] === event ? change(payload) : payload;

describe("payloads", () => {
  test("the recorded version has no difference", () => {
    expect(basic?.sent.length).toBeGreaterThan(5);
    expect(reportOf((payload) => payload)).toEqual([]);
  });

  test("a gone event is marked as used if we convert it", () => {
    expect(reportOf(onlyIn("Stop", () => undefined))).toEqual(["  USED gone event: Stop"]);
  });

  test("a new event and a new field are reported", () => {
    const renamed = onlyIn("Stop", (payload) => ({ ...payload, brand_new: 1 }));
    expect(reportOf(renamed)).toEqual(["  new field: Stop.brand_new"]);
    const lines = reportOf(onlyIn("SessionEnd", (payload) => ({ ...payload, hook_event_name: "SessionFinished" })));
    expect(lines).toContain("  new event: SessionFinished");
    expect(lines[0]).toBe("  USED gone event: SessionEnd");
  });

  test("a gone field is reported, and marked as used if we read it", () => {
    expect(reportOf(onlyIn("PreToolUse", ({ tool_use_id: _, ...rest }) => rest))).toContain(
      "  USED gone field: PreToolUse.tool_use_id",
    );
    expect(reportOf(onlyIn("Stop", ({ stop_hook_active: _, ...rest }) => rest))).toContain(
      "  gone field: Stop.stop_hook_active",
    );
  });

  test("a field with another type is reported with both types", () => {
    expect(reportOf(onlyIn("PreToolUse", (payload) => ({ ...payload, tool_name: { id: "Bash" } })))).toContain(
      "  USED changed field: PreToolUse.tool_name: string is now object",
    );
  });

  test("a new value of a code is reported", () => {
    expect(reportOf(onlyIn("SessionStart", (payload) => ({ ...payload, source: "teleported" })))).toContain(
      "  new value: SessionStart.source = teleported",
    );
  });
});

test("new and gone kinds of records in session files are reported", () => {
  const lines = reportOf((payload) => payload, { files: { "s.jsonl": '{"type":"hologram","uuid":"u"}\n' } });
  expect(lines).toContain("  new file: record hologram");
  expect(lines.some((line) => line.startsWith("  gone file: record assistant"))).toBe(true);
});

test("figures that differ come first", () => {
  const failures = new Map([["resume", "expected 5 to be 6"]]);
  expect(
    reportOf(
      onlyIn("Stop", (p) => ({ ...p, extra: 1 })),
      { failures },
    ),
  ).toEqual(["  USED changed figure: resume: expected 5 to be 6", "  new field: Stop.extra"]);
});

test("what the pinned version does differently is not reported again, unless we use it", () => {
  const [used, unused] = [true, false].map(
    (isUsed) => ({ change: "gone", what: "field", name: `Stop.field_${isUsed}`, isUsed }) as const,
  );
  const all = [used, unused].flatMap((difference) => difference ?? []);
  expect(acceptable(all)).toEqual(["gone field: Stop.field_false"]);
  expect(withoutAccepted(all)).toEqual(all);
  expect(withoutAccepted(all, ["gone field: Stop.field_false", "gone field: Stop.field_true"])).toEqual([used]);
});
