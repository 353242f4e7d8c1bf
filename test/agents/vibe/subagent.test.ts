import { afterEach, expect, test } from "vitest";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../../support/clock.ts";
import { Replay } from "../../support/replay.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

/** Each call of a tool or model in a subagent, with what it is below. */
async function pathsOf(withTranscripts: boolean): Promise<readonly string[]> {
  replay = new Replay("vibe", "subagent", { withTranscripts });
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true }, clockAt(Date.parse(replay.calls.at(-1)?.received_at ?? "") + 1000));
  const db = openDatabase(replay.places.storePath);
  const spans = db
    .prepare("SELECT record FROM spans")
    .all()
    .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
  db.close();
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const above = (span: SpanRecord | undefined): SpanRecord | undefined => byId.get(span?.parentSpanId ?? "");
  return spans
    .filter((span) => above(span)?.name === "invoke_agent subagent")
    .map((span) => `${span.name} < ${above(above(span))?.name}`)
    .sort();
}

test("a subagent is below the call that started it, also one of a model's program, and its calls are below it", async () => {
  expect(await pathsOf(true)).toEqual([
    "chat acme-coder-1 < execute_tool agents.spawn",
    "chat acme-coder-1 < execute_tool agents.spawn",
    "execute_tool read_file < execute_tool agents.spawn",
  ]);
});

test("hooks do not name the call that started it", async () => {
  expect(await pathsOf(false)).toEqual(["execute_tool read_file < invoke_agent vibe"]);
});
