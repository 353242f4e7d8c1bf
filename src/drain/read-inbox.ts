import { unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { foldersOf, loadProjectSettings } from "../capture/project.ts";
import { reportProblem } from "../capture/report-problem.ts";
import { claim, type InboxFile, type InboxProblem, type LostEvent, settle } from "../intake/inbox.ts";
import { unwrittenEvents } from "../intake/inbox-dirs.ts";
import { BRIDGE_VARIABLE, GONE_MARK, PIPELINE_VARIABLE } from "../intake/inbox-file.ts";
import { type Decoded, decodeEvent } from "../intake/payload.ts";
import { quarantine } from "../intake/quarantine.ts";
import { isRetried } from "../intake/quarantined.ts";
import type { IntakeFacts } from "../model/agent.ts";
import { keepsContent } from "../model/capture.ts";
import { messageOf } from "../model/error-message.ts";
import { checkpoint } from "../store/database.ts";
import { findDamage } from "../store/salvage.lazy.ts";
import { addUnwrittenEvents, committedFiles } from "../store/self.ts";
import { removerOf } from "../store/spare-files.ts";
import { recordMovedRoots } from "../transcripts/transcript-roots.ts";
import { adapt, refused } from "./adapt.ts";
import { agentProcessOf } from "./agent-processes.ts";
import { affectsAllSessions } from "./contain.ts";
import type { Drain } from "./context.ts";
import { reportLeftFiles } from "./left-files.ts";
import { originsIn } from "./local-sessions.ts";
import { recordedPipeline } from "./pipeline-resource.ts";
import { payloadIncrement, recordSelf } from "./self-counters.ts";
import { type CountedRefusal, type PayloadBatch, type StorablePayload, storePayloads } from "./store-payloads.ts";

/**
 * Inbox → store. A file is removed only after its events are committed; a file that no agent recognises is quarantined.
 *
 * @returns numbers of the sessions that got new events
 */
export async function readInbox(drain: Drain): Promise<ReadonlySet<number>> {
  const { places, report } = drain;
  await unlink(join(places.stateDir, GONE_MARK)).catch(() => {});
  const touched = new Set<number>();
  let batch: AdaptedFile[] = [];
  // Counts of quarantined payloads; all others are counted with their events
  let quarantined: CountedRefusal[] = [];
  let lost: LostEvent[] = [];
  const left: InboxProblem[] = [];
  const unwritten = await unwrittenEvents(places.stateDir);
  let lostEvents = addUnwrittenEvents(drain.db, unwritten.total, unwritten.lastMs);
  let heldBytes = 0;
  /** A sender makes the same mistake in each envelope. */
  const knownRemarks = new Set<string>();
  const stored = committedFiles(drain.db);
  let removed: string[] = [];
  const commit = async (): Promise<void> => {
    if (batch.length + quarantined.length + lost.length === 0) return;
    const files = [...batch.map(({ file }) => file), ...lost];
    const names = files.map(nameOf);
    const lostMs = lost.map((event) => event.lostMs);
    const rest = { quarantined, lostMs, removed };
    const { sessions, refused } = await storeContained(drain, batch, lost, rest);
    for (const number of sessions) touched.add(number);
    removed = names;
    lostEvents += lost.length;
    batch = [];
    quarantined = [];
    lost = [];
    heldBytes = 0;
    if (files.length === 0) return;
    drain.bridge.kick();
    checkpoint(drain.db);
    const discard = removerOf(places.stateDir);
    for (const file of files) if (!refused.has(file)) await remove(file, left, discard);
  };
  const onProblem = (problem: InboxProblem): void => {
    if (problem.outcome === "left") {
      left.push(problem);
      return;
    }
    report.quarantined++;
    reportProblem(drain, `quarantined ${JSON.stringify(problem.path)}: ${problem.reason}`);
    quarantined.push({ step: payloadIncrement(drain, "quarantined", undefined, problem.reason) });
  };
  const wanted = { content: keepsContent(drain.loaded.config.capture) };
  for await (const file of claim(places, { now: drain.now, onProblem })) {
    if (stored.has(nameOf(file))) {
      // A drain was killed after the commit, or could not remove the file
      await remove(file, left);
      removed.push(nameOf(file));
      continue;
    }
    if ("lostMs" in file) {
      lost.push(file);
      if (lost.length >= FILES_PER_COMMIT) await commit();
      continue;
    }
    report.files++;
    const decoded = decodeEvent(file.payload, file.facts);
    const adapted = decoded.ok
      ? adapt(drain.agents, decoded.value, intakeFactsOf(file, decoded), wanted)
      : refused(decoded.reason);
    if (adapted.outcome === "refused") {
      const { reason, source = file.facts.source } = adapted;
      try {
        await quarantine(places, file, reason, drain.now());
      } catch (error) {
        left.push(leftFile(file, error));
        continue;
      }
      if (isRetried(file)) continue;
      report.quarantined++;
      quarantined.push({ step: payloadIncrement(drain, "quarantined", source, reason), ...adapted });
      drain.log(`quarantined a payload of ${source ?? "an unnamed agent"}: ${reason}`);
      continue;
    }
    for (const remark of adapted.remarks) {
      if (knownRemarks.has(remark)) continue;
      knownRemarks.add(remark);
      drain.log(remark);
    }
    await recordMovedRoots(drain, adapted.events, file.facts);
    await loadProjectSettings(drain, foldersOf(adapted.events));
    if (adapted.outcome === "ignored") report.ignored++;
    const origins = await originsIn(drain, adapted.events, file.facts);
    const process = agentProcessOf(drain, adapted.source, file.facts);
    batch.push({
      file,
      ...adapted,
      origins,
      ...(process && { process }),
      pipeline: recordedPipeline(file.facts.env[PIPELINE_VARIABLE], drain.env),
      isBridged: file.facts.env[BRIDGE_VARIABLE] === undefined,
    });
    if (adapted.content.length > 0) heldBytes += file.payload.length;
    if (batch.length < FILES_PER_COMMIT && heldBytes < CONTENT_BYTES_PER_COMMIT) continue;
    await commit();
  }
  await commit();
  reportLeftFiles(drain, left);
  if (lostEvents > 0) {
    const what = lostEvents === 1 ? "1 event was" : `${lostEvents} events were`;
    reportProblem(drain, `${what} lost because the disk was full`);
  }
  return touched;
}

// --- internal ---

/** A drain that is killed repeats at most this many; commits share an fsync. */
const FILES_PER_COMMIT = 200;
/** Limit for payloads with content, which stay in memory until the commit. */
const CONTENT_BYTES_PER_COMMIT = 16_000_000;

/** A payload or the mark of a lost event. */
type ClaimedFile = Pick<InboxFile, "path">;

type AdaptedFile = StorablePayload & { readonly file: InboxFile };

/**
 * Stores payloads in one commit. If one of them cannot be stored, each gets its own commit, and those that fail are quarantined.
 *
 * @returns numbers of the sessions, and the files that were quarantined or left
 */
async function storeContained(
  drain: Drain,
  batch: readonly AdaptedFile[],
  lost: readonly LostEvent[],
  rest: Pick<PayloadBatch, "quarantined" | "removed">,
): Promise<{ readonly sessions: readonly number[]; readonly refused: ReadonlySet<unknown> }> {
  const lostMs = lost.map((event) => event.lostMs);
  const files = [...batch.map(({ file }) => file), ...lost].map(nameOf);
  const before = { ...drain.report };
  try {
    return { sessions: storePayloads(drain, { ...rest, payloads: batch, lostMs, files }), refused: new Set() };
  } catch (error) {
    if (affectsAllSessions(error) || findDamage(drain.db) !== undefined) throw error;
    Object.assign(drain.report, before);
  }
  const none = { quarantined: [], lostMs: [], removed: [] };
  const sessions = [...storePayloads(drain, { ...rest, payloads: [], lostMs, files: lost.map(nameOf) })];
  const refused = new Set<unknown>();
  for (const one of batch) {
    const { events } = drain.report;
    try {
      sessions.push(...storePayloads(drain, { ...none, payloads: [one], files: [nameOf(one.file)] }));
    } catch (error) {
      if (affectsAllSessions(error)) throw error;
      drain.report.events = events;
      refused.add(one.file);
      await refuse(drain, one.file, `it cannot be stored: ${messageOf(error)}`);
    }
  }
  return { sessions, refused };
}

/** Quarantines a claimed file. */
async function refuse(drain: Drain, file: InboxFile, reason: string): Promise<void> {
  const { report, places } = drain;
  try {
    await quarantine(places, file, reason, drain.now());
  } catch (error) {
    reportLeftFiles(drain, [leftFile(file, error)]);
    return;
  }
  if (isRetried(file)) return;
  report.quarantined++;
  recordSelf(drain, [payloadIncrement(drain, "quarantined", file.facts.source, reason)]);
  drain.log(`quarantined a payload of ${file.facts.source ?? "an unnamed agent"}: ${reason}`);
}

/** Unique: each claimed file gets a new name. */
const nameOf = ({ path }: ClaimedFile): string => basename(path);

const intakeFactsOf = ({ facts }: InboxFile, { notes }: Extract<Decoded, { ok: true }>): IntakeFacts =>
  notes.includes("cut") ? { ...facts, truncated: true } : facts;

const remove = (file: ClaimedFile, left: InboxProblem[], discard?: (path: string) => void): Promise<void> =>
  settle(file, discard).catch((error: unknown) => void left.push(leftFile(file, error)));

const leftFile = ({ path }: ClaimedFile, error: unknown): InboxProblem => ({
  path,
  reason: messageOf(error),
  outcome: "left",
});
