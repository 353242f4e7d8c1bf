// Runs the plugins of OpenCode and Kilo as these do: loads the installed file and calls it with their arguments.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import kiloCard from "#agents/kilo/index.ts";
import kilo from "#agents/kilo/installer.ts";
import opencodeCard from "#agents/opencode/index.ts";
import opencode from "#agents/opencode/installer.ts";
import { formatEnd, formatHead, parseInboxFile, processStart } from "#collect/intake/inbox-file.ts";
import { decodePayload } from "#collect/intake/payload.ts";
import type { Event } from "#core/model/event-schema.ts";
import { hostHere } from "../../support/host.ts";

const CASES = dirname(dirname(fileURLToPath(import.meta.url)));
const INSTALLERS = { opencode, kilo };
const ADAPTERS = { opencode: opencodeCard, kilo: kiloCard };
type Source = keyof typeof INSTALLERS;
const SOURCES: readonly Source[] = ["opencode", "kilo"];

const installed = mkdtempSync(join(tmpdir(), "openhook-plugin-"));
afterAll(() => rmSync(installed, { recursive: true, force: true, maxRetries: 10 }));

const PROJECT = "/home/dev/acme-shop";
const S = "ses_e0353a808ffe1kcC0bzNbPqEgM";
const NOW = Date.UTC(2026, 10, 21, 9);

type Hook = (input?: unknown, output?: unknown) => Promise<void>;
type Hooks = Readonly<Record<string, Hook>>;

/** Loads the plugin as it is installed, in one file. */
async function load(given: unknown = { directory: PROJECT }, source: Source = "opencode"): Promise<Hooks> {
  const { OpenhookOtel } = (await import(installedFile(source))) as {
    OpenhookOtel: (given: unknown) => Promise<Hooks>;
  };
  return OpenhookOtel(given);
}

function installedFile(source: Source): string {
  const command = () => `[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook ${source}`;
  const target = { home: "/home/dev", project: PROJECT, env: {} };
  const registration = { scope: "user", target, command, version: undefined } as const;
  const [file] = INSTALLERS[source].add([{ path: "", text: undefined }], registration);
  const path = join(installed, `${source}.mjs`);
  if (!existsSync(path)) writeFileSync(path, file?.text ?? "");
  return path;
}

/** Calls a hook by its name in recordings. */
async function call(hooks: Hooks, event: string, input?: unknown, output?: unknown): Promise<void> {
  const answer = await hooks[event.startsWith("event:") ? "event" : event]?.(input, output);
  expect(answer).toBeUndefined();
}

const bus = (type: string, properties: object) => ({ event: { id: `evt_${type}`, type, properties } });
const created = (id: string, parentID?: string) =>
  bus("session.created", { info: { id, parentID, directory: PROJECT, version: "1.18.33", time: { created: NOW } } });
const message = (id: string, text = "Sell apples") => ({
  message: { id, role: "user", time: { created: NOW } },
  parts: [{ type: "text", text }],
});

let home = "";
let inbox = "";
let before: NodeJS.ProcessEnv;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
  before = { ...process.env };
  home = mkdtempSync(join(tmpdir(), "openhook-plugin-"));
  inbox = join(home, "state of 'mine'", "inbox");
  for (const name of [
    "OPENHOOK_OTEL_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "OPENCODE_DB",
    "KILO_DB",
    "LOCALAPPDATA",
  ])
    delete process.env[name];
  process.env["HOME"] = home;
  process.env["OPENHOOK_OTEL_DRAIN"] = "off";
  install();
});
afterEach(() => {
  vi.useRealTimers();
  process.env = before;
  chmodSync(home, 0o700);
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

/** Installs what `enable` installs. */
function install(program = join(home, "program.cjs"), folder = join(home, ".local", "share", "openhook-otel")): void {
  mkdirSync(folder, { recursive: true });
  const state = join(home, "state of '\\''mine'\\''");
  writeFileSync(
    join(folder, "hook.conf"),
    `state='${state}'\nnode='${process.execPath}'\nprogram='${program}'\n`.replace(/^state=''/, ""),
  );
}

const names = (folder = inbox): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder).sort((a, b) => Number(/(\d+)\.evt/.exec(a)?.[1]) - Number(/(\d+)\.evt/.exec(b)?.[1]))
    : [];

/** The inbox as a drain reads it. */
const waiting = (folder = inbox) =>
  names(folder).map((name) => {
    const parsed = parseInboxFile(readFileSync(join(folder, name)), NOW);
    if (!parsed.ok) throw new Error(parsed.reason);
    const decoded = decodePayload(parsed.payload);
    if (!decoded.ok) throw new Error(decoded.reason);
    return { facts: parsed.facts, end: parsed.end, payload: decoded.value as { readonly input: object } };
  });

/** Only its own adapter recognises a payload, whatever the command line says. */
const writtenEvents = (source: Source = "opencode"): readonly Event[] =>
  waiting().flatMap(({ payload, facts }) => {
    for (const name of SOURCES) {
      for (const named of [...SOURCES, "codex"]) {
        const expected = name === source ? "certain" : "no";
        expect(ADAPTERS[name].recognises(payload, { ...facts, source: named })).toBe(expected);
      }
    }
    return ADAPTERS[source].toEvents(payload, facts);
  });

describe("events", () => {
  const cases = SOURCES.flatMap((source) =>
    readdirSync(join(CASES, source), { withFileTypes: true }).flatMap((e) =>
      e.isDirectory() ? [[source, e.name] as const] : [],
    ),
  );

  test.each(cases)("%s %s: gives the events and calls of the agent's full output", async (source, name) => {
    const { toEntries, toEvents } = ADAPTERS[source];
    const lines = readFileSync(join(CASES, source, name, "hooks.jsonl"), "utf8")
      .trim()
      .split("\n");
    const direct: Event[] = [];
    const calls = new Map<string, unknown>();
    let hooks = await load({ directory: PROJECT }, source);
    for (const line of lines) {
      const { received_at, event, stdin } = JSON.parse(line) as {
        received_at: string;
        event: string;
        stdin: { input: unknown; output: unknown };
      };
      vi.setSystemTime(Date.parse(received_at));
      const facts = { event, timeMs: Date.now(), env: { HOME: home }, payloadBytes: 0, truncated: false };
      direct.push(...toEvents(stdin, facts));
      for (const entry of toEntries(stdin, facts)) calls.set(entry.key, entry);
      await call(hooks, event, stdin.input, stdin.output);
      // The next process
      if (event === "dispose") hooks = await load({ directory: PROJECT }, source);
    }
    const own = new Set(["dispose", "session.resumed"]);
    const essence = (events: readonly Event[]) =>
      events
        .filter((event) => !own.has(String(event.extensions?.["native_event"])))
        // The plugin knows a subagent's parent session, so the subagent's task is no prompt and its end is not a turn's
        .filter((event) => !children.has(event.session_id))
        .map(({ id, type, time, session_id, ...rest }) => ({
          // The end of a turn has the id of session.status if that came first
          id: type === "turn.end" ? undefined : id,
          type,
          time: type === "tool.start" || type === "turn.end" ? undefined : time,
          session_id,
          data: "data" in rest ? rest.data : undefined,
        }))
        .filter((event, index, all) => all.findIndex(({ id }) => id === event.id) === index);
    const children = new Set(direct.filter(({ type }) => type === "subagent.start").map((event) => event.session_id));
    const written = writtenEvents(source);
    expect(essence(written)).toEqual(essence(direct));
    const entries = waiting().flatMap(({ payload, facts }) => toEntries(payload, facts));
    const sorted = (list: readonly unknown[]) => list.map((entry) => JSON.stringify(entry)).sort();
    const isRetry = (text: string) => text.includes('"final":false');
    expect(sorted([...new Map(entries.map((e) => [e.key, e])).values()]).filter((text) => !isRetry(text))).toEqual(
      sorted([...calls.values()]).filter((text) => !isRetry(text)),
    );
    for (const child of children) {
      const types = written.filter((event) => event.session_id === child).map((event) => event.type);
      expect(types).toContain("subagent.end");
      expect(types).not.toContain("prompt.submit");
    }
    // Every active session ends with its process; resumed sessions start again
    const ends = written.filter((event) => event.type === "session.end");
    const roots = new Set(written.filter((event) => event.type === "prompt.submit").map((event) => event.session_id));
    expect(new Set(ends.map((event) => event.session_id))).toEqual(name === "killed" ? new Set() : roots);
    if (name === "multi-turn") expect(ends).toHaveLength(3);
    const starts = written.filter((event) => event.type === "session.start");
    expect(starts.length).toBe(name === "killed" ? 1 : ends.length);
    // No content
    const all = names().map((file) => readFileSync(join(inbox, file), "utf8"));
    for (const text of all) {
      expect(text).not.toMatch(
        /Acme session|demo shop|SUBTASK|sleep 25|cat README|rm -rf src|bad request|const discount/,
      );
    }
  });

  test.each([
    ["opencode", "OPENCODE_DB"],
    ["kilo", "KILO_DB"],
  ] as const)("of %s are inbox files in the format of hook.sh and its Node twin", async (source, variable) => {
    process.env["XDG_DATA_HOME"] = "/data";
    process.env[variable] = "mine.db";
    const hooks = await load({ directory: PROJECT }, source);
    await call(hooks, "event", created(S));
    const [name = ""] = names();
    expect(name).toBe(`${process.pid}-${process.pid}-${/(\d+)\.evt$/.exec(name)?.[1]}.evt`);
    const text = readFileSync(join(inbox, name), "utf8");
    const head = formatHead({
      source,
      event: "event:session.created",
      ppid: process.pid,
      pid: process.pid,
      cwd: PROJECT,
      env: { HOME: home, XDG_DATA_HOME: "/data", [variable]: "mine.db" },
    });
    const lines = (part: string) => part.split("\n").sort();
    expect(lines(text.slice(0, text.indexOf("\n\n") + 2))).toEqual(lines(head));
    const start = existsSync("/proc/self/stat") ? processStart(readFileSync("/proc/self/stat", "latin1")) : undefined;
    const host = hostHere();
    expect(text.endsWith(formatEnd("whole", start, host === "" ? {} : { host }))).toBe(true);
    expect(statSync(join(inbox, name)).mode & 0o777).toBe(0o600);
    expect(statSync(inbox).mode & 0o777).toBe(0o700);
    expect(waiting()[0]).toMatchObject({
      end: "whole",
      facts: { source, cwd: PROJECT, parentPid: process.pid, env: { XDG_DATA_HOME: "/data", [variable]: "mine.db" } },
    });
  });

  test("skip a file name that exists", async () => {
    const hooks = await load();
    await call(hooks, "event", created(S));
    const next = Number(/(\d+)\.evt$/.exec(names()[0] ?? "")?.[1]) + 1;
    writeFileSync(join(inbox, `${process.pid}-${process.pid}-${next}.evt`), "another file");
    await call(hooks, "event", bus("session.compacted", { sessionID: S }));
    expect(names()).toHaveLength(3);
    expect(readFileSync(join(inbox, `${process.pid}-${process.pid}-${next}.evt`), "utf8")).toBe("another file");
  });

  test("a resumed session starts, and a new one does not start twice", async () => {
    const hooks = await load();
    await call(hooks, "chat.message", { sessionID: S }, message("msg_1"));
    await call(hooks, "chat.message", { sessionID: S }, message("msg_2"));
    await call(hooks, "event", created("ses_new"));
    await call(hooks, "chat.message", { sessionID: "ses_new" }, message("msg_3"));
    expect(writtenEvents().map(({ type, session_id }) => `${type} ${session_id.slice(0, 7)}`)).toEqual([
      "session.start ses_e03",
      "prompt.submit ses_e03",
      "prompt.submit ses_e03",
      "session.start ses_new",
      "prompt.submit ses_new",
    ]);
    expect(writtenEvents()[0]).toMatchObject({ extensions: { continues: "same-session" } });
  });

  test("a turn's end has its prompt's id", async () => {
    const hooks = await load();
    await call(hooks, "event", created(S));
    await call(hooks, "chat.message", { sessionID: S }, message("msg_1"));
    const own = { message: { id: "msg_2" }, parts: [{ type: "text", text: "Result", synthetic: true }] };
    await call(hooks, "chat.message", { sessionID: S }, own);
    await call(hooks, "event", bus("session.idle", { sessionID: S }));
    expect(writtenEvents().at(-1)).toMatchObject({ type: "turn.end", extensions: { prompt_id: "msg_1" } });
  });

  test("an answer records whether a model was called for it", async () => {
    const hooks = await load();
    await call(hooks, "event", bus("message.part.updated", { part: { type: "step-start", messageID: "msg_1" } }));
    for (const id of ["msg_1", "msg_2"]) {
      const info = {
        id,
        role: "assistant",
        sessionID: S,
        finish: "tool-calls",
        time: { created: NOW, completed: NOW },
      };
      await call(hooks, "event", bus("message.updated", { info }));
    }
    const texts = names().map((file) => readFileSync(join(inbox, file), "utf8"));
    expect(texts.map((text) => /"isAsked":(\w+)/.exec(text)?.[1])).toEqual(["true", "false"]);
  });

  test("frequent or useless events are not written", async () => {
    const hooks = await load();
    const part = { type: "tool", sessionID: S, id: "prt_1", callID: "c", tool: "bash" };
    const old = NOW - 3_600_000;
    const ahead = Date.now() + 3_600_000;
    for (const event of [
      bus("message.part.delta", { sessionID: S, delta: "x" }),
      bus("message.part.updated", { part: { ...part, state: { status: "running" } } }),
      bus("message.part.updated", { part: { ...part, state: { status: "error", time: { start: old, end: old } } } }),
      bus("message.updated", { info: { id: "msg_1", role: "assistant", sessionID: S, time: { created: NOW } } }),
      bus("message.updated", { info: { id: "msg_1", role: "assistant", sessionID: S, time: { completed: old } } }),
      bus("message.updated", { info: { id: "msg_1", role: "assistant", sessionID: S, time: { completed: ahead } } }),
      bus("message.updated", { info: { id: "msg_1", role: "user", sessionID: S, time: { created: NOW } } }),
      bus("session.updated", { info: { id: S, time: {} } }),
      bus("session.status", { sessionID: S, status: { type: "busy" } }),
      bus("plugin.added", { id: "x" }),
      bus("constructor", {}),
      bus("toString", {}),
    ])
      await call(hooks, "event", event);
    expect(names()).toEqual([]);
  });

  test("a file stays small, however large the event", async () => {
    const hooks = await load();
    const huge = "x".repeat(5_000_000);
    const many = Array.from({ length: 50_000 }, () => ({ type: "text", text: huge }));
    await call(hooks, "chat.message", { sessionID: S }, { message: { id: "msg_1" }, parts: many });
    await call(hooks, "event", bus("session.status", { sessionID: S, status: { type: "retry", message: huge } }));
    await call(hooks, "tool.execute.before", { tool: huge, sessionID: S, callID: "c" }, { args: { command: huge } });
    expect(names().length).toBeGreaterThanOrEqual(3);
    for (const name of names()) expect(statSync(join(inbox, name)).size).toBeLessThan(70_000);
  });
});

describe("OpenCode is never disturbed", () => {
  const trap = (): unknown =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
        ownKeys: () => {
          throw new Error("no");
        },
        has: () => {
          throw new Error("no");
        },
      },
    );
  const throwing = {
    get sessionID(): string {
      throw new Error("no");
    },
  };
  const circular: Record<string, unknown> = { tool: "bash", sessionID: S, callID: "c" };
  circular["args"] = circular;
  const garbage = [
    undefined,
    null,
    0,
    "",
    "x",
    true,
    Symbol("x"),
    1n,
    [],
    {},
    () => 1,
    Object.freeze({}),
    trap(),
    throwing,
  ];
  const bent = [
    circular,
    Object.freeze({ tool: "invalid", sessionID: S, callID: "c", args: Object.freeze({ tool: 7 }) }),
    { tool: 7, sessionID: { id: S }, callID: [] },
    { sessionID: S, message: trap(), parts: trap() },
    { event: trap() },
    ...[
      "session.created",
      "session.updated",
      "session.idle",
      "session.error",
      "session.status",
      "session.deleted",
    ].flatMap((type) => garbage.map((properties) => ({ event: { id: 1, type, properties } }))),
    ...["message.updated", "message.part.updated"].flatMap((type) =>
      garbage.map((thing) => ({ event: { type, properties: { info: thing, part: thing } } })),
    ),
  ];

  test("by any hook arguments", async () => {
    for (const given of [...garbage, { directory: PROJECT }]) {
      const hooks = await load(given);
      for (const hook of Object.values(hooks)) {
        for (const input of [...garbage, ...bent]) {
          for (const output of [undefined, trap(), Object.freeze({ args: trap(), metadata: trap() }), circular]) {
            await expect(hook(input, output)).resolves.toBeUndefined();
          }
        }
      }
    }
  });

  test("by changed arguments or results", async () => {
    const hooks = await load();
    const output = { args: { command: "ls" }, metadata: { exit: 0 }, title: "ls", output: "a" };
    const copy = structuredClone(output);
    await call(hooks, "tool.execute.before", { tool: "bash", sessionID: S, callID: "c" }, output);
    await call(hooks, "tool.execute.after", { tool: "bash", sessionID: S, callID: "c", args: {} }, output);
    expect(output).toEqual(copy);
    expect(writtenEvents().map(({ type }) => type)).toEqual(["tool.start", "tool.end"]);
  });

  test("by an inbox that is a file or cannot be created", async () => {
    const hooks = await load();
    mkdirSync(dirname(inbox), { recursive: true });
    writeFileSync(inbox, "");
    await call(hooks, "event", created(S));
    await call(hooks, "dispose");
    rmSync(dirname(inbox), { recursive: true });
    writeFileSync(dirname(inbox), "");
    await call(hooks, "chat.message", { sessionID: S }, message("msg_1"));
  });

  test.skipIf(process.platform === "win32")("by a full disk, which leaves only an empty .lost file", () => {
    const script = [
      `const { OpenhookOtel } = await import(${JSON.stringify(installedFile("opencode"))});`,
      `const hooks = await OpenhookOtel({ directory: ${JSON.stringify(PROJECT)} });`,
      `await hooks.event(${JSON.stringify(created(S))});`,
    ].join("\n");
    const node = [process.execPath, "--input-type=module", "-e", script];
    const { status, stdout, stderr } = spawnSync("sh", ["-c", 'ulimit -f 0; exec "$@"', "sh", ...node], {
      encoding: "utf8",
      // Tests replace `process.env`, which Node 26 does not see
      env: process.env,
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
    const [left, ...others] = readdirSync(inbox);
    expect(left).toMatch(/^\d+-\d+-0\.lost$/);
    expect(statSync(join(inbox, String(left))).size).toBe(0);
    expect(others).toEqual([]);
  });

  test("by a missing installation: nothing is written until it is back", async () => {
    const hooks = await load();
    await call(hooks, "event", created(S));
    expect(names()).toHaveLength(1);
    rmSync(join(home, ".local", "share", "openhook-otel"), { recursive: true });
    await call(hooks, "event", bus("session.idle", { sessionID: S }));
    expect(names()).toHaveLength(1);
    install();
    await call(hooks, "event", bus("session.idle", { sessionID: S }));
    expect(names()).toHaveLength(2);
  });

  test("by a damaged hook.conf: events go to the default inbox, without a drain", async () => {
    writeFileSync(join(home, ".local", "share", "openhook-otel", "hook.conf"), "state=/nowhere\n\0'''\n");
    process.env["OPENHOOK_OTEL_DRAIN"] = "on";
    process.env["XDG_STATE_HOME"] = join(home, "xdg");
    const hooks = await load();
    await call(hooks, "event", bus("session.idle", { sessionID: S }));
    expect(names(join(home, "xdg", "openhook-otel", "inbox"))).toHaveLength(1);
  });
});

describe("places and drains", () => {
  test.each([
    ["OPENHOOK_OTEL_HOME", "moved", ["state of 'mine'", "inbox"]],
    ["OPENHOOK_OTEL_HOME", undefined, ["state of 'mine'", "inbox"]],
    ["XDG_STATE_HOME", "xdg", ["state of 'mine'", "inbox"]],
  ])("%s=%s does not move the inbox that hook.conf names", async (name, folder, parts) => {
    process.env[name] = folder === undefined ? "not/absolute" : join(home, folder);
    const hooks = await load();
    await call(hooks, "event", created(S));
    expect(names(join(home, ...parts))).toHaveLength(1);
  });

  test("a repository's folder is never used as inbox, and its hook.conf is ignored", async () => {
    const project = join(home, "project");
    mkdirSync(project);
    install(join(project, "program.cjs"), join(project, ".cache"));
    const before = process.cwd();
    process.chdir(project);
    try {
      for (const moved of [join(project, ".cache"), "/proc/self/cwd/.cache"]) {
        process.env["OPENHOOK_OTEL_HOME"] = moved;
        await call(await load(), "event", created(S));
      }
    } finally {
      process.chdir(before);
    }
    expect(names()).toHaveLength(2);
    expect(readdirSync(join(project, ".cache"))).toEqual(["hook.conf"]);
  });

  test("a drain gets the state folder and the working directory, and no --require option", async () => {
    programThatRecords();
    process.env["OPENHOOK_OTEL_DRAIN"] = "on";
    process.env["NODE_OPTIONS"] = `--require=${join(home, "theirs.cjs")} --max-old-space-size=200`;
    process.env["NODE_COMPILE_CACHE"] = join(home, "theirs");
    const hooks = await load();
    await call(hooks, "event", created(S));
    await call(hooks, "event", bus("session.idle", { sessionID: S }));
    expect(await drains(1)).toBe(1);
    expect(JSON.parse(readFileSync(mark(), "utf8"))).toEqual([
      join(home, "state of 'mine'"),
      process.cwd(),
      "recorded",
      "",
      "--max-old-space-size=200",
      null,
    ]);
  });

  test("a hook.conf in the folder that OPENHOOK_OTEL_HOME names is not used: it names a program to start", async () => {
    rmSync(join(home, ".local"), { recursive: true });
    install(undefined, join(home, "moved"));
    process.env["OPENHOOK_OTEL_HOME"] = join(home, "moved");
    const hooks = await load();
    await call(hooks, "event", created(S));
    expect(names(join(home, "moved", "inbox"))).toHaveLength(0);
  });

  const mark = () => join(home, "drained");
  /** How many drains have started, after waiting for that many, and then for one more. */
  const drains = async (expected: number): Promise<number> => {
    vi.useRealTimers();
    let lines = -1;
    for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 200) {
      const now = existsSync(mark()) ? readFileSync(mark(), "utf8").split("\n").length - 1 : 0;
      if (now === lines && now >= expected && (expected > 0 || waitedMs >= 1_000)) return now;
      lines = now;
      await new Promise((done) => setTimeout(done, 200));
    }
    return lines;
  };
  const programThatMarks = (): void =>
    writeFileSync(
      join(home, "program.cjs"),
      `require("node:fs").appendFileSync(${JSON.stringify(mark())}, process.argv.slice(2).join(" ") + "\\n")`,
    );

  const programThatRecords = (): void =>
    writeFileSync(
      join(home, "program.cjs"),
      `const { NODE_OPTIONS, NODE_COMPILE_CACHE, ...env } = process.env;
       const [state, folder, from, options] = ["HOME", "HOOK_FOLDER", "HOOK_STATE", "HOOK_NODE_OPTIONS"].map((name) => env["OPENHOOK_OTEL_" + name]);
       const facts = [state, folder, from, NODE_OPTIONS, options, NODE_COMPILE_CACHE ?? null];
       require("node:fs").appendFileSync(${JSON.stringify(mark())}, JSON.stringify(facts) + "\\n")`,
    );

  test("the ends of turn and process each start a drain, a subagent's end does not", async () => {
    programThatMarks();
    process.env["OPENHOOK_OTEL_DRAIN"] = "";
    const hooks = await load();
    await call(hooks, "event", created(S));
    await call(hooks, "event", created("ses_child", S));
    await call(hooks, "event", bus("session.idle", { sessionID: "ses_child" }));
    await call(hooks, "event", bus("session.idle", { sessionID: S }));
    await call(hooks, "dispose");
    expect(await drains(2)).toBe(2);
    expect(readFileSync(mark(), "utf8")).toBe("drain --quiet\ndrain --quiet\n");
  });

  test.each([
    ["session.idle", [bus("session.idle", { sessionID: S })]],
    ["session.status", [bus("session.status", { sessionID: S, status: { type: "idle" } })]],
    [
      "both",
      [
        bus("session.status", { sessionID: S, status: { type: "idle" } }),
        bus("session.idle", { sessionID: S }),
        bus("session.status", { sessionID: S, status: { type: "idle" } }),
      ],
    ],
  ])("the end of each turn is recorded once and starts one drain, by %s", async (_, ends) => {
    programThatMarks();
    process.env["OPENHOOK_OTEL_DRAIN"] = "";
    const hooks = await load();
    await call(hooks, "event", created(S));
    for (const id of ["msg_1", "msg_2"]) {
      await call(hooks, "chat.message", { sessionID: S }, message(id));
      await call(hooks, "event", bus("session.status", { sessionID: S, status: { type: "busy" } }));
      for (const end of ends) await call(hooks, "event", end);
    }
    expect(await drains(2)).toBe(2);
    const idle = readdirSync(inbox).filter((name) =>
      readFileSync(join(inbox, name), "utf8").includes('"session.idle"'),
    );
    expect(idle).toHaveLength(2);
  });

  test("with the bridge on, an event starts a drain for events, unless one is running or the bridge runs this agent", async () => {
    programThatMarks();
    process.env["OPENHOOK_OTEL_DRAIN"] = "";
    const stateDir = join(inbox, "..");
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(join(stateDir, "bridge.json"), "{}");
    const hooks = await load();
    process.env["OPENHOOK_BRIDGE"] = "openhook-otel";
    await call(hooks, "event", created(S));
    expect(await drains(0)).toBe(0);
    delete process.env["OPENHOOK_BRIDGE"];
    writeFileSync(join(stateDir, "bridge.live"), `${process.pid}\n`);
    await call(hooks, "event", created("ses_other"));
    expect(await drains(0)).toBe(0);
    writeFileSync(join(stateDir, "bridge.live"), "999999999\n");
    await call(hooks, "event", created("ses_third"));
    // Queued files start a whole drain too
    expect(await drains(2)).toBe(2);
    expect(readFileSync(mark(), "utf8")).toMatch(/^drain --quiet --events$/m);
    expect(readFileSync(join(stateDir, "bridge.live"), "utf8")).toMatch(/^\d+\n$/);
  });

  test("no drain starts if it is off or the program is missing", async () => {
    programThatMarks();
    const hooks = await load();
    await call(hooks, "event", bus("session.idle", { sessionID: S }));
    process.env["OPENHOOK_OTEL_DRAIN"] = "on";
    rmSync(join(home, "program.cjs"));
    await call(hooks, "dispose");
    expect(await drains(0)).toBe(0);
  });

  test("files of an earlier process are drained when a session starts", async () => {
    programThatMarks();
    process.env["OPENHOOK_OTEL_DRAIN"] = "on";
    mkdirSync(inbox, { recursive: true });
    for (const name of ["1-2-0.evt", "1-2-1.evt"]) writeFileSync(join(inbox, name), "x");
    await call(await load(), "event", created(S));
    expect(await drains(1)).toBe(1);
  });
});

describe("loaded more than once", () => {
  test("for two agents in one process, by a setting: the last instance writes each event once", async () => {
    const both = [await load({ directory: PROJECT }, "opencode"), await load({ directory: PROJECT }, "kilo")];
    for (const hooks of both) await call(hooks, "event", created(S));
    expect(writtenEvents("kilo")).toHaveLength(1);
  });

  test.each([
    ["/usr/lib/node_modules/kilo/bin/kilo", "opencode", "kilo"],
    ["C:\\tools\\opencode.exe", "kilo", "opencode"],
    ["/srv/bin/.opencode", "kilo", "opencode"],
    ["/usr/bin/bun", "kilo", "kilo"],
  ] as const)("by %s, the plugin of %s reports %s", async (program, source, expected) => {
    const { execPath } = process;
    process.execPath = program;
    try {
      await call(await load({ directory: PROJECT }, source), "event", created(S));
    } finally {
      process.execPath = execPath;
    }
    expect(waiting()[0]?.facts.source).toBe(expected);
    expect(writtenEvents(expected)).toHaveLength(1);
  });

  test("from the user's and the project's folder: the last instance writes each event once", async () => {
    const [first, second] = [await load(), await load()];
    for (const hooks of [first, second]) await call(hooks, "event", created(S));
    expect(names()).toHaveLength(1);
    await call(first, "dispose");
    await call(second, "dispose");
    expect(writtenEvents().map(({ type }) => type)).toEqual(["session.start", "session.end"]);
    // A disposed instance writes nothing; a new one does
    await call(second, "event", bus("session.idle", { sessionID: S }));
    expect(names()).toHaveLength(2);
    await call(await load(), "event", bus("session.idle", { sessionID: S }));
    expect(names()).toHaveLength(3);
  });

  test("for two projects in one process: each instance ends its own sessions", async () => {
    const [shop, zoo] = [await load(), await load({ directory: "/home/dev/zoo" })];
    await call(shop, "chat.message", { sessionID: S }, message("msg_1"));
    await call(zoo, "chat.message", { sessionID: "ses_zoo" }, message("msg_2"));
    await call(zoo, "dispose");
    const ends = writtenEvents().filter(({ type }) => type === "session.end");
    expect(ends.map(({ session_id, cwd }) => `${session_id} ${cwd}`)).toEqual(["ses_zoo /home/dev/zoo"]);
  });
});
