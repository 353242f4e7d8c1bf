import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import card from "#agents/cli-wrapper/index.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isEnvelope } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { pairTools } from "#core/session/pair.ts";
import { compareLines, type DocumentedCall, linesOf, mapped, truthOf } from "../../support/documented.ts";

const HERE = dirname(fileURLToPath(import.meta.url));

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  source: "cli-wrapper",
  timeMs: Date.UTC(2026, 8, 14, 9),
  cwd: "/home/dev/acme-shop",
  parentPid: 4101,
  parentStart: "88",
  hookPid: 4102,
  env: {},
  payloadBytes: 2,
  truncated: false,
  ...rest,
});
const own = { cli: "gh", args: ["pr", "create"], call: "c-1", shell: "77-1234" };
const pre = { ...own, phase: "pre" };
const post = { ...own, phase: "post", exit_code: 0 };
const eventOf = (payload: unknown, rest: Partial<IntakeFacts> = {}) => {
  const [event, ...others] = card.toEvents(payload, intake(rest));
  expect(others).toEqual([]);
  if (event === undefined || !isEnvelope(event)) throw new Error("no envelope");
  return event;
};

describe.each([
  ["gh", { calls: 3, error: 1, open: 0 }],
  ["kubectl", { calls: 5, error: 2, open: 1 }],
])("%s", (name, expected) => {
  const calls = linesOf<DocumentedCall>(join(HERE, name, "calls.jsonl"));

  test("maps line by line", async () => {
    compareLines(await mapped(calls), truthOf(join(HERE, name)).lines);
  });

  test("gives one call per run, each with its end", async () => {
    const events = (await mapped(calls)).flatMap((line) => line.events);
    const count = (shuffled: typeof events) => {
      const tools = pairTools(shuffled, []);
      const of = (status: string) => tools.filter((tool) => tool.status === status).length;
      return { calls: tools.length, error: of("error"), open: of("open") };
    };
    expect(count(events)).toEqual(expected);
    expect(count([...events, ...events].reverse())).toEqual(expected);
  });
});

test("recognises only payloads with all three marks", () => {
  for (const payload of [pre, post, { cli: "x", args: [], phase: "pre" }]) {
    expect(card.recognises(payload, intake())).toBe("certain");
  }
  for (const payload of [null, [], "pre", {}, { ...pre, phase: "mid" }, { ...pre, cli: "" }, { ...pre, args: "pr" }]) {
    expect(card.recognises(payload, intake())).toBe("no");
    expect(card.toEvents(payload, intake())).toEqual([]);
  }
});

test("one run of the wrapper is one call, whichever process reports it", () => {
  const [start, end] = [
    eventOf(pre),
    eventOf(post, { parentPid: 1, parentStart: "9", timeMs: Date.UTC(2026, 8, 14, 10) }),
  ];
  expect(start).toMatchObject({ source: "cli-wrapper", type: "tool.start", cwd: "/home/dev/acme-shop" });
  expect(end).toMatchObject({ type: "tool.end", data: { tool_name: "gh", status: "success" } });
  expect(end.session_id).toBe(start.session_id);
  expect(pairTools([end, start], [])).toHaveLength(1);
  // Reported twice, it is the same event; another run is another event
  expect(eventOf(pre, { timeMs: 1, hookPid: 9 }).id).toBe(start.id);
  expect(eventOf({ ...pre, call: "c-2" }).id).not.toBe(start.id);
  expect(extrasOf(start)).not.toHaveProperty("process");
});

test("a terminal is a session", () => {
  const session = (payload: object, rest: Partial<IntakeFacts> = {}) =>
    eventOf({ ...pre, ...payload }, rest).session_id;
  const here = session({});
  expect(session({ call: "c-2", cwd: "/elsewhere" }, { parentPid: 9 })).toBe(here);
  expect(session({ shell: "77-9999" })).not.toBe(here);
  expect(extrasOf(eventOf(pre)).session_id_origin).toBe("minted");
});

describe("inside an agent", () => {
  const inside = (env: Readonly<Record<string, string>>) => {
    const event = eventOf(pre, { env });
    return [event.source, event.session_id, extrasOf(event).session_id_origin];
  };
  const outside = eventOf(pre).session_id;

  test("the call belongs to the agent's session", () => {
    expect(inside({ CLAUDE_CODE_SESSION_ID: "s1" })).toEqual(["claude-code", "s1", "environment"]);
    expect(inside({ CODEX_THREAD_ID: "s2" })).toEqual(["codex", "s2", "environment"]);
    expect(inside({ GEMINI_SESSION_ID: "s3" })).toEqual(["gemini-cli", "s3", "environment"]);
    expect(inside({ KIRO_SESSION_ID: "s4" })).toEqual(["kiro", "s4", "environment"]);
    expect(inside({ CRUSH_SESSION_ID: "s5", CRUSH: "1" })).toEqual(["crush", "s5", "environment"]);
    expect(inside({ OPENHOOK_SESSION_ID: "s6" })).toEqual(["cli-wrapper", "s6", "environment"]);
    expect(inside({ OPENHOOK_SESSION_ID: "s6", CODEX_THREAD_ID: "s2" })).toEqual(["codex", "s2", "environment"]);
  });

  test("nested agents are ambiguous, so neither is used", () => {
    expect(inside({ CLAUDE_CODE_SESSION_ID: "s1", CODEX_THREAD_ID: "s2" })).toEqual(["cli-wrapper", outside, "minted"]);
    expect(inside({ CLAUDE_CODE_SESSION_ID: "" })).toEqual(["cli-wrapper", outside, "minted"]);
  });

  test("the call is separate from the agent's shell call, under its own name", () => {
    const bash = (type: "tool.start" | "tool.end", minute: number) => ({
      openhook: "0.1" as const,
      id: `bash-${type}`,
      source: "claude-code",
      type,
      time: new Date(Date.UTC(2026, 8, 14, 9, minute)).toISOString(),
      session_id: "s1",
      data: { tool_name: "Bash", tool_call_id: "toolu_1" },
    });
    const env = { CLAUDE_CODE_SESSION_ID: "s1" };
    const events = [bash("tool.start", -1), eventOf(pre, { env }), eventOf(post, { env }), bash("tool.end", 1)];
    expect(pairTools(events, []).map(({ name, status }) => [name, status])).toEqual([
      ["Bash", "success"],
      ["gh", "success"],
    ]);
  });
});

describe("other wrappers", () => {
  const foreign = { cli: "/usr/bin/gh", args: ["pr", "create", "--title", "planted"], cwd: "/home/dev/acme-shop" };

  test("pair calls by the process that runs both hooks", () => {
    const start = eventOf({ ...foreign, phase: "pre" });
    const end = eventOf({ ...foreign, phase: "post", exit_code: 2 }, { hookPid: 9 });
    expect(end.data).toMatchObject({ tool_name: "gh", status: "error" });
    expect(extrasOf(end)).toMatchObject({ exit_code: 2 });
    expect(pairTools([start, end], [])).toHaveLength(1);
    expect(start.extensions).toMatchObject({ subcommand: "pr create" });
    expect(JSON.stringify([start, end])).not.toContain("planted");
  });

  test("without a process have no call id, but an input digest", () => {
    const { parentPid: _, parentStart: __, ...rest } = intake();
    const [start] = card.toEvents({ ...foreign, phase: "pre" }, rest);
    const [end] = card.toEvents({ ...foreign, phase: "post" }, rest);
    expect(start).not.toHaveProperty("data.tool_call_id");
    expect(start?.extensions?.["input_digest"]).toMatch(/^[0-9a-f]{16}$/);
    expect(end?.extensions?.["input_digest"]).toBe(start?.extensions?.["input_digest"]);
  });

  test("without a valid exit code have neither status nor code", () => {
    for (const exit_code of [undefined, null, "", "$?", 1.5, Number.NaN, {}]) {
      const event = eventOf({ ...foreign, phase: "post", exit_code });
      expect(event.data).not.toHaveProperty("status");
      expect(extrasOf(event)).not.toHaveProperty("exit_code");
    }
    expect(eventOf({ ...foreign, phase: "post", exit_code: "2" }).data).toMatchObject({ status: "error" });
    expect(eventOf({ ...post, exit_code: -1073741510 }).data).toMatchObject({ status: "error" });
    expect(eventOf({ ...pre, exit_code: 1 }).data).not.toHaveProperty("status");
  });

  test("with an invalid name have the tool name unknown", () => {
    for (const cli of ["gh pr create --token planted", "../..", "a\nb", "-x", "é", "x".repeat(65)]) {
      expect(eventOf({ ...pre, cli }).data, cli).toMatchObject({ tool_name: "unknown" });
    }
    expect(eventOf({ ...pre, cli: "C:\\tools\\kubectl.exe" }).data).toMatchObject({ tool_name: "kubectl.exe" });
  });
});
