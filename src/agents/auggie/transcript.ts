// Places of session files: the program 0.36.0, read 2026-11-26; not recorded
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { asString } from "../shared/payload/json.ts";
import { distinctParts, existingFiles, SessionCopies } from "../shared/transcript/copies.ts";
import { sessionFiles } from "../shared/transcript/past.ts";
import { withUnreadUsage } from "../shared/transcript/unread-usage.ts";
import { readWhole } from "../shared/transcript/whole.ts";
import { readSession, WITH_KNOWN_USAGE } from "./session.ts";

export default {
  roots,
  /** One file per session, and copies of it from before a conflict with the server. */
  locate(query) {
    return sessionFiles(query, LAYOUTS, (path, within) => COPIES.idOf(path, within));
  },
  async files({ sessionId, path, home, mains, roots: within }) {
    if (idIn(`${sessionId}.json`) !== sessionId) return [];
    const folders = [...(path === undefined ? [] : [dirname(path)]), ...(within ?? roots(home))];
    const paths =
      mains ?? (await Promise.all([...new Set(folders)].map((folder) => filesOf(sessionId, folder)))).flat();
    return distinctParts(existingFiles(paths, within).map((file): TranscriptFile => ({ path: file })));
  },
  /** The program rewrites the file at each change, so it is read as a whole each time. */
  async *read(file, _from, options = {}) {
    const { object, isEmpty, writtenMs } = await readWhole(file);
    if (object === undefined || asString(object["sessionId"]) === undefined) {
      yield { entries: [], next: INITIAL_OFFSET, unreadable: isEmpty ? 0 : 1 };
      return;
    }
    const { entries, content, records } = readSession(object, writtenMs);
    const all = withUnreadUsage(object, WITH_KNOWN_USAGE, entries);
    yield { ...all, ...(options.content === true && { content }), next: INITIAL_OFFSET, unreadable: 0, records };
  },
} satisfies TranscriptReader;

function roots(home: string): readonly string[] {
  return [join(home, SESSIONS)];
}

// --- internal ---

const SESSIONS = join(".augment", "sessions");
const LAYOUTS = ["sessions", SESSIONS];

/** `<id>.json`, or `<id>-backup<n>.json`. */
const idIn = (name: string): string | undefined => /^([A-Za-z0-9][\w-]*?)(?:-backup\d+)?\.json$/.exec(name)?.[1];

const COPIES = new SessionCopies({ ending: ".json", idIn, ownId: /"sessionId":\s*"([\w-]+)"/ });

async function filesOf(sessionId: string, folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .sort()
    .map((name) => join(folder, name))
    .filter((path) => COPIES.idOf(path, undefined) === sessionId);
}
