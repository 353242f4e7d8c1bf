// Log records: each event of a session once, with its span's ids, and what its level allows.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ReceivedLog, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";
test("x", async () => {
  const receiver = await startReceiver();
  for (const name of ["parallel-tools","compaction","api-error","permission-denied","subagent"]) {
  const of = new Replay("claude-code", name);
  of.env = { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, OPENHOOK_OTEL_CAPTURE: "redacted" };
  for (const call of of.calls) of.put(call);
  const r = await of.drain({ endIdle: true });
  console.log(name, r.spans, r.logs, r.problems, receiver.requests.map(x => x.path+" "+x.wireBytes+" "+x.body.length).join());
  for (const l of receiver.logs) console.log(l.name, l.severity, l.timeNs, JSON.stringify(l.attributes).slice(0, name==="parallel-tools"?2000:200));
  receiver.clear();
  of.remove();
  }
});
