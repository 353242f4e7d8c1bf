import { afterEach, describe, expect, test } from "vitest";
import { nativePath } from "#collect/transcripts/native-path.ts";
import type { Event } from "#core/model/event-schema.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { locateAll } from "../support/located.ts";
import { chosenRecordings } from "../support/whole.ts";
import { type RecordedCase, type RecordedHome, recordedCases, recordedHome } from "./home.ts";

const cases = chosenRecordings(await recordedCases());
let at: RecordedHome | undefined;
afterEach(() => at?.replay.remove());

describe.each(["usual", "moved"] as const)("in the %s folder", (where) => {
  test.each(cases)("$source $name: imports each recorded session once, as hooks report it", async (of) => {
    at = await recordedHome(of, where);
    const { reader, home, roots, expected } = at;
    const { sessions, problems } = await locateAll(reader, home, roots);
    expect(problems).toEqual([]);
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(expected.map((one) => one.session_id).sort());
    expect((await locateAll(reader, home, roots)).sessions).toEqual(sessions);
    const reported = reportedPaths(of, at);
    const keys: string[] = [];
    for (const { sessionId, path } of sessions) {
      const own = await keysOf(at, sessionId, path);
      expect(own.length).toBeGreaterThan(0);
      expect(await entriesOf(at, sessionId, path), sessionId).toBeGreaterThan(0);
      // The same parts: what hooks reported is not read again, and none of it is missing
      if (reported.has(sessionId)) expect(await keysOf(at, sessionId, reported.get(sessionId))).toEqual(own);
      keys.push(...own);
    }
    expect(new Set(keys).size).toBe(keys.length);
    for (const { session_id } of expected) expect([...reported.keys()]).toContain(session_id);
  });
});

// --- internal ---

async function keysOf({ reader, home, roots }: RecordedHome, sessionId: string, path?: string): Promise<string[]> {
  const query = { sessionId, home, roots, ...(path !== undefined && { path }) };
  return (await reader.files(query)).map((file) => file.key ?? file.path).sort();
}

async function entriesOf({ reader, home, roots }: RecordedHome, sessionId: string, path: string): Promise<number> {
  let found = 0;
  for (const file of await reader.files({ sessionId, path, home, roots })) {
    for await (const { entries } of reader.read({ ...file, roots }, INITIAL_OFFSET)) found += entries.length;
  }
  return found;
}

/** The sessions that hooks reported, each with its last path, as a drain stores it. */
function reportedPaths({ agent, source }: RecordedCase, { calls, env, home }: RecordedHome) {
  const paths = new Map<string, string | undefined>();
  const events = calls.flatMap((call): readonly Event[] => {
    if (call.stdin === undefined) return [];
    const facts = { timeMs: Date.parse(call.received_at), env: { HOME: home, ...call.env, ...env } };
    return agent.toEvents(call.stdin, {
      source,
      event: call.event,
      cwd: home,
      payloadBytes: 0,
      truncated: false,
      ...facts,
    });
  });
  for (const event of events) {
    const { transcript_path: reported, parent_session_id: parent } = extrasOf(event);
    if (parent !== undefined) continue;
    const path = reported === undefined ? undefined : nativePath(reported, process.platform);
    paths.set(event.session_id, path ?? paths.get(event.session_id));
  }
  return paths;
}
