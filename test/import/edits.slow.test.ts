// Slow: only `npm run test:all` runs it. Edits of every recording; import/same.test.ts compares imports and drains of one
// recording per agent.
//
// Edited files: an import finds in transcripts what a drain finds there and in the payloads of hooks
import { afterEach, describe, expect, test } from "vitest";
import type { Agent } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { viewOf } from "#show/report/session-view.ts";
import { readStore } from "#store/read-only.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { sessionById } from "#store/sessions.ts";
import { clockAt } from "../support/clock.ts";
import { Replay } from "../support/replay.ts";
import { recordedCases } from "./home.ts";
import { importInto, unpackAll } from "./run.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe("edits in a recording", async () => {
  const cases = (await recordedCases()).filter(({ agent, source, name }) => hasEdits(agent, source, name));

  test("there are some of these agents", () => {
    const found = new Set(cases.map(({ source }) => source));
    expect([...found]).toEqual(expect.arrayContaining(["claude-code", "codex", "goose", "opencode", "vibe"]));
  });

  test.each(cases)("$source $name: imported ones are those of a drain", async ({ agent, source, name }) => {
    const byHooks = await drained(agent, source, name, false);
    const byBoth = await drained(agent, source, name, true);
    replay = new Replay(source, name);
    await importInto(replay, source);
    const packed = await editsIn(replay, agent);
    expect(packed).toEqual(byBoth);
    // Hooks know each of these files, and no more about them than the transcript; many hooks have no ids of calls
    const known = packed.map((edit) => ({ name: edit.name, files: edit.files }));
    expect(known).toEqual(byHooks.length === 0 ? known : expect.arrayContaining(byHooks.map(leastOf)));
    await unpackAll(replay, source);
    expect(await editsIn(replay, agent)).toEqual(packed);
    await importInto(replay, source);
    expect(await editsIn(replay, agent), "read again").toEqual(packed);
  });
});

// --- internal ---

const leastOf = ({ name, files }: { readonly name: string; readonly files: readonly FileWrite[] }) => ({
  name,
  files: files.map((file) => expect.objectContaining(file)),
});

/** Whether a hook of the recording reports a written file; those of some agents only report other calls. */
function hasEdits(agent: Agent, source: string, name: string): boolean {
  if (source === "vibe" && name === "tools") return true;
  // Its hook reports the refused call as done
  if (source === "gemini-cli" && name === "denied") return false;
  const of = new Replay(source, name, { withTranscripts: false });
  try {
    return of.calls.some(({ event, stdin, env, received_at }) => {
      const facts = { source, event, cwd: of.home, payloadBytes: 0, truncated: false };
      const events = agent.toEvents(stdin, {
        ...facts,
        timeMs: Date.parse(received_at),
        env: { HOME: of.home, ...env },
      });
      return events.length > 0 && (agent.toFileWrites?.(stdin, { events, entries: [] }) ?? []).length > 0;
    });
  } finally {
    of.remove();
  }
}

async function drained(agent: Agent, source: string, name: string, withTranscripts: boolean) {
  const of = new Replay(source, name, { withTranscripts });
  try {
    const nowMs = Math.max(...of.calls.map(({ received_at }) => Date.parse(received_at)));
    for (const one of of.calls) of.put(one);
    await of.drain({ endIdle: true }, clockAt(nowMs));
    return await editsIn(of, agent);
  } finally {
    of.remove();
  }
}

/** The files of each call. Databases of recordings keep the paths that they had. */
async function editsIn(of: Replay, agent: Agent) {
  const settings = spanSettings(await of.deps());
  const inProject = ({ path, ...file }: FileWrite): FileWrite => ({
    path: path.replaceAll("\\", "/").replace(/^.*\/(?=acme-shop\/)/, ""),
    ...file,
  });
  const found = readStore(of.places.storePath, (db) =>
    db
      .prepare("SELECT id FROM sessions")
      .all()
      .flatMap((row) => viewOf(db, sessionById(db, Number(row["id"])), { agents: [agent] }, settings).toolCalls)
      .flatMap(({ tool: { callId, name, files } }) =>
        files === undefined ? [] : [{ callId, name, files: files.map(inProject) }],
      ),
  );
  return (found ?? []).toSorted((a, b) => (a.callId < b.callId ? -1 : 1));
}
