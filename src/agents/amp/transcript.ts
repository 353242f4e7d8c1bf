// Places of thread files: public readers named in README.md beside this file, read 2026-11-26; not recorded
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { asString } from "../shared/payload/json.ts";
import { distinctParts, existingFiles, SessionCopies } from "../shared/transcript/copies.ts";
import { sessionFiles } from "../shared/transcript/past.ts";
import { withUnreadUsage } from "../shared/transcript/unread-usage.ts";
import { readWhole } from "../shared/transcript/whole.ts";
import { readThread, relatedTo } from "./thread.ts";

export default {
  roots,
  /** One file per thread; its name is the thread's id. */
  locate(query) {
    return sessionFiles(query, LAYOUTS, (path, within) => COPIES.idOf(path, within));
  },
  async files({ sessionId, home, mains, roots: within }) {
    if (idIn(`${sessionId}.json`) === undefined) return [];
    const paths =
      mains ??
      (within ?? roots(home, {})).flatMap((folder) => [
        join(folder, `${sessionId}.json`),
        ...COPIES.of(sessionId, folder, within),
      ]);
    return distinctParts(existingFiles([...paths], within).map((path): TranscriptFile => ({ path })));
  },
  /** Amp rewrites the file at each change, so it is read as a whole each time. */
  async *read(file, _from, options = {}) {
    const { object: thread, isEmpty, writtenMs } = await readWhole(file);
    if (thread === undefined || asString(thread["id"]) !== COPIES.idOf(file.path, file.roots)) {
      yield { entries: [], next: INITIAL_OFFSET, unreadable: isEmpty ? 0 : 1 };
      return;
    }
    const isOriginThere = relatedTo(thread).some(
      (id) => idIn(`${id}.json`) !== undefined && existsSync(join(dirname(file.path), `${id}.json`)),
    );
    const { entries, content, records } = readThread(thread, writtenMs, isOriginThere);
    const all = withUnreadUsage(thread, WITH_KNOWN_USAGE, entries);
    yield { ...all, ...(options.content === true && { content }), next: INITIAL_OFFSET, unreadable: 0, records };
  },
} satisfies TranscriptReader;

/** `~/.local/share/amp/threads`, which `XDG_DATA_HOME` moves; `AMP_DATA_DIR` adds folders, separated by commas. */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const named =
    asString(env["AMP_DATA_DIR"])
      ?.split(",")
      .map((folder) => folder.trim())
      .filter(isAbsolute) ?? [];
  const data = asString(env["XDG_DATA_HOME"]);
  const usual = join(data !== undefined && isAbsolute(data) ? data : join(home, ".local", "share"), "amp");
  return [...new Set([...named, usual])].map((folder) => join(folder, "threads"));
}

// --- internal ---

/** Paths of the threads folder, relative to a root that contains it. */
const LAYOUTS = ["threads", join("amp", "threads"), join(".local", "share", "amp", "threads")];

/** The members that the reader knows. */
const WITH_KNOWN_USAGE = /^(?:messages\.(?:user|assistant)|usageLedger|env)$/;

const idIn = (name: string): string | undefined => /^(T-[\w-]+)\.json$/.exec(name)?.[1];

const COPIES = new SessionCopies({ ending: ".json", idIn, ownId: /"id":\s*"(T-[\w-]+)"/ });
