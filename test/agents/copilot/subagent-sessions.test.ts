// 1.0.60 to 1.0.88: the hooks of a subagent come under an id of its own and do not say whose subagent it is
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { CASES, Replay } from "../../support/replay.ts";
import { type Expected, summaryOf } from "../../support/summary.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

/** Hook payloads without what newer versions tell of subagents. */
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

test.each(["subagent", "nested-subagents"])("%s: one session, with all of its tool calls once", async (name) => {
  const { sessions } = JSON.parse(readFileSync(join(CASES, "copilot", name, "expected.json"), "utf8")) as Expected;
  const [{ session_id, tool_calls } = { session_id: "", tool_calls: [] }] = sessions;
  replay = new Replay("copilot", name, { withTranscripts: false, edit: withoutParents });
  for (const call of replay.calls) {
    replay.put(call);
    // Also while the subagent is at work, and its next event comes after its line was read
    replay.writeTranscripts({ untilMs: Date.parse(call.received_at) });
    await replay.drain();
  }
  replay.writeTranscripts();
  await replay.drain({ endIdle: true });

  const db = openDatabase(replay.places.storePath);
  const roots = db.prepare("SELECT session_id FROM sessions WHERE parent IS NULL").all();
  db.close();
  expect(roots).toEqual([{ session_id }]);
  const told = summaryOf(replay.places.storePath, session_id);
  expect(told?.tools.map(({ name: tool, subagent }) => `${tool} ${subagent}`).sort()).toEqual(
    tool_calls.map((call) => `${call.name} ${call.subagent}`).sort(),
  );
});
