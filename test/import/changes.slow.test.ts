// Slow: only `npm run test:all` runs it. A commit in a call of each recording, imported and drained; changes/drain.test.ts has
// the rules.
//
// Commits in tool calls of recordings: an import finds in the transcripts what a drain finds in the payloads of hooks, and both together
// count nothing twice
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { commandLineOf, printedTextOf } from "#agents/shared/changes/call-texts.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Dimension } from "#show/report/query.ts";
import { usage } from "#show/report/usage.ts";
import { storedCommits } from "#store/changes.ts";
import { counterValues } from "#store/counters.ts";
import { readStore } from "#store/read-only.ts";
import { clockAt } from "../support/clock.ts";
import { Replay } from "../support/replay.ts";
import { recordedCases } from "./home.ts";
import { importInto, unpackAll } from "./run.ts";

/** A shell command of a recording that can be replaced by another one, and the first line that it printed. */
interface ReplaceableCall {
  readonly agent: Agent;
  readonly name: string;
  readonly command: string;
  readonly line: string;
}

const COMMAND = "git commit -m hi";
// Long, so that readers that skip long results must read it
const ANSWER = `[fix/x 1a2b3c4] hi\n${"1 file changed ".repeat(40)}`;

let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe("a commit in a recorded call", async () => {
  const calls = [...(await replaceableCalls()), await callOfScript()];

  test("there is a recording with a shell command of most agents with transcripts", () => {
    expect(calls.map(({ agent }) => agent.source)).toEqual(
      expect.arrayContaining(
        "claude-code codex copilot droid gemini-cli grok kilo kimi opencode openhands pi qwen-code vibe".split(" "),
      ),
    );
  });

  test.each(calls)("$agent.source $name", async (call) => {
    const { source } = call.agent;
    replay = withCommit(call);
    const { calls: recorded, places } = replay;
    const nowMs = Math.max(...recorded.map(({ received_at }) => Date.parse(received_at)));
    const hooks = async (of: Replay): Promise<void> => {
      for (const one of recorded) of.put(one);
      await of.drain({ endIdle: true }, clockAt(nowMs));
    };
    await importInto(replay, source);
    const imported = found(replay);
    expect(imported.commits.length).toBeGreaterThan(0);
    expect(imported.commits).toEqual(
      imported.commits.map(() => expect.objectContaining({ commit: "1a2b3c4", certainty: "observed", how: "printed" })),
    );
    expect(imported.counted).toEqual([]);
    const packed = figures(replay, call.agent);
    await unpackAll(replay, source);
    // Each commit has the same calls if they are stored as sums
    expect(figures(replay, call.agent)).toEqual(packed);
    await replay.drain({ endIdle: true }, clockAt(nowMs));
    expect(found(replay)).toEqual({ commits: imported.commits, counted: [1] });
    // Hooks report the same calls after the import
    await hooks(replay);
    expect(found(replay)).toEqual({ commits: imported.commits, counted: [1] });
    replay.remove();

    replay = withCommit(call);
    await hooks(replay);
    expect(found(replay)).toEqual({ commits: imported.commits, counted: [1] });
    await importInto(replay, source);
    expect(found(replay)).toEqual({ commits: imported.commits, counted: [1] });
    expect(existsSync(places.storePath)).toBe(false);
  });
});

// --- internal ---

/**
 * The commits in the store, without their times, since hooks and transcripts note the end of a call at slightly different ones, and
 * without ids of calls, which some hooks do not have.
 */
function found({ places }: Replay) {
  return readStore(places.storePath, (db) => ({
    commits: storedCommits(db).map(({ timeMs: _, session: __, callId: ___, ...one }) => one),
    counted: counterValues(db).flatMap(({ metric, value }) => (metric === "openhook.commit.count" ? [value] : [])),
  })) as { readonly commits: readonly object[]; readonly counted: readonly number[] };
}

/** What each commit cost, and that the sum over commits is the sum over sessions. */
function figures({ places }: Replay, agent: Agent) {
  const rowsBy = (by: readonly Dimension[]) =>
    readStore(places.storePath, (db) => usage(db, { agents: [agent] }, { by })) ?? [];
  const rows = rowsBy(["commit"]).map(({ key, calls, tools, turns }) => ({
    commit: key.commit,
    cost: calls?.costNanoUsd ?? 0,
    calls: (calls?.modelCalls ?? 0) + (calls?.aggregateRecords ?? 0),
    tools: tools?.calls ?? 0,
    turns: turns?.turns ?? 0,
  }));
  const [whole] = rowsBy([]);
  const sum = (of: "cost" | "tools"): number => rows.reduce((all, row) => all + row[of], 0);
  expect({ cost: sum("cost"), tools: sum("tools") }).toEqual({
    cost: whole?.calls?.costNanoUsd ?? 0,
    tools: whole?.tools?.calls ?? 0,
  });
  return rows;
}

/** The first of each recording. */
async function replaceableCalls(): Promise<readonly ReplaceableCall[]> {
  const calls: ReplaceableCall[] = [];
  for (const { agent, source, name } of await recordedCases()) {
    const at = new Replay(source, name, { withTranscripts: false });
    const call = at.hasTranscripts ? replaceableCall(agent, at) : undefined;
    if (call !== undefined) calls.push({ agent, name, ...call });
    at.remove();
  }
  return calls;
}

/** A call by a script of the model: hooks report it as no call, and the transcript has it as an item. */
async function callOfScript(): Promise<ReplaceableCall> {
  const agent = (await allAgents()).find(({ source }) => source === "codex");
  if (agent === undefined) throw new Error("no card of codex");
  return { agent, name: "code-mode", command: "cat README.md", line: "# Acme shop" };
}

function replaceableCall(agent: Agent, { calls, home }: Replay): Pick<ReplaceableCall, "command" | "line"> | undefined {
  for (const { event, stdin, env, received_at } of calls) {
    if (stdin === undefined) continue;
    const timeMs = Date.parse(received_at);
    const facts = { source: agent.source, event, cwd: home, payloadBytes: 0, truncated: false };
    const events = agent.toEvents(stdin, { ...facts, timeMs, env: { HOME: home, ...env } });
    const [end] = events;
    if (end?.type !== "tool.end" || end.data?.status === "error") continue;
    const content = agent.toContent?.(stdin, { events, entries: [] }) ?? [];
    const partOf = (part: string): unknown => content.find((one) => one.part === part)?.value;
    const command = commandLineOf(partOf("arguments"));
    if (command === undefined || !/^(?:echo|cat|sleep 1; echo) [\w./]+$/.test(command)) continue;
    const line = printedTextOf(partOf("result"))
      .split("\n")
      .map((one) => one.replace(/^Output: /, ""))
      .find((one) => (command.startsWith("cat") ? one.startsWith("# ") : one === command.split(" ").at(-1)));
    if (line !== undefined) return { command, line };
  }
  return undefined;
}

/** A home with the recording in which the call makes a commit. */
function withCommit({ agent, name, command, line }: ReplaceableCall): Replay {
  const printed = new RegExp(`(^|\\n|Output: )${line.replaceAll(/[^\w ]/g, "\\$&")}(?=\\r?\\n|$)`, "g");
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one)]));
    if (typeof value !== "string") return value;
    if (value === command) return COMMAND;
    const inner = /^[[{]/.test(value) ? parsed(value) : undefined;
    return inner === undefined ? value.replace(printed, `$1${ANSWER}`) : JSON.stringify(replaced(inner));
  };
  const edit = (text: string): string => {
    const whole = parsed(text);
    if (whole !== undefined) return JSON.stringify(replaced(whole)) + (text.endsWith("\n") ? "\n" : "");
    return text
      .split("\n")
      .map((one) => {
        const record = parsed(one);
        return record === undefined ? one : JSON.stringify(replaced(record));
      })
      .join("\n");
  };
  const made = new Replay(agent.source, name, { edit });
  for (const path of readdirSync(made.home, { recursive: true, encoding: "utf8" })) {
    if (path.endsWith(".db")) editDatabase(join(made.home, path), (text) => String(replaced(text)));
  }
  return made;
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function editDatabase(path: string, edit: (text: string) => string): void {
  const db = new Libsql(path);
  const rowsOf = (sql: string) => db.prepare(sql).all() as readonly Readonly<Record<string, unknown>>[];
  for (const { name: table } of rowsOf(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%'",
  )) {
    for (const row of rowsOf(`SELECT rowid AS row_number, * FROM "${table}"`)) {
      for (const [column, value] of Object.entries(row)) {
        if (typeof value !== "string" || edit(value) === value) continue;
        db.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE rowid = ?`).run(edit(value), row["row_number"] ?? null);
      }
    }
  }
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
