import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { hooksJson } from "#show/report/hooks/json.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { install } from "./install.ts";
import { Machine } from "./machine.ts";
import { startModelServer } from "./model-server.ts";
import { play } from "./play.ts";
import { claudeCode } from "./programs/claude-code.ts";
import { copilot } from "./programs/copilot.ts";
import { droid } from "./programs/droid.ts";
import { grok } from "./programs/grok.ts";
import { openhands } from "./programs/openhands.ts";
import { type Program, toolsOf } from "./programs/program.ts";

// Hooks of a user, beside ours, which keep a log of their own: `report hook` says of them what the log says

const CACHE = resolve(process.env["OPENHOOK_LIVE_CACHE"] ?? join(ROOT, "node_modules", ".cache", "openhook-live"));

beforeAll(ensureBuilt);

/** Reads the payload, and writes its name and exit code into the log. */
const SCRIPTS = {
  guard: 'case "$input" in *forbidden*) end 2;; esac; end 0',
  notes: "echo '{}'; end 0",
  broken: "end 1",
  slow: "sleep 0.2; end 0",
};
const scriptText = (name: string, body: string): string =>
  `#!/bin/sh\ninput=$(cat)\nend() { echo "${name}.sh $1" >> "$HOME/own/log"; exit $1; }\n${body}\n`;

/** Before a tool, after it, and at the end of a turn, by the agent's names. */
type Events = readonly [before: string, after: string, stop: string];

const nested = (home: string, [before, after, stop]: Events) => {
  const entry = (name: string) => ({
    matcher: "*",
    hooks: [{ type: "command", command: `${home}/own/${name}.sh --as asked`, timeout: 20 }],
  });
  return { [before]: [entry("guard"), entry("notes")], [after]: [entry("broken")], [stop]: [entry("slow")] };
};

const PASCAL: Events = ["PreToolUse", "PostToolUse", "Stop"];

interface Hooked {
  readonly program: Program;
  /** Its file of hooks, below the home folder, and what is in it. */
  readonly file: string;
  readonly hooks: (home: string) => object;
  /** `all`: it writes every run down. `ends`: of other events than a turn's end those that failed, blocked or printed. `places`: by place, not by name. */
  readonly writes: "all" | "ends" | "places" | "without names";
}

const HOOKED: readonly Hooked[] = [
  {
    program: claudeCode,
    file: ".claude/settings.json",
    hooks: (home) => ({ hooks: nested(home, PASCAL) }),
    writes: "ends",
  },
  { program: droid, file: ".factory/hooks.json", hooks: (home) => nested(home, PASCAL), writes: "all" },
  { program: grok, file: ".grok/hooks/own.json", hooks: (home) => ({ hooks: nested(home, PASCAL) }), writes: "places" },
  {
    program: openhands,
    file: ".openhands/hooks.json",
    hooks: (home) => nested(home, ["pre_tool_use", "post_tool_use", "stop"]),
    writes: "all",
  },
  {
    program: copilot,
    file: ".copilot/hooks/own.json",
    hooks(home) {
      const entry = (name: string) => ({ type: "command", bash: `${home}/own/${name}.sh`, timeoutSec: 20 });
      return {
        version: 1,
        hooks: {
          preToolUse: [entry("guard"), entry("notes")],
          postToolUse: [entry("broken")],
          agentStop: [entry("slow")],
        },
      };
    },
    writes: "without names",
  },
];

test.each(HOOKED)("$program.source: runs, failures and refusals", async ({ program, file, hooks, writes }) => {
  const installed = install(program, CACHE);
  const machine = new Machine(PROGRAM, installed);
  onTestFinished(() => machine.remove());
  const { project, home } = machine;
  const t = toolsOf(program, { project, model: program.model });
  const script = {
    main: [
      { tools: [t.read("README.md")], usage: { input: 101, output: 5 } },
      { tools: [t.shell("echo forbidden")], usage: { input: 103, output: 6 } },
      { text: "Not allowed.", usage: { input: 107, output: 7 } },
    ],
  };
  const server = await startModelServer(program.api, script, program.askerOf);
  onTestFinished(() => server.close());
  const place = { home, project, model: program.model, url: server.url };
  machine.settle(program, place, installed);
  mkdirSync(join(home, "own"));
  for (const [name, body] of Object.entries(SCRIPTS))
    writeFileSync(join(home, "own", `${name}.sh`), scriptText(name, body), { mode: 0o755 });
  const path = join(home, file);
  const before: object = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ ...before, ...hooks(home) }));
  await machine.openhook("enable", program.source);
  await play(program, { prompt: "Read it and print it" }, machine, place);
  await machine.drained();
  expect(server.problems()).toEqual([]);

  const logged = countsOf(
    readFileSync(join(home, "own", "log"), "utf8")
      .trim()
      .split("\n"),
  );
  const report = JSON.parse(await machine.openhook("report", "hook", "--json")) as ReturnType<typeof hooksJson>;
  const written = Object.fromEntries(
    report.rows.map(({ hook, event, ...row }) => [hook ?? event, [row.runs, row.failed, row.blocked]]),
  );
  expect(report).toMatchObject({ sessions_read: 1, sessions_to_read: 1 });
  if (writes === "all") expect(written).toEqual(logged);
  // A call that was refused after another hook had said nothing
  if (writes === "ends") expect(written).toEqual({ ...logged, "guard.sh": [1, 0, 1] });
  const { runs, failed, blocked } = report.total ?? {};
  if (writes === "places") expect([runs, failed, blocked]).toEqual(sumOf(Object.values(logged)));
  // Ours are in the same rows, and all hooks of an event are one run
  if (writes === "without names") expect([failed, blocked]).toEqual(sumOf(Object.values(logged)).slice(1));
  else expect(report.own_hook?.runs).toBeGreaterThan(0);
});

// --- internal ---

type Counts = readonly [runs: number, failed: number, blocked: number];

/** By script. */
function countsOf(lines: readonly string[]): Readonly<Record<string, readonly number[]>> {
  const counts = new Map<string, Counts>();
  for (const line of lines) {
    const [name = "", code] = line.split(" ");
    const [runs, failed, blocked] = counts.get(name) ?? [0, 0, 0];
    counts.set(name, [runs + 1, failed + Number(code === "1"), blocked + Number(code === "2")]);
  }
  return Object.fromEntries(counts);
}

const sumOf = (all: readonly (readonly (number | null)[])[]): readonly number[] =>
  [0, 1, 2].map((at) => all.reduce((sum, counts) => sum + (counts[at] ?? 0), 0));
