// Slow: only `npm run test:all` runs it. Subagents of every recording; agents/recordings.test.ts has one,
// copilot/transcript.test.ts the rules.
//
// 1.0.60 to 1.0.88: a subagent's hooks have a separate session id and do not name the parent session
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { CASES, Replay } from "../../support/replay.ts";
import { type Expected, summaryOf } from "../../support/summary.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

/** Hook payloads without the subagent members of newer versions. */
function withoutParents(text: string, path: string): string {
  if (path !== "hooks.jsonl") return text;
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
    .filter(({ event, stdin }) => stdin.agentId === undefined || /ToolUse|subagent/.test(event))
    .map(({ stdin: { agentId, agentType, parentAgentId, ...stdin }, ...call }) => JSON.stringify({ ...call, stdin }))
    .join("\n");
}

test.each(["subagent", "nested-subagents"])("%s: is one session with each tool call once", async (name) => {
  const { sessions } = JSON.parse(readFileSync(join(CASES, "copilot", name, "expected.json"), "utf8")) as Expected;
  const [{ session_id, tool_calls } = { session_id: "", tool_calls: [] }] = sessions;
  replay = new Replay("copilot", name, { withTranscripts: false, edit: withoutParents });
  for (const call of replay.calls) {
    replay.put(call);
    // Also if a drain runs in between, and the subagent's next event comes after its line was read
    replay.writeTranscripts({ untilMs: Date.parse(call.received_at) });
    await replay.drain();
  }
  replay.writeTranscripts();
  await replay.drain({ endIdle: true });

  const db = openDatabase(replay.places.storePath);
  const roots = db.prepare("SELECT session_id FROM sessions WHERE parent IS NULL").all();
  db.close();
  expect(roots).toEqual([{ session_id }]);
  const found = summaryOf(replay.places.storePath, session_id);
  expect(found?.tools.map(({ name: tool, subagent }) => `${tool} ${subagent}`).sort()).toEqual(
    tool_calls.map((call) => `${call.name} ${call.subagent}`).sort(),
  );
});

test("the end of a subagent's turn has the path of the parent's file, which is no unread transcript of its own", async () => {
  replay = new Replay("copilot", "older-version-1.0.88-subagent");
  const parent = "0b8c8c22-47ce-4518-a725-d558edb25bfb";
  const end = replay.calls.find(({ event, stdin }) => event === "agentStop" && stdin?.["sessionId"] !== parent);
  if (end === undefined) throw new Error("no such hook call");
  replay.put(end);
  const { problems } = await replay.drain({ endIdle: true });
  expect(problems).toEqual([]);
  const db = openDatabase(replay.places.storePath);
  expect(db.prepare("SELECT session_id FROM sessions WHERE parent IS NULL").all()).toEqual([{ session_id: parent }]);
  db.close();
});
