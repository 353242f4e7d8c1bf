// Runs the plugin as Amp does: loads the installed file and calls its handlers.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { adapter, toEntries, toFileWrites } from "#agents/amp/adapter.ts";
import installer from "#agents/amp/installer.ts";
import { parseInboxFile } from "#collect/intake/inbox-file.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const PROJECT = "/home/dev/acme-shop";
const target = { home: "/home/dev", project: PROJECT, env: {} };
const THREAD = { id: "T-019be45c-0000-7000-8000-000000000001" };

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-amp-"));
  const folder = join(home, ".local", "share", "openhook-otel");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "hook.conf"),
    `state='${home}/state'\nnode='${process.execPath}'\nprogram='${home}/none'\n`,
  );
  const registration = { scope: "user", target, command: () => "", version: undefined } as const;
  const [file] = installer.add([{ path: "", text: undefined }], registration);
  writeFileSync(join(home, "plugin.mjs"), file?.text ?? "");
  writeFileSync(join(home, "host.mjs"), HOST);
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

/** A process with the plugin, which prints what its handlers return. */
const HOST = `
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
const { default: plugin } = await import("./plugin.mjs");
const handlers = {};
const broken = process.env.BROKEN === "yes";
plugin({
  on: (name, handler) => { (handlers[name] ??= []).push(handler); },
  system: broken ? undefined : { workspaceRoot: pathToFileURL("${PROJECT}") },
  helpers: {
    filePathFromURI: (uri) => fileURLToPath(String(uri)),
    filesModifiedByToolCall: (event) => {
      if (broken) throw new Error("no");
      return event.input?.path === undefined ? null : [pathToFileURL(event.input.path)];
    },
  },
});
const answers = [];
for (const { name, event } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  for (const handler of handlers[name] ?? []) answers.push([name, await handler(event, {})]);
}
console.log(JSON.stringify({ names: Object.keys(handlers), answers }));
`;

interface Call {
  readonly name: string;
  readonly event: object;
}

/** Plays events in a separate process. @returns the answers, and what a drain finds in the inbox */
function play(calls: readonly Call[], env: NodeJS.ProcessEnv = {}) {
  const script = join(home, "calls.json");
  writeFileSync(script, JSON.stringify(calls));
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(home, "host.mjs"), script], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: home, OPENHOOK_OTEL_DRAIN: "off", ...env },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const inbox = join(home, "state", "inbox");
  const texts = existsSync(inbox) ? readdirSync(inbox).map((name) => readFileSync(join(inbox, name))) : [];
  const payloads = texts.map((text) => {
    const parsed = parseInboxFile(text, 0);
    if (!parsed.ok) throw new Error(parsed.reason);
    const payload: unknown = JSON.parse(parsed.payload.toString());
    expect(adapter.recognises(payload, parsed.facts)).toBe("certain");
    const events = adapter.toEvents(payload, parsed.facts);
    const entries = toEntries(payload, parsed.facts);
    return { events, entries, writes: toFileWrites(payload, { events, entries }) };
  });
  return {
    ...(JSON.parse(stdout) as { readonly names: readonly string[]; readonly answers: readonly unknown[] }),
    events: payloads.flatMap(({ events }) => events),
    entries: payloads.flatMap(({ entries }) => entries),
    writes: payloads.flatMap(({ writes }) => writes),
    texts: texts.map(String),
  };
}

const recorded = (
  name: string,
): readonly { readonly stdin: { readonly event: object & { readonly type: string } } }[] =>
  readFileSync(join(HERE, name, "hooks.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("plugin", () => {
  test.each(["basic", "fork", "ledger"])(
    "%s: its files have no text, and give the same events as Amp's own",
    (name) => {
      const stdins = recorded(name).map(({ stdin }) => stdin);
      const facts = { timeMs: 0, env: {}, payloadBytes: 0, truncated: false };
      const direct = stdins.flatMap((stdin) => adapter.toEvents(stdin, facts));
      const { events, texts } = play(stdins.map(({ event }) => ({ name: event.type, event })));
      const essence = (all: typeof events) =>
        all
          .map((event) => {
            const { exit_code, prompt_id, error_type } = extrasOf(event);
            const data = "data" in event ? event.data : undefined;
            return JSON.stringify([event.type, event.session_id, data, exit_code, prompt_id, error_type]);
          })
          .sort();
      expect(essence(events)).toEqual(essence(direct));
      for (const event of events) expect(event.cwd).toBe(PROJECT);
      for (const text of texts) expect(text).not.toMatch(/Fix the|npm test|failed|floor|library|no such|\bhi\b/);
    },
  );

  test("answers nothing that changes a prompt or a result, and decides nothing", () => {
    const { names, answers } = play([
      { name: "agent.start", event: { thread: THREAD, id: "m1", message: "Sell apples" } },
      { name: "tool.result", event: { thread: THREAD, toolUseID: "t1", tool: "Bash", input: {}, status: "done" } },
      { name: "agent.end", event: { thread: THREAD, id: "m1", message: "Sell apples", status: "done", messages: [] } },
    ]);
    expect(names).toEqual(["agent.start", "tool.result", "agent.end"]);
    expect(answers).toEqual([
      ["agent.start", {}],
      ["tool.result", null],
      ["agent.end", null],
    ]);
  });

  test("survives missing members and helpers that fail", () => {
    const { events } = play(
      [
        { name: "agent.start", event: {} },
        { name: "tool.result", event: { thread: THREAD, toolUseID: "t1", tool: "Bash", status: "done" } },
        { name: "agent.end", event: { thread: { id: 7 } } },
      ],
      { BROKEN: "yes" },
    );
    expect(events.map(({ type }) => type)).toEqual(["tool.end"]);
  });

  test("one event from two plugins is one event", () => {
    const call = { name: "agent.start", event: { thread: THREAD, id: 4, message: "Sell apples" } };
    play([call]);
    const { events } = play([call]);
    expect(events).toHaveLength(2);
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
  });

  test("names the files that a call changed; a failed call changed none", () => {
    const edit = (toolUseID: string, status: string) => ({
      name: "tool.result",
      event: { thread: THREAD, toolUseID, tool: "edit_file", input: { path: `${PROJECT}/a.js` }, status },
    });
    expect(play([edit("t1", "done"), edit("t2", "error")]).writes).toEqual([{ path: `${PROJECT}/a.js` }]);
  });

  test("a cancelled turn is an interruption, a failed one an error", () => {
    const { events, entries } = play(
      ["cancelled", "error"].map((status, id) => ({ name: "agent.end", event: { thread: THREAD, id, status } })),
    );
    expect(events.map(({ type }) => type).sort()).toEqual(["turn.end", "turn.error"]);
    expect(entries).toMatchObject([{ kind: "interruption", promptKey: "0" }]);
  });
});
