// A session that is pruned and continues in the middle of a turn: its new spans have a parent that exists.
import { afterEach, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { MadeSession } from "../support/made-session.ts";
import { countersAndRows } from "../support/summary.ts";

let session: MadeSession | undefined;
afterEach(() => session?.remove());

const HOUR_MS = 3_600_000;

/** As if a backend had accepted everything. */
function sendAll(made: MadeSession): void {
  const db = openDatabase(made.storePath);
  db.prepare("DELETE FROM outbox").run();
  db.close();
}

test("a turn and a subagent that continue after pruning get new spans, each time", async () => {
  const made = new MadeSession();
  session = made;
  const agent = async (call: string, no: number): Promise<void> => {
    const subagentPayload = { prompt_id: "p1", agent_id: "a1", agent_type: "Explore", no };
    await made.answer({ calls: [[call, no === 0 ? "Agent" : "SendMessage"]] });
    await made.hook("SubagentStart", subagentPayload);
    if (no === 0) made.startedBy("a1", call);
    await made.user(undefined, "a1");
    await made.answer({ agentId: "a1" });
    await made.hook("SubagentStop", subagentPayload);
    await made.result(call, "a1");
  };
  await made.hook("UserPromptSubmit", { prompt_id: "p1", prompt: "go on" });
  await made.user("p1");
  await agent("toolu_0", 0);
  await made.answer({ calls: [["toolu_slow", "Bash"]] });
  const pruned = new Set<string>();
  for (const no of [1, 2, 3]) {
    await made.pause(3 * HOUR_MS);
    await made.drain();
    for (const { spanId } of made.spans()) pruned.add(spanId);
    sendAll(made);
    await made.drain({ prune: { olderThanMs: HOUR_MS } });
    expect(made.spans().map(({ name }) => name)).toEqual([]);
    await made.result("toolu_slow");
    await agent(`toolu_${no}`, no);
    await made.answer({ calls: [["toolu_slow", "Bash"]] });
  }
  await made.hook("SessionEnd", { reason: "other" });
  await made.drain();

  const spans = made.spans();
  const here = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
  const lost = spans.filter(({ traceId, parentSpanId: id }) => id !== undefined && !here.has(`${traceId} ${id}`));
  expect(lost.map(({ name }) => name)).toEqual([]);
  expect(spans.filter(({ spanId }) => pruned.has(spanId)).map(({ name }) => name)).toEqual([]);
  const kinds = spans.map(({ attributes }) => attributes["openhook.span.kind"]);
  expect(kinds.filter((kind) => kind === "turn" || kind === "subagent").sort()).toEqual(["subagent", "turn"]);
  expect(countersAndRows(made.storePath).counters.calls).toBe(3 * 4);
});
