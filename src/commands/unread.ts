import { dirname } from "node:path";
import { allowCommand } from "#collect/transcripts/transcript-roots.ts";
import { unreadFormats } from "#collect/transcripts/unread-formats.ts";
import type { Context } from "#config/context.ts";
import { knownCardOf } from "#core/rules/cards.ts";
import { refusalOf } from "#kit/open.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable, terminalOf, wrapped } from "#kit/text/terminal.ts";
import { MAX_CHECKED, type ReadTranscript, type Unread } from "#show/report/text/unread.ts";
import { type UnreadTranscript, unreadTranscripts } from "#store/failures.ts";
import { hasReadTranscript, readShapes } from "#store/positions.ts";
import { readStore } from "#store/read-only.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { ReadContext } from "./refreshed.ts";

/** The transcripts of sessions that were not read. */
export async function unreadIn(
  { sinceMs, agent }: { readonly sinceMs?: number | undefined; readonly agent?: string | undefined },
  deps: Pick<ReadContext, "loaded">,
  { places }: Pick<Context, "places">,
): Promise<Unread | undefined> {
  const found = readStore(places.storePath, (db) =>
    unreadTranscripts(db, { limit: MAX_CHECKED, ...(sinceMs !== undefined && { sinceMs }) }),
  )?.filter(({ session }) => agent === undefined || session.source === agent);
  return found === undefined || found.length === 0 ? undefined : withCommand(found, { ...deps, places });
}

/** What was read of one session's transcript, for `show`. */
export async function readTranscriptOf(
  { id: session, source }: StoredSession,
  deps: Pick<ReadContext, "agents" | "loaded">,
  { places }: Pick<Context, "places">,
): Promise<ReadTranscript> {
  const { found, ...read } = readStore(places.storePath, (db) => ({
    found: unreadTranscripts(db, { limit: 1, session }),
    shapes: readShapes(db, session),
    isRead: hasReadTranscript(db, session),
  })) ?? { found: [], shapes: [], isRead: false };
  const isByShape = knownCardOf(deps, source) === undefined;
  return { ...read, isByShape, ...(found.length > 0 && { unread: await withCommand(found, { ...deps, places }) }) };
}

/** Sentences about sessions of this machine that no command can show. @param agent only its sessions */
export const unreadHere = (
  deps: Pick<ReadContext, "agents" | "loaded">,
  { places, env }: Pick<Context, "places" | "env">,
  agent: string | undefined,
): Promise<readonly string[]> => unreadFormats({ ...deps, places, env }, agent === undefined ? undefined : [agent]);

/** Prints them below a command's text. */
export async function printUnreadHere(
  deps: Pick<ReadContext, "agents" | "loaded">,
  context: Context,
  agent: string | undefined,
): Promise<void> {
  const terminal = terminalOf(context);
  for (const text of await unreadHere(deps, context, agent))
    printLines(context, wrapped({ text: "" }, printable(text), terminal));
}

// --- internal ---

/** These with the command. */
async function withCommand(
  transcripts: readonly UnreadTranscript[],
  deps: Pick<ReadContext, "loaded"> & Pick<Context, "places">,
): Promise<Unread> {
  const allowable: string[] = [];
  for (const { path } of transcripts) {
    const own = allowCommand(deps, [path]) === undefined ? undefined : [dirname(path)];
    if (own !== undefined && (await refusalOf(path, [])) !== undefined && (await refusalOf(path, own)) === undefined)
      allowable.push(path);
  }
  const allow = allowCommand(deps, allowable);
  return { transcripts, ...(allow !== undefined && { allow }) };
}
