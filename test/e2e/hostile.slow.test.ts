// Slow: only `npm run test:all` runs it. Hostile homes and inputs, with the built program.
//
// Hostile conditions: payloads of any size and shape, a stdin that stays open, a state directory that cannot be
// written, transcripts that are missing or are something else.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  GEN_AI_CONVERSATION_ID,
  GEN_AI_TOOL_CALL_ID,
  GEN_AI_USAGE_INPUT_TOKENS,
  OPENHOOK_SPAN_KIND,
} from "#core/telemetry/semconv.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import {
  ensureBuilt,
  type Finished,
  HOOK_ALONE,
  Machine,
  RECORDINGS,
  RecordedAgent,
  type Registered,
} from "../support/program.ts";
import type { Expected } from "../support/summary.ts";
import { makeUnreadable } from "../support/unreadable.ts";

/** A hook usually takes 5 ms, a drain 300 ms. This limit only shows that neither waits for something that never comes. */
const MUCH_TOO_LONG_MS = 15_000;

/** Time limit of tests that run in parallel on a busy machine. */

beforeAll(ensureBuilt);

function expectSilence({ code, stdout, stderr, tookMs }: Finished): void {
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(tookMs).toBeLessThan(MUCH_TOO_LONG_MS);
}

/** One line for users: no stack trace. */
function expectOneLine(stderr: string, about: RegExp): void {
  expect(stderr).toMatch(/^openhook-otel: [^\n]+\n$/);
  expect(stderr).toMatch(about);
}

/** Wide enough that no line wraps. */
const statusOf = (machine: Machine): Promise<string> => machine.ok(["status"], { env: { COLUMNS: "1000" } });

/** Tokens of each session, newest first; `null` if unknown. */
async function inputTokens(machine: Machine): Promise<readonly (number | null)[]> {
  const sessions: { totals: { input: number | null } }[] = JSON.parse(await machine.ok(["sessions", "--json"]));
  return sessions.map(({ totals }) => totals.input);
}

const command = (registered: Registered, event: string): string => registered.get(event)?.[0] ?? "";
const tokensOf = (name: string): number | undefined => {
  const { sessions }: Expected = JSON.parse(readFileSync(join(RECORDINGS, name, "expected.json"), "utf8"));
  return sessions[0]?.totals["input"];
};

describe("payloads", () => {
  const machine = { current: undefined as Machine | undefined };
  let receiver: Receiver;
  let status = "";

  const payload = (machine: Machine, more: object): string =>
    JSON.stringify({
      session_id: "stress",
      transcript_path: join(machine.home, ".claude", "projects", "p", "stress.jsonl"),
      cwd: machine.home,
      ...more,
    });

  beforeAll(async () => {
    receiver = await startReceiver();
    const m = new Machine();
    machine.current = m;
    const registered = await m.enable();
    await m.ok(["config", "set", "otlp.endpoint", receiver.url]);
    const huge = { tool_response: { stdout: "0123456789".repeat(5_000_000) } };
    const tool = { hook_event_name: "PostToolUse", tool_name: "Read", tool_use_id: "toolu_huge", ...huge };
    const prompt = { hook_event_name: "UserPromptSubmit", prompt: "still there?", prompt_id: "never-closed" };
    const noise = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919 + (i >> 3)) & 0xff));
    const shots = [
      m.shell(command(registered, "PostToolUse"), { input: payload(m, tool) }),
      m.shell(command(registered, "UserPromptSubmit"), { input: payload(m, prompt), staysOpen: true }),
      m.shell(command(registered, "PreToolUse"), { input: noise }),
      m.shell(command(registered, "PreToolUse"), { input: "" }),
      m.shell(command(registered, "PreToolUse"), {
        input: '{"session_id":"stress","hook_event_name":"PreToolUse","tool',
      }),
      m.shell(command(registered, "PreToolUse"), { input: "[[[[[[[[[[".repeat(100_000) }),
    ];
    await new RecordedAgent(m, "basic").work(registered);
    for (const shot of shots) expectSilence(await shot);
    await m.quiet();
    await m.drain(["--end-idle"]);
    status = await statusOf(m);
  });
  afterAll(async () => {
    await machine.current?.remove();
    await receiver?.close();
  });

  const spansOf = (sessionId: string) =>
    receiver.spans.filter((span) => span.attributes[GEN_AI_CONVERSATION_ID] === sessionId);

  test("50 MB: the tool call is still recorded", () => {
    const ids = spansOf("stress").map((span) => span.attributes[GEN_AI_TOOL_CALL_ID]);
    expect(ids).toContain("toolu_huge");
  });

  test("an unclosed stdin: the event contains what was read so far", () => {
    const turns = spansOf("stress").filter((span) => span.attributes[OPENHOOK_SPAN_KIND] === "turn");
    expect(turns).toHaveLength(1);
  });

  test("unreadable payloads are quarantined, and status reports them", () => {
    expect(status).toMatch(/[34] payloads quarantined in .*quarantine/);
    expect(status).toMatch(/claude-code: the payload is empty/);
    expect(status).toMatch(/claude-code: the payload is not JSON/);
  });

  test("the other session is complete", () => {
    const tokens = receiver.spans
      .filter((span) => span.attributes[OPENHOOK_SPAN_KIND] === "model_call")
      .reduce((sum, span) => sum + Number(span.attributes[GEN_AI_USAGE_INPUT_TOKENS]), 0);
    expect(tokens).toBe(tokensOf("basic"));
  });
});

test("a file in place of the state directory: the agent is not affected, the user is warned, and it can be fixed", async () => {
  const machine = new Machine();
  try {
    const registered = await machine.enable();
    const { stateDir } = machine.places;
    rmSync(stateDir, { recursive: true });
    writeFileSync(stateDir, "in the way");
    const agent = new RecordedAgent(machine, "basic");
    const tookMs = await agent.work(registered);
    expect(Math.max(...tookMs)).toBeLessThan(MUCH_TOO_LONG_MS);

    const status = await machine.run(["status"]);
    expect(status.code).toBe(1);
    expect(status.stdout).toContain(`${stateDir} is not a directory`);
    const drain = await machine.run(["drain"]);
    expect(drain.code).toBe(1);
    expectOneLine(drain.stderr, /state\/openhook-otel/);
    expect(readFileSync(stateDir, "utf8")).toBe("in the way");

    await machine.quiet();
    rmSync(stateDir);
    const stop = agent.calls.find((call) => call.event === "SessionEnd");
    expectSilence(await machine.shell(command(registered, "SessionEnd"), { input: JSON.stringify(stop?.stdin) }));
    await machine.quiet();
    // The session's end alone is enough: everything is in the transcript
    expect(await inputTokens(machine)).toEqual([tokensOf("basic")]);
    expect((await machine.run(["status"])).code).toBe(0);
  } finally {
    await machine.remove();
  }
});

const fifo = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
};

/** Each breaks `basic`'s transcript after the agent has written it. @returns the path that `status` must report */
const BROKEN: Readonly<Record<string, (transcript: string) => string>> = {
  "was deleted": (path) => {
    rmSync(path);
    return path;
  },
  "is a FIFO": (path) => {
    rmSync(path);
    fifo(path);
    return path;
  },
  "is a directory": (path) => {
    rmSync(path);
    mkdirSync(path);
    return path;
  },
  "has a FIFO for a subagent": (path) => {
    const subagent = join(path.replace(/\.jsonl$/, ""), "subagents", "agent-pipe.jsonl");
    fifo(subagent);
    return subagent;
  },
  "has a FIFO beside it, named like an old subagent's": (path) => {
    const beside = join(dirname(path), "agent-pipe.jsonl");
    fifo(beside);
    // Its session is unknown, so no session is incomplete
    return "";
  },
};

describe.concurrent.each(Object.entries(BROKEN))("a transcript that %s", (what, breakIt) => {
  test("stops no drain, is reported by status, and affects no other session", async ({ expect }) => {
    const machine = new Machine();
    try {
      const agent = new RecordedAgent(machine, "basic");
      await agent.work(HOOK_ALONE);
      const transcript = agent.files.find((path) => path.endsWith(".jsonl")) ?? "";
      expect(existsSync(transcript)).toBe(true);
      const expected = breakIt(transcript);
      await new RecordedAgent(machine, "parallel-tools").work(HOOK_ALONE);

      const { code, stderr, tookMs } = await machine.run(["drain"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(tookMs).toBeLessThan(MUCH_TOO_LONG_MS);
      // The hook events of the broken one are stored; its tokens only if its own file is complete
      const own = what.startsWith("has") ? tokensOf("basic") : null;
      expect(new Set(await inputTokens(machine))).toEqual(new Set([tokensOf("parallel-tools"), own]));
      expect(await statusOf(machine)).toContain(expected);
    } finally {
      await machine.remove();
    }
  });
});

test.concurrent("unreadable lines of a transcript affect no other line", async ({ expect }) => {
  const machine = new Machine();
  try {
    const rubbish = [
      '{"type":"user"}',
      '{"type":"assistant","message":null}',
      "{",
      "\u0000\u0001",
      "null",
      '"text"',
      "[]",
    ];
    const agent = new RecordedAgent(machine, "basic", (text, path) =>
      path.endsWith("hooks.jsonl") ? text : text.replaceAll("\n", (newline) => `${newline}${rubbish.join("\n")}\n`),
    );
    await agent.work(HOOK_ALONE);
    agent.writeTranscripts();
    await machine.drain(["--end-idle"]);
    expect(await inputTokens(machine)).toEqual([tokensOf("basic")]);
    expect(await statusOf(machine)).toMatch(/transcript lines could not be read/);
  } finally {
    await machine.remove();
  }
});

test("drain, import and doctor report an unreadable folder of subagents", async () => {
  const machine = new Machine();
  try {
    const agent = new RecordedAgent(machine, "subagent");
    await agent.work(HOOK_ALONE);
    const folder = dirname(agent.files.find((path) => path.includes("subagents")) ?? "");
    rmSync(folder, { recursive: true });
    symlinkSync("subagents", folder);
    expect(await machine.drain()).toMatchObject({ problems: [expect.stringContaining(folder)] });
    expect((await machine.run(["doctor"])).stdout.replaceAll(/\s+/g, " ")).toContain(`ELOOP: too many symbolic links`);
    const elsewhere = { OPENHOOK_OTEL_HOME: join(machine.home, "elsewhere") };
    expect((await machine.run(["import"], { env: elsewhere })).stdout).toContain(folder);
  } finally {
    await machine.remove();
  }
});

test("status reports an unreadable transcript", async () => {
  const machine = new Machine();
  try {
    const agent = new RecordedAgent(machine, "basic");
    await agent.work(HOOK_ALONE);
    const transcript = agent.files.find((path) => path.endsWith(".jsonl")) ?? "";
    makeUnreadable(transcript);
    expect(await machine.drain()).toMatchObject({ problems: [expect.stringContaining(transcript)] });
    expect(await statusOf(machine)).toContain(transcript);
  } finally {
    await machine.remove();
  }
});
