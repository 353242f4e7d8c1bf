import { expect, test } from "vitest";
import type { Event } from "#core/model/event-schema.ts";
import { joinProcesses } from "#core/session/processes.ts";
import { ended, started, toolStarted } from "./events.ts";

const PROCESS = { process: "4711" };
const SECOND = 1_000;

/** A tool call whose payload has no session id. */
const stray = (ms: number, process = "4711"): Event => ({
  ...toolStarted("stray", ms, "t1", { process, session_id_origin: "minted" }),
  session_id: "minted-1",
});
const of = (sessionId: string, event: Event): Event => ({ ...event, session_id: sessionId });
const ownerOf = (events: readonly Event[]): string | undefined =>
  joinProcesses(events).find(({ id }) => id === "stray")?.session_id;

const ONE_AFTER_THE_OTHER = [
  of("session-1", started("s1", 0, PROCESS)),
  of("session-1", ended("e1", 60 * SECOND, PROCESS)),
  of("session-2", started("s2", 90 * SECOND, PROCESS)),
  of("session-2", ended("e2", 120 * SECOND, PROCESS)),
];

test("an event without a session id belongs to the session that was open in its process", () => {
  expect(ownerOf([...ONE_AFTER_THE_OTHER, stray(30 * SECOND)])).toBe("session-1");
  expect(ownerOf([stray(100 * SECOND), ...ONE_AFTER_THE_OTHER])).toBe("session-2");
  // The hook of a tool can run before that of its session's start
  expect(ownerOf([...ONE_AFTER_THE_OTHER, stray(89 * SECOND)])).toBe("session-2");
});

test("if no session was open, or two were, the event keeps its own id", () => {
  for (const ms of [70 * SECOND, 121 * SECOND, -5 * SECOND]) {
    expect(ownerOf([...ONE_AFTER_THE_OTHER, stray(ms)])).toBe("minted-1");
  }
  const beside = of("session-3", started("s3", 10 * SECOND, PROCESS));
  expect(ownerOf([...ONE_AFTER_THE_OTHER, beside, stray(30 * SECOND)])).toBe("minted-1");
  expect(ownerOf([...ONE_AFTER_THE_OTHER, stray(30 * SECOND, "4712")])).toBe("minted-1");
  const another = ONE_AFTER_THE_OTHER.map((event): Event => ({ ...event, source: "gemini-cli" }));
  expect(ownerOf([...another, stray(30 * SECOND)])).toBe("minted-1");
});
