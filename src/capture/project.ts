import { type ProjectWishes, projectWishes } from "../config/project.ts";
import { isAtLeast, keepsContent } from "../model/capture.ts";
import type { Event } from "../model/event.ts";
import type { SpanRecord } from "../model/telemetry.ts";
import { stripSpans } from "../store/content.ts";
import { dropContent, exclude, projectOf, setProjectAttributes } from "../store/project.ts";
import { restrict, type StoredSession, sessionById } from "../store/sessions.ts";
import { CONTENT_ATTRIBUTES } from "../telemetry/attributes.ts";
import type { CaptureContext } from "./context.ts";
import { levelOf, noteRemnants } from "./level.ts";

/**
 * Reads what projects ask for, before anything of a session that runs in one is stored. Each folder once per drain: a file
 * that changed counts from the next drain on.
 */
export async function learnProjects(drain: CaptureContext, folders: readonly (string | undefined)[]): Promise<void> {
  const known = wishesOf(drain);
  for (const folder of new Set(folders)) {
    if (folder === undefined || known.has(folder)) continue;
    const wishes = await projectWishes(folder);
    known.set(folder, wishes);
    for (const warning of wishes.warnings) tellOnce(drain, warning);
  }
}

/** Whether the project in a folder asks for anything. */
export function hasProjectSettings(drain: CaptureContext, folder: string | undefined): boolean {
  const wishes = wishesOf(drain).get(folder ?? "");
  if (wishes === undefined) return false;
  return wishes.disabled || wishes.capture !== undefined || Object.keys(wishes.attributes).length > 0;
}

/** Folders that events name. */
export const foldersOf = (events: readonly Event[]): readonly (string | undefined)[] => events.map(({ cwd }) => cwd);

/**
 * Applies what the project of a session asks for. The session's own folder counts, which is the first that was told; a
 * restriction never goes back, whatever becomes of the file. Call it inside a transaction, before its facts are stored.
 *
 * @param cwd where the session has no folder yet
 * @returns the session as it is now; `undefined` when nothing of it is to be kept
 */
export function inProject(
  drain: CaptureContext,
  session: StoredSession,
  cwd: string | undefined = undefined,
): StoredSession | undefined {
  const { db } = drain;
  const wishes = wishesOf(drain).get(session.cwd ?? cwd ?? "");
  if (wishes?.disabled === true && exclude(db, session) > 0) noteRemnants(db);
  if (projectOf(db, session.id).excluded) return undefined;
  if (wishes === undefined) return session;
  setProjectAttributes(db, session, wishes.attributes);
  if (wishes.capture === undefined) return session;
  const before = levelOf(drain, session);
  restrict(db, session, wishes.capture);
  const isLowered = !isAtLeast(wishes.capture, before);
  // Told too late for what came before its folder did, or before the file was there
  if (isLowered || !keepsContent(wishes.capture)) dropContent(db, session);
  if (isLowered && stripSpans(db, [...CONTENT_ATTRIBUTES], session.id) > 0) noteRemnants(db);
  return sessionById(db, session.id);
}

/** The same for a session whose folder the store knows. */
export async function inItsProject(drain: CaptureContext, session: StoredSession): Promise<StoredSession | undefined> {
  await learnProjects(drain, [session.cwd]);
  return drain.db.transaction(() => inProject(drain, session));
}

/** What a session's project adds to its spans. Names that the user has given a value himself are the user's. */
export function attributesOfProject(
  { db, loaded }: CaptureContext,
  sessionNumber: number,
): Readonly<Record<string, string>> {
  const { attributes } = loaded.config.resource;
  const added = Object.entries(projectOf(db, sessionNumber).attributes);
  return Object.fromEntries(added.filter(([name]) => !Object.hasOwn(attributes, name)));
}

/** A span with what its project adds. What the span has already is its own. */
export const withAttributes = (record: SpanRecord, added: Readonly<Record<string, string>>): SpanRecord =>
  Object.keys(added).length === 0 ? record : { ...record, attributes: { ...added, ...record.attributes } };

// --- internal ---

const known = new WeakMap<CaptureContext["report"], Map<string, ProjectWishes>>();

/** By folder, for this drain. */
function wishesOf({ report }: CaptureContext): Map<string, ProjectWishes> {
  const own = known.get(report) ?? new Map<string, ProjectWishes>();
  known.set(report, own);
  return own;
}

function tellOnce(drain: CaptureContext, line: string): void {
  if (drain.report.problems.includes(line)) return;
  drain.report.problems.push(line);
  drain.log(line);
}
