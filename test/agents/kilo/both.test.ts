// A home with OpenCode and Kilo: each session counts once, for its own agent.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import kiloCard from "#agents/kilo/index.ts";
import kilo from "#agents/kilo/transcript.ts";
import opencodeCard from "#agents/opencode/index.ts";
import opencode from "#agents/opencode/transcript.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../../support/clock.ts";
import { compareRecorded } from "../../support/expected.ts";
import { locateAll } from "../../support/located.ts";
import { CASES, Replay } from "../../support/replay.ts";
import type { Expected } from "../../support/summary.ts";

let replay: Replay | undefined;
let other: Replay | undefined;
afterEach(() => {
  replay?.remove();
  other?.remove();
});

const expectedOf = (source: string): Expected =>
  JSON.parse(readFileSync(join(CASES, source, "subagent", "expected.json"), "utf8"));

/** Kilo's home, with OpenCode's database in it. */
function bothAtHome(): { readonly replay: Replay; readonly other: Replay } {
  replay = new Replay("kilo", "subagent");
  other = new Replay("opencode", "subagent");
  const folder = join(".local", "share", "opencode");
  cpSync(join(other.home, folder), join(replay.home, folder), { recursive: true });
  return { replay, other };
}

test("by hooks, each session has its own agent and counts once", async () => {
  const { replay, other } = bothAtHome();
  const drainOf = async ({ calls }: Replay): Promise<void> => {
    const lastMs = Math.max(...calls.map((call) => Date.parse(call.received_at)));
    await replay.drain({ endIdle: true }, clockAt(lastMs));
  };
  for (const call of other.calls) other.put(call);
  cpSync(other.places.inboxDir, replay.places.inboxDir, { recursive: true, preserveTimestamps: true });
  await drainOf(other);
  for (const call of replay.calls) replay.put(call);
  await drainOf(replay);
  for (const source of ["kilo", "opencode"]) compareRecorded(replay.places.storePath, expectedOf(source));
  const db = openDatabase(replay.places.storePath);
  try {
    const rows = db.prepare("SELECT source, session_id FROM sessions WHERE parent IS NULL ORDER BY source").all();
    expect(rows.map((row) => [row["source"], row["session_id"]])).toEqual(
      ["kilo", "opencode"].map((source) => [source, expectedOf(source).sessions[0]?.session_id]),
    );
  } finally {
    db.close();
  }
});

describe("past sessions", () => {
  const idsOf = (source: string) => expectedOf(source).sessions.map((session) => session.session_id);

  test("each reader finds only its own agent's", async () => {
    const { home } = bothAtHome().replay;
    for (const [source, reader] of [["kilo", kilo] as const, ["opencode", opencode] as const]) {
      const { sessions, problems } = await locateAll(reader, home);
      expect(sessions.map((session) => session.sessionId)).toEqual(idsOf(source));
      expect(problems).toEqual([]);
      expect(await reader.files({ sessionId: idsOf(source === "kilo" ? "opencode" : "kilo")[0] ?? "", home })).toEqual(
        [],
      );
    }
  });

  test("each reader finds only its own agent's in a folder above both, and among both databases", async () => {
    const { home } = bothAtHome().replay;
    const databases = ["kilo", "opencode"].map((name) => join(home, ".local", "share", name, `${name}.db`));
    expect(databases.every((path) => existsSync(path))).toBe(true);
    for (const roots of [[home], [join(home, ".local", "share")], databases]) {
      for (const [source, reader] of [["kilo", kilo] as const, ["opencode", opencode] as const]) {
        const { sessions } = await locateAll(reader, home, roots);
        expect(sessions.map((session) => session.sessionId)).toEqual(idsOf(source));
      }
    }
  });
});

describe("a payload that does not name its agent", () => {
  const payload = { input: { tool: "bash", sessionID: "ses_e0353a808ffe1kcC0bzNbPqEgM", callID: "c" }, output: {} };
  const at = (source?: string) => ({
    ...(source !== undefined && { source }),
    event: "tool.execute.before",
    timeMs: 0,
    env: {},
    payloadBytes: 0,
    truncated: false,
  });

  test.each([
    ["kilo", "kilo"],
    ["opencode", "opencode"],
    ["codex", "opencode"],
    [undefined, "opencode"],
  ] as const)("from the command line of %s is that of %s", (source, expected) => {
    for (const agent of [kiloCard, opencodeCard]) {
      expect(agent.recognises(payload, at(source))).toBe(agent.source === expected ? "certain" : "no");
    }
  });
});
