import { type ContentQuery, contentLines, contentOfPart } from "#collect/transcripts/session-content.ts";
import { type MovedRoots, movedRootsOf, rootsWithMoved } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import type { LoadedConfig } from "#config/load.ts";
import type { Agent } from "#core/model/agent.ts";
import type { ContentLine, ShownContent, WantedContent } from "#core/model/content.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { cardOf } from "#core/rules/cards.ts";
import { monotonicMs } from "#kit/time.ts";
import type { ViewDeps } from "#show/view/deps.ts";
import { truncateContent } from "#store/capture/content.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import type { StoredSession } from "#store/sessions.ts";
import { showsContent } from "./titles.ts";

export interface ContentDeps {
  readonly agents: readonly Agent[];
  readonly loaded: LoadedConfig;
  readonly moved: MovedRoots;
}

/** What is needed to read a session's content; `undefined` if it must not be read, or its agent keeps no files. */
interface Source {
  readonly reader: TranscriptReader;
  readonly query: ContentQuery & { readonly redact: (text: string) => string };
}

/**
 * What was asked and done in a session, in one line each, from the agent's own files; see `contentLines`.
 *
 * @returns none if the setting or the project forbids it, and those that can be read within two seconds
 */
export async function linesOf(
  session: StoredSession,
  deps: ContentDeps,
  context: Context,
): Promise<readonly ContentLine[]> {
  const source = await sourceOf(session, deps, context);
  return source === undefined ? [] : contentLines(source.reader, session, source.query);
}

/** The content of one part of a session, for a person who looks at it; see `contentOfPart`. */
export async function partOf(
  session: StoredSession,
  wanted: WantedContent,
  deps: ContentDeps,
  context: Context,
): Promise<ShownContent> {
  const source = await sourceOf(session, deps, context);
  if (source === undefined) return {};
  const { redact, ...query } = source.query;
  const shown = (value: unknown) => truncateContent(value, { maxBytes: MAX_SHOWN_BYTES, redact })?.text;
  return contentOfPart(source.reader, session, wanted, { ...query, shown });
}

/** For the page's server, which asks while it runs; the store is opened for the agents' moved folders. */
export function contentReaders(
  deps: Omit<ContentDeps, "moved">,
  context: Context,
): Required<Pick<ViewDeps, "contentLines" | "contentOf">> {
  const withMoved = ({ source }: StoredSession): ContentDeps => ({
    ...deps,
    moved: withOpenStore(context, (db) => movedRootsOf(db, [source])) ?? new Map(),
  });
  return {
    contentLines: (session) => linesOf(session, withMoved(session), context),
    contentOf: (session, wanted) => partOf(session, wanted, withMoved(session), context),
  };
}

/** How to read a session's content. @returns `undefined` if the settings or the project forbid it, or its agent keeps no files */
export async function sourceOf(
  session: StoredSession,
  { agents, loaded, moved }: ContentDeps,
  { places }: Context,
): Promise<Source | undefined> {
  const { config } = loaded;
  if (!showsContent(config) || session.capture === "none") return undefined;
  const reader = (await cardOf({ agents }, session.source)?.transcript?.())?.default;
  if (reader === undefined) return undefined;
  const roots = rootsWithMoved({ places, loaded }, reader, moved.get(session.source) ?? []);
  const { redactSecrets: redact } = await protectionOf(config.redaction, places.home);
  const endMs = monotonicMs() + MAX_MS;
  return { reader, query: { home: places.home, roots, redact, hasTime: () => monotonicMs() < endMs } };
}

// --- internal ---

/** Of each prompt, command, result and answer. */
const MAX_SHOWN_BYTES = 64 << 10;

const MAX_MS = 2_000;
