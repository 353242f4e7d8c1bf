import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { disable } from "#commands/disable.ts";
import { enable } from "#commands/enable.ts";
import { statusline } from "#commands/statusline.ts";
import { placesOf } from "#config/places.ts";
import type { CallSums } from "#core/model/model-call.ts";
import { NO_CALLS } from "#core/rules/call-sums.ts";
import { statusLineCommandOf } from "#setup/registration/hook-program.ts";
import { usage } from "#show/report/usage.ts";
import { statusLine } from "#show/statusline/line.ts";
import {
  costOf,
  parseLimits,
  parseSummary,
  reportedLimitsPath,
  type Summary,
  summaryPath,
  summaryText,
} from "#show/statusline/summary.ts";
import { readStore } from "#store/read-only.ts";
import { contextAt } from "../support/context.ts";
import { Replay, ROOT } from "../support/replay.ts";
import { hasShell } from "../support/shells.ts";

const SCRIPT = join(ROOT, "src", "show", "statusline", "statusline.sh");
const nowS = Math.floor(Date.now() / 1000);

/** As Claude Code 2.1.x writes it, in one line. */
const reported = {
  session_id: "0d3f-a1",
  session_name: 'a "context_window":{"used_percentage":99} name',
  model: { id: "claude-opus-4-8", display_name: "Opus 4.8" },
  cost: { total_cost_usd: 0.01234, total_duration_ms: 45000 },
  context_window: { context_window_size: 200000, current_usage: { input_tokens: 8500 }, used_percentage: 8.9 },
  rate_limits: {
    // Half a minute beyond the full one: the two programs read the clock one after the other
    five_hour: { used_percentage: 99.6, resets_at: nowS + 7_950 },
    seven_day: { used_percentage: 41.2, resets_at: nowS + 260_970 },
  },
};
const summary: Summary = {
  atMs: nowS * 1000,
  untilMs: (nowS + 5_000) * 1000,
  today: "$3.20",
  sessions: [
    { agent: "codex", id: "c-1", cost: ">=$1.00" },
    { agent: "claude-code", id: "0d3f-a1", cost: "$0.42" },
  ],
  limits: [{ agent: "codex", label: "5h", percent: 24, resetsAtMs: (nowS + 3_570) * 1000 }],
};

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "openhook-statusline-"));
  copyFileSync(SCRIPT, join(folder, "statusline"));
  chmodSync(join(folder, "statusline"), 0o755);
  mkdirSync(join(folder, "state"));
  writeFileSync(join(folder, "hook.conf"), `state='${join(folder, "state")}'\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (text: string | undefined): void => {
  rmSync(summaryPath(join(folder, "state")), { force: true });
  if (text !== undefined) writeFileSync(summaryPath(join(folder, "state")), text);
};
function printed(input: string | undefined, shell: readonly string[] = ["sh"]): string {
  const [program = "sh", ...before] = shell;
  const args = [...before, join(folder, "statusline"), ...(input === undefined ? [] : ["claude-code"])];
  const { stdout, stderr, status } = spawnSync(program, args, { input: input ?? "never read", encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

describe("the shell program prints the same as the program for Windows", () => {
  const json = (change: object = {}): string => JSON.stringify({ ...reported, ...change });
  const cases: readonly (readonly [string, string | undefined, string | undefined, string])[] = [
    [
      "everything is known",
      json(),
      summaryText(summary),
      "Opus 4.8 | $0.42 session | $3.20 today | context 8% | 5h 99% (2h 13m) | 7d 41% (3d 0h) | list prices",
    ],
    [
      "indented JSON",
      JSON.stringify(reported, null, 2),
      summaryText(summary),
      "Opus 4.8 | $0.42 session | $3.20 today | context 8% | 5h 99% (2h 13m) | 7d 41% (3d 0h) | list prices",
    ],
    [
      "shells and tmux",
      undefined,
      summaryText(summary),
      "$3.20 today | latest session >=$1.00 (codex) | codex 5h 24% (1h 0m) | list prices",
    ],
    [
      "an older agent reports neither context nor limits",
      json({ context_window: undefined, rate_limits: undefined }),
      summaryText(summary),
      "Opus 4.8 | $0.42 session | $3.20 today | context ?",
    ],
    [
      "context is unknown before the first answer",
      json({ context_window: { used_percentage: null }, rate_limits: {} }),
      summaryText(summary),
      "Opus 4.8 | $0.42 session | $3.20 today | context ?",
    ],
    [
      "a limit that was reset is unknown",
      json({ rate_limits: { five_hour: { used_percentage: 80, resets_at: nowS - 1 } } }),
      summaryText(summary),
      "Opus 4.8 | $0.42 session | $3.20 today | context 8% | 5h ? | list prices",
    ],
    [
      "a session that the store does not have yet",
      json({ session_id: "new", rate_limits: {} }),
      summaryText(summary),
      "Opus 4.8 | ~$0.01 session | $3.20 today | context 8%",
    ],
    [
      "old figures show their time",
      json({ rate_limits: {} }),
      summaryText({ ...summary, atMs: (nowS - 700) * 1000 }),
      `Opus 4.8 | $0.42 session | $3.20 today (as of ${clockOf(nowS - 700)}) | context 8%`,
    ],
    [
      "figures of yesterday are unknown",
      json({ rate_limits: {} }),
      summaryText({ ...summary, untilMs: (nowS - 1) * 1000 }),
      "Opus 4.8 | $0.42 session | ? today | context 8%",
    ],
    [
      "what is left of the month's budget",
      json({ rate_limits: {} }),
      summaryText({ ...summary, budget: "<=$57.90 left" }),
      "Opus 4.8 | $0.42 session | $3.20 today | <=$57.90 left this month | context 8%",
    ],
    [
      "a budget that is exceeded, in shells and tmux",
      undefined,
      summaryText({ ...summary, budget: "$12.00 over budget", limits: [] }),
      "$3.20 today | $12.00 over budget this month | latest session >=$1.00 (codex)",
    ],
    [
      "what was left yesterday is unknown",
      json({ rate_limits: {} }),
      summaryText({ ...summary, budget: "$57.90 left", untilMs: (nowS - 1) * 1000 }),
      "Opus 4.8 | $0.42 session | ? today | ? left this month | context 8%",
    ],
    ["nothing was collected yet", undefined, undefined, "? today"],
    ["a torn file", undefined, summaryText(summary).slice(0, -5), "? today"],
    [
      "a model name with control characters is left out",
      json({ model: { display_name: "Opus\u001b[31m" }, rate_limits: {} }),
      summaryText(summary),
      "$0.42 session | $3.20 today | context 8%",
    ],
    [
      "an id with characters that a pattern could contain",
      json({ session_id: "*", rate_limits: {} }),
      summaryText(summary),
      "Opus 4.8 | ~$0.01 session | $3.20 today | context 8%",
    ],
  ];
  test.each(cases)("%s", (_, input, text, expected) => {
    write(text);
    expect(printed(input)).toBe(`${expected}\n`);
    const asking = input === undefined ? undefined : { agent: "claude-code", input };
    expect(statusLine(asking, parseSummary(text ?? ""), Date.now()).line).toBe(expected);
  });

  test.each([["bash"], ["busybox", "sh"], ["zsh", "--emulate", "sh"], ["ksh"]])("in %s", (...shell) => {
    if (!hasShell(shell[0] ?? "", "the status line in this shell")) return expect(shell[0]).not.toBe("bash");
    write(summaryText(summary));
    expect(printed(json(), shell)).toBe(`${cases[0]?.[3]}\n`);
  });
});

test("the limits that the agent reported are kept as figures only", async () => {
  const path = reportedLimitsPath(join(folder, "state"), "claude-code");
  write(summaryText(summary));
  printed(JSON.stringify(reported));
  const text = readFileSync(path, "utf8");
  expect(text).toBe(`five_hour 99.6 ${nowS + 7_950}\nseven_day 41.2 ${nowS + 260_970}\nend\n`);
  expect(parseLimits(text).map(({ window, percent }) => [window, percent])).toEqual([
    ["five_hour", 99.6],
    ["seven_day", 41.2],
  ]);
  expect(parseLimits(text.slice(0, -2))).toEqual([]);
});

describe.skipIf(process.platform === "win32").each([
  ["a pipe", (path: string) => expect(spawnSync("mkfifo", [path]).status).toBe(0)],
  [
    "a link to a pipe",
    (path: string) => {
      expect(spawnSync("mkfifo", [`${path}.pipe`]).status).toBe(0);
      symlinkSync(`${path}.pipe`, path);
    },
  ],
  [
    "a link to another file",
    (path: string) => {
      writeFileSync(`${path}.other`, "kept");
      symlinkSync(`${path}.other`, path);
    },
  ],
])("%s", (_, make) => {
  test("in place of the figures, of reported limits or of the installed settings blocks nothing", () => {
    const own = mkdtempSync(join(tmpdir(), "openhook-statusline-"));
    const state = join(own, "state");
    mkdirSync(state);
    copyFileSync(SCRIPT, join(own, "statusline"));
    const conf = join(own, "hook.conf");
    const runOnce = () =>
      spawnSync("sh", [join(own, "statusline"), "claude-code"], {
        input: JSON.stringify(reported),
        encoding: "utf8",
        timeout: 20_000,
      });
    try {
      writeFileSync(conf, `state='${state}'\n`);
      writeFileSync(summaryPath(state), summaryText(summary));
      make(reportedLimitsPath(state, "claude-code"));
      expect(runOnce()).toMatchObject({ status: 0, stdout: expect.stringContaining("$0.42 session") });
      const other = `${reportedLimitsPath(state, "claude-code")}.other`;
      if (existsSync(other)) expect(readFileSync(other, "utf8")).toBe("kept");
      rmSync(summaryPath(state));
      make(summaryPath(state));
      expect(runOnce()).toMatchObject({ status: 0, stdout: expect.stringContaining("? today") });
      rmSync(conf);
      make(conf);
      expect(runOnce()).toMatchObject({ status: 0, stdout: expect.stringContaining("? today") });
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  });
});

test("a drain writes the same cost of today and of a session as report shows, only if a status line was set up", async () => {
  const of = new Replay("claude-code", "multi-turn");
  for (const call of of.calls) of.put(call);
  const nowMs = Math.max(...of.calls.map((call) => Date.parse(call.received_at))) + 5_000;
  await of.drain({ endIdle: true }, { now: () => nowMs });
  const path = summaryPath(of.places.stateDir);
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "");
  await of.drain({}, { now: () => nowMs });
  const agents = await allAgents();
  const cost = readStore(of.places.storePath, (db) => usage(db, { agents }, { by: ["session"] }))?.[0]?.calls
    ?.costNanoUsd;
  const shown = parseSummary(readFileSync(path, "utf8"));
  expect(shown?.sessions.map(({ cost: text }) => text)).toEqual([`$${((cost ?? 0) / 1e9).toFixed(2)}`]);
  expect(shown?.today).toBe(`$${((cost ?? 0) / 1e9).toFixed(2)}`);
  const { context, out } = contextAt(of.places, { now: () => nowMs });
  Object.assign(context, { stdin: Readable.from([JSON.stringify({ session_id: shown?.sessions[0]?.id })]) });
  expect(await statusline("claude-code", [";exit", "0"], context)).toBe(0);
  expect(out()).toBe(`${shown?.today} session | ${shown?.today} today | context ?\n`);
  await of.drain({}, { now: () => nowMs + 2 * 86_400_000 });
  expect(parseSummary(readFileSync(path, "utf8"))).toMatchObject({ today: "$0.00", sessions: [] });
  of.remove();
});

test("usage that an agent did not report makes the cost unknown", async () => {
  const of = new Replay("claude-code", "basic", { withTranscripts: false });
  for (const call of of.calls) of.put(call);
  const nowMs = Math.max(...of.calls.map((call) => Date.parse(call.received_at))) + 5_000;
  mkdirSync(of.places.stateDir, { recursive: true });
  writeFileSync(summaryPath(of.places.stateDir), "");
  await of.drain({ endIdle: true }, { now: () => nowMs });
  const shown = parseSummary(readFileSync(summaryPath(of.places.stateDir), "utf8"));
  expect([shown?.today, shown?.sessions[0]?.cost]).toEqual(["?", "?"]);
  of.remove();
});

test("on Windows, the line starts the installed copy, whatever version that is", () => {
  const places = placesOf({
    env: { LOCALAPPDATA: "C:/Users/dev/AppData/Local" },
    home: "C:/Users/dev",
    platform: "win32",
  });
  const { context } = contextAt(places);
  const onWindows = { ...context, platform: "win32", nodePath: "C:\\node\\node.exe" } as const;
  expect(statusLineCommandOf(onWindows, "claude-code")).toBe(
    "C:\\\\node\\\\node.exe C:/Users/dev/AppData/Local/openhook-otel/statusline.cjs claude-code ;exit 0 #openhook-otel& exit 0",
  );
  const starter = join(folder, "statusline.cjs");
  copyFileSync(join(ROOT, "src", "show", "statusline", "statusline.cjs"), starter);
  const copy = join(folder, "it's 1.2.3.cjs");
  const printed = (): unknown => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [starter, "claude-code", ";exit", "0"], {
      env: { OPENHOOK_OTEL_HOME: "/of/a/repository" },
      encoding: "utf8",
    });
    return [status, stderr, stdout];
  };
  expect(printed()).toEqual([0, "", ""]);
  const conf = readFileSync(join(folder, "hook.conf"), "utf8");
  writeFileSync(join(folder, "hook.conf"), `${conf}program='${copy.replace("'", "'\\''")}'\n`);
  expect(printed()).toEqual([0, "", ""]);
  writeFileSync(copy, "console.log(...process.argv.slice(2), process.env.OPENHOOK_OTEL_HOME)");
  expect(printed()).toEqual([0, "", `statusline claude-code ;exit 0 ${join(folder, "state")}\n`]);
  writeFileSync(join(folder, "hook.conf"), conf);
});

test.each<[string, Partial<CallSums>, isUsageUnknown: boolean]>([
  ["$0.00", {}, false],
  ["?", {}, true],
  ["?", { modelCalls: 1, unpricedCalls: 1 }, false],
  ["?", { aggregateRecords: 1 }, false],
  ["$0.42", { modelCalls: 1, costNanoUsd: 0.42e9 }, false],
  [">=$0.42", { modelCalls: 2, costNanoUsd: 0.42e9, unpricedCalls: 1 }, false],
  [">=$0.42", { modelCalls: 1, costNanoUsd: 0.42e9, incompleteCalls: 1 }, false],
  [">=$0.42", { modelCalls: 1, costNanoUsd: 0.42e9 }, true],
  ["<$0.01", { modelCalls: 1, costNanoUsd: 9_999_999 }, false],
  [">=$0.00", { modelCalls: 2, costNanoUsd: 9_999_999, unpricedCalls: 1 }, false],
  ["$0.01", { modelCalls: 1, costNanoUsd: 10_000_000 }, false],
])("%s is the cost of %j, usage unknown: %s", (text, sums, isUsageUnknown) => {
  expect(costOf({ ...NO_CALLS, ...sums }, isUsageUnknown)).toBe(text);
});

describe("enable --statusline", () => {
  const SETTINGS = '{\n  // mine\n  "model": "opus"\n}\n';
  const lookup = {
    list: allAgents,
    find: async (source: string) => (await allAgents()).find((agent) => agent.source === source),
  };
  async function home(settings: string) {
    const of = new Replay("claude-code", "basic", { withTranscripts: false });
    const path = join(of.home, ".claude", "settings.json");
    mkdirSync(join(of.home, ".claude"), { recursive: true });
    writeFileSync(path, settings);
    const { context, out } = contextAt(of.places, { env: { PATH: join(of.home, "bin") } });
    const hookSource = join(of.home, "hook.sh");
    copyFileSync(join(ROOT, "src", "collect", "intake", "hook.sh"), hookSource);
    copyFileSync(SCRIPT, join(of.home, "statusline.sh"));
    const options = { scope: "user", yes: true, dryRun: false } as const;
    return {
      path,
      out,
      of,
      on: (change: object = {}) =>
        enable(["claude-code"], { ...options, hookSource, statusline: true, ...change }, context, lookup),
      off: () => disable(["claude-code"], options, context, lookup),
      read: () => readFileSync(path, "utf8"),
    };
  }

  test("adds a status line that prints, keeps it at the next enable, and disable restores the file byte for byte", async () => {
    const { of, out, on, off, read } = await home(SETTINGS);
    await on({ statusline: false });
    expect(read()).not.toContain("statusLine");
    await on();
    expect(out()).toContain("its status line shows cost, context and limits");
    const command = /"statusLine": \{\s*"type": "command",\s*"command": (".*")/.exec(read())?.[1] ?? "";
    const { stdout } = spawnSync("sh", ["-c", JSON.parse(command)], {
      input: "{}",
      encoding: "utf8",
      env: { HOME: of.home, PATH: process.env["PATH"] },
    });
    expect(stdout).toBe("? session | ? today | context ?\n");
    await on({ statusline: false });
    expect(read()).toContain("statusLine");
    await on();
    expect(out()).toContain("its status line already shows cost, context and limits");
    await off();
    expect(read()).toBe(SETTINGS);
    expect(existsSync(summaryPath(of.places.stateDir))).toBe(false);
    of.remove();
  });

  test("a status line of the user stays, and the message says so", async () => {
    const { of, out, on, off, read } = await home('{ "statusLine": { "type": "command", "command": "~/mine.sh" } }\n');
    await on();
    expect(out()).toContain("! Claude Code already has a status line, which stays as it is");
    expect(JSON.parse(read()).statusLine.command).toBe("~/mine.sh");
    await off();
    expect(read()).toBe('{ "statusLine": { "type": "command", "command": "~/mine.sh" } }\n');
    of.remove();
  });

  test("after other changes to the file, disable removes only our status line", async () => {
    const { of, path, on, off, read } = await home(SETTINGS);
    await on();
    writeFileSync(path, read().replace('"opus"', '"sonnet"'));
    await off();
    expect(read()).toBe(SETTINGS.replace('"opus"', '"sonnet"'));
    of.remove();
  });
});

// --- internal ---

function clockOf(seconds: number): string {
  const at = new Date(seconds * 1000);
  return [at.getHours(), at.getMinutes()].map((n) => String(n).padStart(2, "0")).join(":");
}
