// An agent is killed in a tool and resumed hours later. The next process writes a result for the open call.
import { expect, test } from "vitest";
import { buildSession } from "#core/session/build.ts";
import { inputOf, merged, recordedSessions } from "./recorded.ts";

const HOURS_MS = 14 * 3_600_000;
const killed = (await recordedSessions()).filter(
  ({ name, lines }) =>
    name.startsWith("killed-then-resumed") &&
    lines.some((line) => line.kind === "tool_result" && line.status === "unfinished"),
);

test("a recording of a killed agent exists", () => expect(killed.length).toBeGreaterThan(0));

test.each(killed.map((one) => [one.source, one.name, one] as const))(
  "%s %s, by import: no run, no call and no segment contains the hours between",
  (_source, _name, recorded) => {
    const resumedMs = Math.min(
      ...recorded.lines.flatMap((line) =>
        line.kind === "tool_result" && line.status === "unfinished" ? line.timeMs : [],
      ),
    );
    const later = recorded.lines.map((line) => {
      if (line.timeMs < resumedMs) return line;
      const timeMs = line.timeMs + HOURS_MS;
      if (line.kind !== "model_call") return { ...line, timeMs };
      const startMs = line.startMs === undefined ? {} : { startMs: line.startMs + HOURS_MS };
      return { ...line, timeMs, endMs: line.endMs + HOURS_MS, ...startMs };
    });
    const { turns, segments } = buildSession({
      ...inputOf(recorded, { events: [], entries: merged(later) }),
      endIdle: { reason: "timeout", nativeReason: "idle" },
    });
    expect(turns.length).toBeGreaterThan(1);
    expect(segments.length).toBe(2);
    for (const { startMs, endMs = Number.NaN } of segments) expect(endMs - startMs).toBeLessThan(60_000);
    expect(new Set(turns.map(({ segment }) => segment)).size).toBe(2);
    for (const run of turns) {
      expect(run.endMs - run.startMs).toBeLessThan(60_000);
      for (const call of run.toolCalls) expect(call.endMs - call.startMs).toBeLessThan(60_000);
    }
  },
);
