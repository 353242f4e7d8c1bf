import type { Packed } from "#core/model/packed.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { decodePackedFacts } from "#core/packed/fact-columns.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { cardOf } from "#core/rules/cards.ts";
import { isChangeFact } from "#core/rules/change-facts.ts";
import { otherKey } from "#core/rules/keys.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { digestOf } from "#kit/digest.ts";
import { messageOf } from "#kit/errors.ts";
import { levelOf } from "#store/capture/level.ts";
import { stripEntryNames } from "#store/capture/names.ts";
import {
  applyProjectSettings,
  hasChangesOff,
  hasProjectSettings,
  loadProjectSettings,
} from "#store/capture/project.ts";
import { changeTimes, hasLaterCommits } from "#store/changes.ts";
import { setLocalIds } from "#store/local-sessions.ts";
import { ownedKeyOf, ownerOf, owners } from "#store/owners.ts";
import { isPacked, markWhole, ownedDigests, packedOwners, takePacked, tornSessions } from "#store/packed.ts";
import { setPositions } from "#store/positions.ts";
import { hasPrunedFacts, isPrunedFact } from "#store/pruned-facts.ts";
import { findDamage } from "#store/salvage.lazy.ts";
import { addSession, ensureSession, type StoredSession, updateSession } from "#store/sessions.ts";
import { packedUsage } from "#store/sum-rows.ts";
import { affectsAllSessions } from "../drain/contain.ts";
import type { Drain } from "../drain/context.ts";
import { addSubagents } from "../drain/make-subagent.ts";
import { lineIncrements, recordSelf, recordUnknownNames } from "../drain/self.ts";
import { unknownRecordKinds } from "../payload/drift.ts";
import { BranchTickets } from "./changes.ts";
import { completeFromCopies } from "./complete-from-copies.ts";
import { DigestSet, keysFor, recordDigests } from "./digest-set.ts";
import { ImportCommit } from "./import-commit.ts";
import { pack } from "./pack.lazy.ts";
import { type KnownSums, pricedInStore, type Unpriced } from "./price.ts";
import { packOptions, type ReadResult, type ReadTask, type SessionRead, timesOf } from "./read.ts";
import { rebuildSums } from "./rebuild-sums.ts";
import { Repositories } from "./repositories.ts";

/** A session that was read and is not stored yet. */
export interface ReadSession {
  readonly task: ReadTask;
  readonly result: ReadResult;
  /** Its files have not changed: this replaces what an earlier version read. */
  readonly isReimport: boolean;
}

/**
 * Writes sessions into the store. A record that several sessions contain, because one is a copy of another, is stored once: in
 * the first of them.
 */
export class ImportWriter {
  readonly #drain: Drain;
  /** Digests of all records that some session owns. */
  readonly #owned: DigestSet;
  #hasOwners = false;
  #hasPruned = false;
  /** Sessions that this import has written. */
  readonly #numbers = new Set<number>();
  readonly #repositories: Repositories;
  readonly #tickets: BranchTickets;

  /** @param bytes size of all files to read */
  constructor(drain: Drain, bytes: number) {
    this.#drain = drain;
    this.#owned = new DigestSet(bytes / BYTES_PER_RECORD);
    this.#repositories = new Repositories(drain);
    this.#tickets = new BranchTickets(drain.loaded.config.changes.ticketPattern);
  }

  /** Recomputes sums that a damaged store has lost, from the packed facts. All of them, or none if one fails. */
  rebuildSums(): void {
    const { db } = this.#drain;
    const sessionsWithoutSums = tornSessions(db);
    if (sessionsWithoutSums.length === 0) return;
    db.transaction(() => {
      rebuildSums(this.#drain, sessionsWithoutSums, false);
      markWhole(db);
    });
  }

  /**
   * Writes sessions and the positions in their files in one commit.
   *
   * @returns their numbers, in order; `undefined` for one that must not be stored, `failed` for one that cannot be
   */
  async write(read: readonly ReadSession[]): Promise<readonly (number | undefined | "failed")[]> {
    const folders = read.map(({ result }) => result.session?.cwd);
    await loadProjectSettings(this.#drain, folders);
    for (const { session } of read.map(({ result }) => result)) {
      await this.#repositories.read(session?.cwd, isOfRepository(session));
    }
    this.#loadOwners();
    const before = { ...this.#drain.report, problems: [...this.#drain.report.problems] };
    try {
      return this.#commit(read);
    } catch (error) {
      if (affectsAllSessions(error) || findDamage(this.#drain.db) !== undefined) throw error;
      Object.assign(this.#drain.report, before);
      return read.map((one) => this.#commitAlone(one));
    }
  }

  /** Writes one session in a separate commit, after a commit with several has failed. */
  #commitAlone(one: ReadSession): number | undefined | "failed" {
    try {
      return this.#commit([one])[0];
    } catch (error) {
      if (affectsAllSessions(error)) throw error;
      const { sessionId, files } = one.task;
      const text = `could not store the session ${sessionId} of ${JSON.stringify(files[0]?.path ?? "")}`;
      this.#drain.report.problems.push(`${text}: ${messageOf(error)}; the next import tries again`);
      return "failed";
    }
  }

  #commit(read: readonly ReadSession[]): readonly (number | undefined)[] {
    const { db } = this.#drain;
    return db.transaction(() => {
      const commit = new ImportCommit(db);
      const numbers = read.map((one) => {
        const number = this.#writeOne(one, commit);
        const { local } = one.task;
        if (number !== undefined && local !== undefined) setLocalIds(db, number, local.nativeId, local);
        // Hooks can report a subagent under an id of its own, also after this import
        const { subagentSessions = [], firstMs = 0 } = one.result.session ?? {};
        if (number !== undefined) addSubagents(this.#drain, number, subagentSessions, firstMs);
        return number;
      });
      commit.flush();
      setPositions(db, commit.positions);
      for (const [source, { read, unreadable }] of commit.bySource) {
        recordSelf(this.#drain, lineIncrements(source, read, unreadable));
      }
      return numbers;
    }, "commit.transcript");
  }

  #writeOne({ task, result, isReimport }: ReadSession, commit: ImportCommit): number | undefined {
    const { db, report } = this.#drain;
    const { session } = result;
    report.problems.push(...result.problems);
    if (session === undefined) {
      report.problems.push(...unreadableFiles(task, result));
      return undefined;
    }
    // If the session is not stored after all, these digests only cost extra lookups
    const { owned } = session.packed;
    const newDigests = this.#owned.addUntilKnown(owned);
    const hasOnlyNewRecords = newDigests === owned.length;
    const number = hasOnlyNewRecords ? this.#addNew(task, result, session) : undefined;
    if (number !== undefined) {
      this.#count(task, result, session, number, commit);
      this.#put(number, session.packed, task.source, commit);
      return number;
    }
    const sessionInStore = ensureSession(db, task.source, task.sessionId, session.firstMs);
    const stored = applyProjectSettings(this.#drain, sessionInStore, session.cwd);
    if (stored === undefined) return undefined;
    this.#count(task, result, session, stored.id, commit);
    const withoutNames = !keepsNames(levelOf(this.#drain, stored));
    this.#update(stored, task, session, withoutNames);
    const changes = hasChangesOff(this.#drain, stored, session.cwd) ? [] : (session.packed.changes ?? []);
    const read = { ...session.packed, changes };
    if (this.#numbers.has(stored.id)) commit.flush();
    this.#numbers.add(stored.id);
    const isNew = !isPacked(db, stored.id);
    if (isNew && !withoutNames && !this.#hasPruned && hasOnlyNewRecords) {
      this.#put(stored.id, read, task.source, commit);
      return stored.id;
    }
    // An earlier session of this commit may own the same records
    commit.flush();
    const before = packedUsage(db, stored.id);
    const newRecords = new Set(owned.subarray(0, newDigests));
    this.#put(
      stored.id,
      this.#replaced(stored, session, { read, newRecords, isReimport, withoutNames }),
      task.source,
      commit,
      before,
    );
    return stored.id;
  }

  /** @param before what was stored of it */
  #put(session: number, unpriced: Unpriced, source: string, commit: ImportCommit, before: KnownSums = []): void {
    const packed = this.#priced(session, unpriced, source, before);
    commit.packs.push({ id: session, packed, readBy: this.#drain.version });
  }

  /** Updates what is stored of the session itself. */
  #update(
    stored: StoredSession,
    { files }: ReadTask,
    session: NonNullable<ReadResult["session"]>,
    withoutNames: boolean,
  ): void {
    const { db } = this.#drain;
    updateSession(db, stored.id, {
      timeMs: session.firstMs,
      ...(stored.cwd === undefined && !withoutNames && { cwd: session.cwd }),
      agentVersion: session.agentVersion,
      ...(!withoutNames && { branch: session.branch, repository: this.#repositories.of(session.cwd) }),
      transcriptPath: files[0]?.path,
      reported: session.reported === undefined ? undefined : JSON.stringify(session.reported),
      contextParts: session.contextParts,
    });
    updateSession(db, stored.id, { timeMs: session.lastMs });
    if (withoutNames || hasChangesOff(this.#drain, stored, session.cwd)) return;
    const hasChanges = (session.packed.changes ?? []).length > 0;
    if (hasChanges || session.hasEdits === true) this.#repositories.store(stored.id, session.cwd);
  }

  /** Takes the stored records of a session out of the store. @returns what to store instead */
  #replaced(
    stored: StoredSession,
    session: SessionRead,
    { read, newRecords, isReimport, withoutNames }: Reread,
  ): Unpriced {
    const { db } = this.#drain;
    const before = takePacked(db, stored.id);
    const ownedBefore = new Set(recordDigests(stored.source, before));
    const isFree = (digest: number): boolean => newRecords.has(digest) || !this.#owned.has(digest);
    const hasOnlyOwnRecords =
      isReimport &&
      !withoutNames &&
      // A commit that was found later also divides the sums
      !hasLaterCommits(db, stored.id) &&
      !this.#hasPruned &&
      read.owned.every((digest) => ownedBefore.has(digest) || isFree(digest));
    const packed = hasOnlyOwnRecords
      ? read
      : this.#repack(stored, read, isReimport ? [] : before, session, withoutNames, newRecords);
    this.#owned.addAll(packed.owned);
    // Digests that the session owned before are already stored
    return { ...packed, owned: packed.owned.filter((digest) => !ownedBefore.has(digest)) };
  }

  /**
   * Writes a session that is not in the store, if neither project settings nor pruned records can affect it.
   *
   * @returns its number; `undefined` for any other session, which is not written
   */
  #addNew(
    task: ReadTask,
    { files }: ReadResult,
    session: SessionRead & { readonly packed: Unpriced },
  ): number | undefined {
    const level = levelOf(this.#drain, {});
    if (!keepsNames(level) || this.#hasPruned || hasProjectSettings(this.#drain, session.cwd)) return undefined;
    if (files.length === 0) return undefined;
    if (session.packed.changes !== undefined && !this.#drain.loaded.config.changes.enabled) return undefined;
    const { firstMs, lastMs, cwd, agentVersion, branch, reported, contextParts } = session;
    const number = addSession(this.#drain.db, task.source, task.sessionId, firstMs, lastMs, {
      cwd,
      agentVersion,
      branch,
      repository: this.#repositories.of(cwd),
      transcriptPath: task.files[0]?.path,
      reported: reported === undefined ? undefined : JSON.stringify(reported),
      contextParts,
    });
    if (number === undefined) return undefined;
    this.#numbers.add(number);
    if (isOfRepository(session) && this.#drain.loaded.config.changes.enabled) this.#repositories.store(number, cwd);
    return number;
  }

  /** Counts the lines of its files, and notes how far they were read. */
  #count(
    task: ReadTask,
    { files, unknownKinds, unreadUsage }: ReadResult,
    session: SessionRead,
    number: number,
    commit: ImportCommit,
  ): void {
    const { report } = this.#drain;
    for (const file of files) {
      commit.addLines(task.source, number, file);
      report.transcriptLinesUnreadable += file.unreadable;
    }
    recordUnknownNames(this.#drain, task.source, unknownRecordKinds(unknownKinds, unreadUsage), session.agentVersion);
  }

  #priced(session: number, unpriced: Unpriced, source: string, before: KnownSums): Packed {
    const priced = pricedInStore(this.#drain, session, unpriced, cardOf(this.#drain, source)?.provider, before);
    return priced.changes === undefined ? priced : { ...priced, changes: this.#tickets.addTo(priced.changes) };
  }

  /**
   * Packs a session again: with its stored records, without those that other sessions own, and without names if none are kept.
   *
   * @param newRecords digests that no session had before this one
   */
  #repack(
    stored: StoredSession,
    { facts, changes = [] }: Unpriced,
    before: readonly TranscriptEntry[],
    known: Parameters<typeof packOptions>[2],
    withoutNames: boolean,
    newRecords: ReadonlySet<number>,
  ): Unpriced {
    const card = cardOf(this.#drain, stored.source);
    if (card === undefined) throw new Error(`no card of ${JSON.stringify(stored.source)}`);
    const entries = new Map(before.map((entry) => [entry.key, entry]));
    for (const read of decodePackedFacts(facts)) {
      const entry = withoutNames ? stripEntryNames(read, card.own) : read;
      const before = entries.get(entry.key);
      entries.set(entry.key, before === undefined ? entry : mergeEntries(before, entry));
    }
    const own: TranscriptEntry[] = [];
    const copies: TranscriptEntry[] = [];
    for (const entry of entries.values()) {
      const { globalKey } = entry;
      const isCopy = globalKey !== undefined && this.#isOwnedElsewhere(stored, globalKey, newRecords);
      (isCopy ? copies : own).push(entry);
    }
    completeFromCopies(this.#drain, stored.source, copies);
    // What a copied call led to belongs to the session that made the call
    const copiedCalls = new Set(copies.flatMap((entry) => (entry.kind === "tool_result" ? [entry.callId] : [])));
    const kept = changes
      .filter(({ callId }) => callId === undefined || !copiedCalls.has(callId))
      .map((entry) => (withoutNames ? stripEntryNames(entry, card.own) : entry))
      .filter(isChangeFact);
    const times = timesOf(kept).concat(changeTimes(this.#drain.db, stored.id));
    const boundaries = [...new Set(times)].sort((a, b) => a - b);
    return { ...pack(own, packOptions(card, stored.sessionId, known, boundaries)), changes: kept };
  }

  #isOwnedElsewhere({ id, source }: StoredSession, globalKey: string, newRecords: ReadonlySet<number>): boolean {
    const { db } = this.#drain;
    const digest = digestOf(source, globalKey);
    const other = otherKey(globalKey);
    if (
      other !== undefined &&
      this.#owned.has(digestOf(source, other)) &&
      this.#isOwnedUnderKey(id, source, globalKey, other)
    ) {
      return true;
    }
    if (!this.#hasPruned && (newRecords.has(digest) || !this.#owned.has(digest))) return false;
    const owner = ownerOf(db, source, globalKey);
    if (owner !== undefined) return owner !== id;
    if (packedOwners(db, source, globalKey).some((number) => number !== id)) return true;
    return this.#hasPruned && isPrunedFact(db, "owner", source, globalKey);
  }

  /** Whether another session has a record of the same answer, with its request where this one has none or without. */
  #isOwnedUnderKey(id: number, source: string, globalKey: string, other: string): boolean {
    const { db } = this.#drain;
    const known = ownedKeyOf(db, source, globalKey);
    const owner = known === undefined ? undefined : ownerOf(db, source, known);
    if (owner !== undefined) return owner !== id;
    return packedOwners(db, source, other).some((number) => number !== id);
  }

  /** Before the first commit: loads the owners of all records that hooks reported or that were imported before. */
  #loadOwners(): void {
    if (this.#hasOwners) return;
    this.#hasOwners = true;
    const { db } = this.#drain;
    this.#hasPruned = hasPrunedFacts(db);
    for (const digests of ownedDigests(db)) this.#owned.addAll(digests);
    for (const some of owners(db)) {
      const keys = some.flatMap(({ source, globalKey }) => keysFor(globalKey).map((key) => digestOf(source, key)));
      this.#owned.addAll(Float64Array.from(keys));
    }
  }
}

// --- internal ---

/** Whether it is to be stored in which repository a session works: commits of what it did may be found. */
const isOfRepository = (session: ReadResult["session"]): boolean =>
  session?.packed.changes !== undefined || session?.hasEdits === true;

/** Typical size of a record in a transcript. */
const BYTES_PER_RECORD = 4096;

/** What was read of a session that the store may have in part. */
interface Reread {
  readonly read: Unpriced;
  /** Digests that no session had before this one. */
  readonly newRecords: ReadonlySet<number>;
  readonly isReimport: boolean;
  readonly withoutNames: boolean;
}

/** Problems of files without any session. They get no position, so that the next import reads and reports them again. */
const unreadableFiles = ({ files }: ReadTask, result: ReadResult): readonly string[] => {
  const unreadable = result.files.reduce((sum, file) => sum + file.unreadable, 0);
  const path = JSON.stringify(files[0]?.path ?? "");
  const records = unreadable === 1 ? "1 record makes" : `${unreadable} records make`;
  const problem = `could not read the transcript ${path}: nothing of a session is in it, ${records} no sense`;
  return unreadable === 0 ? [] : [problem];
};
