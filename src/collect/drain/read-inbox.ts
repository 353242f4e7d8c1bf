import { statSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { ownUid } from "#config/file-owner.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { messageOf } from "#kit/errors.ts";
import { reportProblem } from "#store/capture/context.ts";
import { foldersOf, loadProjectSettings } from "#store/capture/project.ts";
import { checkpoint } from "#store/database.ts";
import { findDamage } from "#store/salvage.lazy.ts";
import { addUnwrittenEvents, committedFiles } from "#store/self.ts";
import { removerOf } from "#store/spare-files.ts";
import { claim, type InboxFile, type InboxProblem, type LostEvent, settle } from "../intake/inbox.ts";
import { unwrittenEvents } from "../intake/inbox-dirs.ts";
import { BRIDGE_VARIABLE, GONE_MARK, PIPELINE_VARIABLE } from "../intake/inbox-file.ts";
import { type Decoded, decodeEvent } from "../intake/payload.ts";
import { quarantine } from "../intake/quarantine.ts";
import { isRetried } from "../intake/quarantined.ts";
import { adapt, refused } from "../payload/adapt.ts";
import { recordMovedRoots } from "../transcripts/transcript-roots.ts";
import { agentProcessOf, processOf } from "./agent-processes.ts";
import { recordedPipeline } from "./ci-job.ts";
import { affectsAllSessions } from "./contain.ts";
import { type Drain, wantsContent } from "./context.ts";
import { originsIn } from "./local-sessions.ts";
import { readProcesses } from "./read-processes.ts";
import { payloadIncrement, recordSelf } from "./self.ts";
import { reasonSetAside, takeBack } from "./set-aside.ts";
import { type CountedRefusal, type PayloadBatch, type StorablePayload, storePayloads } from "./store-payloads.ts";

/**
 * Inbox → store. A file is removed only after its events are committed; a file that no agent recognises is quarantined.
 *
 * @returns numbers of the sessions that got new events
 */
export async function readInbox(drain: Drain): Promise<ReadonlySet<number>> {
  const { places, now } = drain;
  await unlink(join(places.stateDir, GONE_MARK)).catch(() => {});
  const unwritten = await unwrittenEvents(places.stateDir);
  const reading = new Reading(drain, addUnwrittenEvents(drain.db, unwritten.total, unwritten.lastMs));
  for await (const file of claim(places, { now, onProblem: reading.onProblem })) {
    if (reading.isStored(file)) await reading.removeStored(file);
    else if ("lostMs" in file) await reading.addLost(file);
    else await reading.addPayload(file);
  }
  await reading.commit();
  reading.reportLosses();
  readProcesses(drain);
  return reading.touched;
}

// --- internal ---

/** Reports inbox files that could not be read, in a few lines however many there are, and whose they are. */
function reportLeftFiles(drain: Drain, left: readonly InboxProblem[]): void {
  drain.report.left += left.length;
  for (const { path, reason } of left.slice(0, SHOWN)) {
    reportProblem(drain, `could not read ${JSON.stringify(path)}: ${reason}`);
  }
  if (left.length > SHOWN) reportProblem(drain, `could not read ${left.length - SHOWN} more files of the inbox`);
  const uid = ownUid(drain.platform);
  const others = left
    .map(({ path }) => statSync(path, { throwIfNoEntry: false })?.uid)
    .filter((owner) => owner !== uid);
  const [owner] = others.filter((one) => one !== undefined);
  if (uid === undefined || uid === 0 || owner === undefined) return;
  reportProblem(
    drain,
    `${others.length} of these files belong to user ${owner}, as which an agent ran (sudo, a container); ` +
      `make them yours: sudo chown -R ${uid} ${JSON.stringify(drain.places.stateDir)}`,
  );
}

/** A drain that is killed repeats at most this many; commits share an fsync. */
const FILES_PER_COMMIT = 200;
/** Limit for payloads with content, which stay in memory until the commit. */
const CONTENT_BYTES_PER_COMMIT = 16_000_000;

/** A payload or the mark of a lost event. */
type ClaimedFile = Pick<InboxFile, "path">;

type AdaptedFile = StorablePayload & { readonly file: InboxFile };

type Refused = Extract<ReturnType<typeof adapt>, { outcome: "refused" }>;
type Accepted = Exclude<ReturnType<typeof adapt>, { outcome: "refused" }>;

/** One pass over the inbox: what is read and not committed yet, and what could not be removed. */
class Reading {
  /** Numbers of the sessions that got new events. */
  readonly touched = new Set<number>();
  readonly #drain: Drain;
  readonly #wanted: { readonly content: boolean };
  /** Files that an earlier drain committed but did not remove. */
  readonly #stored: ReadonlySet<string>;
  /** A sender makes the same mistake in each envelope. */
  readonly #knownRemarks = new Set<string>();
  readonly #left: InboxProblem[] = [];
  #lostEvents: number;

  #batch: AdaptedFile[] = [];
  /** Counts of quarantined payloads; all others are counted with their events. */
  #quarantined: CountedRefusal[] = [];
  #lost: LostEvent[] = [];
  #heldBytes = 0;
  /** Files that are gone since the last commit. */
  #removed: string[] = [];

  constructor(drain: Drain, lostEvents: number) {
    this.#drain = drain;
    this.#wanted = { content: wantsContent(drain) };
    this.#stored = committedFiles(drain.db);
    this.#lostEvents = lostEvents;
  }

  readonly onProblem = (problem: InboxProblem): void => {
    if (problem.outcome === "left") {
      this.#left.push(problem);
      return;
    }
    this.#drain.report.quarantined++;
    reportProblem(this.#drain, `quarantined ${JSON.stringify(problem.path)}: ${problem.reason}`);
    this.#quarantined.push({ step: payloadIncrement(this.#drain, "quarantined", undefined, problem.reason) });
  };

  /** Whether an earlier drain stored the file, but was killed before it removed it, or could not. */
  isStored(file: ClaimedFile): boolean {
    return this.#stored.has(nameOf(file));
  }

  async removeStored(file: ClaimedFile): Promise<void> {
    await remove(file, this.#left);
    this.#removed.push(nameOf(file));
  }

  async addLost(file: LostEvent): Promise<void> {
    this.#lost.push(file);
    if (this.#lost.length >= FILES_PER_COMMIT) await this.commit();
  }

  async addPayload(file: InboxFile): Promise<void> {
    this.#drain.report.files++;
    this.#drain.progress.note("inbox", nameOf(file));
    const deadly = reasonSetAside(this.#drain, nameOf(file));
    if (deadly !== undefined) {
      await this.#quarantine(file, refused(deadly));
      return takeBack(this.#drain, nameOf(file));
    }
    const decoded = decodeEvent(file.payload, file.facts);
    const adapted = decoded.ok
      ? adapt(this.#drain.agents, decoded.value, intakeFactsOf(file, decoded), this.#wanted)
      : refused(decoded.reason);
    if (adapted.outcome === "refused") {
      await this.#quarantine(file, adapted);
      return;
    }
    this.#logRemarks(adapted.remarks);
    if (adapted.outcome === "ignored") this.#drain.report.ignored++;
    this.#batch.push(await this.#storable(file, adapted));
    if (adapted.content.length > 0) this.#heldBytes += file.payload.length;
    if (this.#batch.length >= FILES_PER_COMMIT || this.#heldBytes >= CONTENT_BYTES_PER_COMMIT) await this.commit();
  }

  /** Stores what was read since the last commit, and removes its files. */
  async commit(): Promise<void> {
    if (this.#batch.length + this.#quarantined.length + this.#lost.length === 0) return;
    const [batch, quarantined, lost, removed] = [this.#batch, this.#quarantined, this.#lost, this.#removed];
    const files = [...batch.map(({ file }) => file), ...lost];
    const { sessions, refused } = await storeContained(this.#drain, batch, lost, { quarantined, removed });
    for (const number of sessions) this.touched.add(number);
    this.#removed = files.map(nameOf);
    this.#lostEvents += lost.length;
    [this.#batch, this.#quarantined, this.#lost, this.#heldBytes] = [[], [], [], 0];
    if (files.length === 0) return;
    this.#drain.bridge.kick();
    checkpoint(this.#drain.db);
    const discard = removerOf(this.#drain.places.stateDir);
    for (const file of files) if (!refused.has(file)) await remove(file, this.#left, discard);
  }

  reportLosses(): void {
    reportLeftFiles(this.#drain, this.#left);
    if (this.#lostEvents === 0) return;
    const what = this.#lostEvents === 1 ? "1 event was" : `${this.#lostEvents} events were`;
    reportProblem(this.#drain, `${what} lost because the disk was full`);
  }

  async #quarantine(file: InboxFile, adapted: Refused): Promise<void> {
    const { reason, source = file.facts.source } = adapted;
    try {
      await quarantine(this.#drain.places, file, reason, this.#drain.now());
    } catch (error) {
      this.#left.push(leftFile(file, error));
      return;
    }
    if (isRetried(file)) return;
    this.#drain.report.quarantined++;
    this.#quarantined.push({ step: payloadIncrement(this.#drain, "quarantined", source, reason), ...adapted });
    this.#drain.log(`quarantined a payload of ${source ?? "an unnamed agent"}: ${reason}`);
  }

  #logRemarks(remarks: readonly string[]): void {
    for (const remark of remarks) {
      if (this.#knownRemarks.has(remark)) continue;
      this.#knownRemarks.add(remark);
      this.#drain.log(remark);
    }
  }

  async #storable(file: InboxFile, adapted: Accepted): Promise<AdaptedFile> {
    const { facts } = file;
    await recordMovedRoots(this.#drain, adapted.events, facts);
    await loadProjectSettings(this.#drain, foldersOf(adapted.events));
    const origins = await originsIn(this.#drain, adapted.events, facts);
    const process = agentProcessOf(this.#drain, adapted.source, facts);
    const ranIn = processOf(facts);
    return {
      file,
      ...adapted,
      origins,
      ...(process && { process }),
      ...(ranIn && { ranIn }),
      pipeline: recordedPipeline(facts.env[PIPELINE_VARIABLE], this.#drain.env),
      isBridged: facts.env[BRIDGE_VARIABLE] === undefined,
      env: facts.env,
    };
  }
}

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

const SHOWN = 3;
