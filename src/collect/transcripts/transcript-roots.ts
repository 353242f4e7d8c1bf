import { delimiter, dirname, isAbsolute, resolve } from "node:path";
import type { LoadedConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { cardOf } from "#core/rules/cards.ts";
import { suggest } from "#kit/suggest.ts";
import type { Database } from "#store/database.ts";
import { metaKeys, readMeta, writeMeta } from "#store/meta.ts";

// A path in a payload is not trusted: a transcript is read only from a folder where its agent keeps transcripts. The agent's
// reader returns these folders for a home folder and the environment variables that the intake recorded.

/**
 * Stores transcript folders that differ from the default because of a hook's environment variables. Later sessions may be there
 * too.
 */
export async function recordMovedRoots(drain: RecordDeps, events: readonly Event[], facts: IntakeFacts): Promise<void> {
  const source = events[0]?.source;
  const load = source === undefined ? undefined : cardOf(drain, source)?.transcript;
  if (source === undefined || load === undefined || !hasMovedFolders(drain, facts)) return;
  const { default: reader } = await load();
  const defaultRoots = new Set(reader.roots(drain.places.home, {}));
  const moved = reader
    .roots(facts.env["HOME"] ?? drain.places.home, facts.env)
    .filter((root) => !defaultRoots.has(root));
  addMovedRoots(drain, source, moved);
}

/** Stores folders of one agent; one that would allow reading any file is left out. */
export function addMovedRoots(
  { db, places }: Pick<RecordDeps, "db" | "places">,
  source: string,
  roots: readonly string[],
): void {
  const moved = roots.filter((root) => isAcceptableRoot(root, places.home));
  const known = movedRoots(db, source);
  if (moved.every((root) => known.includes(root))) return;
  const kept = [...moved, ...known.filter((root) => !moved.includes(root))].slice(0, MAX_MOVED_ROOTS);
  writeMeta(db, keyOf(source), JSON.stringify(kept));
}

/**
 * All folders that a session's transcripts may be read from: the agent's default folders, moved ones, and those in the user's
 * settings.
 */
export const rootsOf = (
  { db, ...deps }: RootsDeps,
  reader: Pick<TranscriptReader, "roots">,
  source: string,
): readonly string[] => rootsWithMoved(deps, reader, db === undefined ? [] : movedRoots(db, source));

/** `rootsOf`, with an entry of `movedRootsOf`, for callers that have closed the store meanwhile. */
export function rootsWithMoved(
  { places, loaded }: Omit<RootsDeps, "db">,
  reader: Pick<TranscriptReader, "roots">,
  moved: readonly string[],
): readonly string[] {
  return [...reader.roots(places.home, {}), ...moved, ...configuredFolders(loaded)];
}

/** The folders in the user's settings. */
const configuredFolders = ({ config }: LoadedConfig): readonly string[] =>
  (config.transcripts.folders ?? "").split(delimiter).filter((folder) => isAbsolute(folder));

/** The folders of agents that `recordMovedRoots` stored, by source. */
export type MovedRoots = ReadonlyMap<string, readonly string[]>;

/** @returns an entry for each of these sources */
export const movedRootsOf = (db: Database, sources: Iterable<string>): MovedRoots =>
  new Map([...new Set(sources)].map((source) => [source, movedRoots(db, source)]));

/** The agents with transcript folders that `recordMovedRoots` stored. */
export const sourcesWithMovedRoots = (db: Database): readonly string[] =>
  metaKeys(db, keyOf("")).map((key) => key.slice(keyOf("").length));

/**
 * The command that allows the folders of these transcripts. It names the folders that are allowed already too, because the setting
 * replaces them.
 *
 * @returns `undefined` if no folder can be allowed: it is the home folder or above it
 */
export function allowCommand(
  { loaded, places }: { readonly loaded: LoadedConfig; readonly places: Pick<Places, "home"> },
  paths: readonly string[],
): string | undefined {
  const folders = paths.map((path) => dirname(path)).filter((folder) => isNameable(folder, places.home));
  if (folders.length === 0) return undefined;
  const all = [...new Set([...configuredFolders(loaded), ...folders])].join(delimiter);
  return suggest(`config set transcripts.folders ${word(all)}`);
}

// --- internal ---

interface RecordDeps extends RootsDeps {
  readonly db: Database;
  readonly agents: readonly Agent[];
}

interface RootsDeps {
  readonly places: Places;
  readonly loaded: LoadedConfig;
  /** `undefined` if there is no store yet. */
  readonly db: Database | undefined;
}

/** Limit for the moved folders of one agent; the latest are kept. */
const MAX_MOVED_ROOTS = 50;

const keyOf = (source: string): string => `roots.${source}`;

function movedRoots(db: Database, source: string): readonly string[] {
  const note = readMeta(db, keyOf(source));
  return note === undefined ? [] : (JSON.parse(note) as readonly string[]);
}

const hasMovedFolders = ({ places }: Pick<RootsDeps, "places">, { env }: IntakeFacts): boolean =>
  Object.entries(env).some(([name, value]) => (name === "HOME" ? value !== places.home : true));

/** False for the root directory, the home folder and folders above it: they would allow reading any file. */
function isAcceptableRoot(root: string, home: string): boolean {
  if (!isAbsolute(root) || root.length > MAX_ROOT_CHARACTERS || /[\0\n]/.test(root)) return false;
  const folder = resolve(root);
  for (let above = resolve(home); ; above = dirname(above)) {
    if (above === folder) return false;
    if (above === dirname(above)) break;
  }
  return folder !== dirname(folder);
}
const MAX_ROOT_CHARACTERS = 4096;

const isNameable = (folder: string, home: string): boolean =>
  isAcceptableRoot(folder, home) && !folder.includes(delimiter) && !/[\p{Cc}\p{Cf}]/u.test(folder);

function word(text: string): string {
  if (/^[\w@%+=:,./\\-]+$/.test(text)) return text;
  return delimiter === ";" ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
