import { levelOf } from "../capture/level.ts";
import { applyProjectSettings, hasProjectSettings, loadProjectSettings } from "../capture/project.ts";
import { protectRepository } from "../capture/protect.ts";
import { stripEntryNames } from "../capture/strip-names.ts";
import type { Drain } from "../drain/context.ts";
import { unknownRecordKinds } from "../drain/drift.ts";
import { lineIncrements, recordSelf, recordUnknownNames } from "../drain/self-counters.ts";
import { keepsNames } from "../model/capture.ts";
import { cardOf } from "../model/card-of.ts";
import { factsOf } from "../model/fact-columns.ts";
import { mergeEntries } from "../model/merge.ts";
import { digestOf } from "../model/packed.ts";
import type { Repository } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { readRepository } from "../repository/read.ts";
import { ownerOf, owners } from "../store/owners.ts";
import {
  isPacked,
  markWhole,
  ownedDigests,
  type PackedSession,
  packedBody,
  packedOwners,
  putPacked,
  readerOf,
  takePacked,
  tornSessions,
} from "../store/packed.ts";
import { setPositions } from "../store/positions.ts";
import { hasPrunedFacts, isPrunedFact } from "../store/pruned-facts.ts";
import { addSession, ensureSession, type StoredSession, sessionById, updateSession } from "../store/sessions.ts";
import { DigestSet } from "./digest-set.ts";
import { pack } from "./pack.lazy.ts";
import { priced } from "./price.ts";
import { type FileRead, packOptions, type ReadResult, type ReadTask, type SessionRead } from "./read.ts";
import type { Unpriced } from "./unpriced.ts";

/** A session that was read, on its way into the store. */
export interface Arrived {
  readonly task: ReadTask;
  readonly result: ReadResult;
  /** Its files are as they were: what is known of it came from a reading that this one replaces. */
  readonly isAgain: boolean;
}

/**
 * Writes sessions that were read into the store. A record that several sessions hold, since one was copied from another, is
 * kept once: by the one that came first.
 */
export class ImportWriter {
  readonly #drain: Drain;
  /** Digests of all records that somebody owns. */
  readonly #owned: DigestSet;
  #isReady = false;
  #hasForgotten = false;
  /** Of sessions that this import has kept. */
  readonly #numbers = new Set<number>();
  readonly #repositories = new Map<string, Repository | undefined>();

  /** @param bytes how much will be read */
  constructor(drain: Drain, bytes: number) {
    this.#drain = drain;
    this.#owned = new DigestSet(bytes / BYTES_PER_RECORD);
  }

  /** Sums that were lost with a part of the store, from the facts beside them. All of them or none. */
  mend(): void {
    const { db } = this.#drain;
    const torn = tornSessions(db);
    if (torn.length === 0) return;
    db.transaction(() => {
      for (const number of torn) {
        const stored = sessionById(db, number);
        const card = cardOf(this.#drain, stored.source);
        if (card === undefined) continue;
        const { agentVersion, reported } = stored;
        const told = {
          ...(agentVersion !== undefined && { agentVersion }),
          ...(reported !== undefined && { reported: JSON.parse(reported) as SessionRead["reported"] & object }),
        };
        const facts = packedBody(db, number) ?? "";
        const readBy = readerOf(db, number);
        const packed = pack(takePacked(db, number), packOptions(card, stored.sessionId, told));
        putPacked(db, [{ id: number, packed: { ...priced(packed, card.provider), facts }, readBy }]);
      }
      markWhole(db);
    });
  }

  /** All of them and where their files end, or none. @returns numbers of the sessions, in their order; `undefined` for one that must not be kept */
  async keep(arrived: readonly Arrived[]): Promise<readonly (number | undefined)[]> {
    const { db } = this.#drain;
    const folders = arrived.map(({ result }) => result.session?.cwd);
    await loadProjectSettings(this.#drain, folders);
    for (const folder of new Set(folders)) await this.#learnRepository(folder);
    this.#ready();
    return db.transaction(() => {
      const packs: Packs = [];
      const lines = new Lines();
      const flush = (): void => putPacked(db, packs.splice(0));
      const numbers = arrived.map((one) => this.#keepOne(one, packs, lines, flush));
      flush();
      setPositions(db, lines.positions);
      for (const [source, { read, unreadable }] of lines.bySource) {
        recordSelf(this.#drain, lineIncrements(source, read, unreadable));
      }
      return numbers;
    }, "commit.transcript");
  }

  #keepOne({ task, result, isAgain }: Arrived, packs: Packs, lines: Lines, flush: () => void): number | undefined {
    const { db, report, version: readBy } = this.#drain;
    const { session } = result;
    report.problems.push(...result.problems);
    if (session === undefined) {
      report.problems.push(...nonsense(task, result));
      return undefined;
    }
    // What is not kept after all is looked up in the store once more than needed
    const { owned } = session.packed;
    const unowned = this.#owned.addUntilKnown(owned);
    const isUnowned = unowned === owned.length;
    const number = isUnowned ? this.#addNew(task, result, session) : undefined;
    if (number !== undefined) {
      this.#count(task, result, session, number, lines);
      packs.push({ id: number, packed: priced(session.packed, this.#providerOf(task.source)), readBy });
      return number;
    }
    const made = ensureSession(db, task.source, task.sessionId, session.firstMs);
    const stored = applyProjectSettings(this.#drain, made, session.cwd);
    if (stored === undefined) return undefined;
    this.#count(task, result, session, stored.id, lines);
    const level = levelOf(this.#drain, stored);
    const bare = !keepsNames(level);
    updateSession(db, stored.id, {
      timeMs: session.firstMs,
      ...(stored.cwd === undefined && !bare && { cwd: session.cwd }),
      agentVersion: session.agentVersion,
      ...(!bare && { branch: session.branch, repository: this.#repositories.get(session.cwd ?? "") }),
      transcriptPath: task.files[0]?.path,
      reported: session.reported === undefined ? undefined : JSON.stringify(session.reported),
    });
    updateSession(db, stored.id, { timeMs: session.lastMs });
    if (this.#numbers.has(stored.id)) flush();
    this.#numbers.add(stored.id);
    const isNew = !isPacked(db, stored.id);
    if (isNew && !bare && !this.#hasForgotten && isUnowned) {
      packs.push({ id: stored.id, packed: priced(session.packed, this.#providerOf(task.source)), readBy });
      return stored.id;
    }
    // What came before in this commit may own what this one holds
    flush();
    const fresh = new Set(owned.subarray(0, unowned));
    const before = takePacked(db, stored.id);
    const had = new Set(before.map(({ globalKey = "" }) => digestOf(task.source, globalKey)));
    const isNobodys = (digest: number): boolean => fresh.has(digest) || !this.#owned.has(digest);
    const isItsOwn =
      isAgain && !bare && !this.#hasForgotten && owned.every((digest) => had.has(digest) || isNobodys(digest));
    const packed = isItsOwn
      ? session.packed
      : this.#again(stored, session.packed, isAgain ? [] : before, session, bare, fresh);
    this.#owned.addAll(packed.owned);
    // What it owned before stands there
    const added = { ...packed, owned: packed.owned.filter((digest) => !had.has(digest)) };
    packs.push({ id: stored.id, packed: priced(added, this.#providerOf(task.source)), readBy });
    return stored.id;
  }

  /**
   * A session that the store does not know and nothing is to be weighed of: one row says all that is known of it.
   *
   * @returns its number; `undefined` for any other, of which nothing is written
   */
  #addNew(
    task: ReadTask,
    { files }: ReadResult,
    session: SessionRead & { readonly packed: Unpriced },
  ): number | undefined {
    const level = levelOf(this.#drain, {});
    if (!keepsNames(level) || this.#hasForgotten || hasProjectSettings(this.#drain, session.cwd)) return undefined;
    if (files.length === 0) return undefined;
    const { firstMs, lastMs, cwd, agentVersion, branch, reported } = session;
    const number = addSession(this.#drain.db, task.source, task.sessionId, firstMs, lastMs, {
      cwd,
      agentVersion,
      branch,
      repository: this.#repositories.get(cwd ?? ""),
      transcriptPath: task.files[0]?.path,
      reported: reported === undefined ? undefined : JSON.stringify(reported),
    });
    if (number !== undefined) this.#numbers.add(number);
    return number;
  }

  /** How far its files were read, and what was in them. */
  #count(
    task: ReadTask,
    { files, unknownKinds }: ReadResult,
    session: SessionRead,
    number: number,
    lines: Lines,
  ): void {
    const { report } = this.#drain;
    for (const file of files) {
      lines.add(task.source, number, file);
      report.transcriptLinesUnreadable += file.unreadable;
    }
    recordUnknownNames(this.#drain, task.source, unknownRecordKinds(unknownKinds), session.agentVersion);
  }

  #providerOf(source: string): string | undefined {
    return cardOf(this.#drain, source)?.provider;
  }

  /**
   * The long way: with what was known before, without what others own, without names where none are kept.
   *
   * @param fresh digests that nobody had before this session came
   */
  #again(
    stored: StoredSession,
    { facts }: Unpriced,
    before: readonly TranscriptEntry[],
    told: Parameters<typeof packOptions>[2],
    bare: boolean,
    fresh: ReadonlySet<number>,
  ): Unpriced {
    const card = cardOf(this.#drain, stored.source);
    if (card === undefined) throw new Error(`no card of ${JSON.stringify(stored.source)}`);
    const entries = new Map(before.map((entry) => [entry.key, entry]));
    for (const read of factsOf(facts)) {
      const entry = bare ? stripEntryNames(read, card.own) : read;
      const known = entries.get(entry.key);
      entries.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
    }
    const own = [...entries.values()].filter(
      ({ globalKey }) => globalKey === undefined || !this.#isAnothers(stored, globalKey, fresh),
    );
    return pack(own, packOptions(card, stored.sessionId, told));
  }

  #isAnothers({ id, source }: StoredSession, globalKey: string, fresh: ReadonlySet<number>): boolean {
    const { db } = this.#drain;
    const digest = digestOf(source, globalKey);
    if (!this.#hasForgotten && (fresh.has(digest) || !this.#owned.has(digest))) return false;
    const owner = ownerOf(db, source, globalKey);
    if (owner !== undefined) return owner !== id;
    if (packedOwners(db, source, globalKey).some((number) => number !== id)) return true;
    return this.#hasForgotten && isPrunedFact(db, "owner", source, globalKey);
  }

  async #learnRepository(folder: string | undefined): Promise<void> {
    if (folder === undefined || this.#repositories.has(folder)) return;
    const found = await readRepository(folder);
    this.#repositories.set(folder, found === undefined ? undefined : protectRepository(this.#drain, found));
  }

  /** Before the first commit: what hooks told of, and what was imported before, has its owner. */
  #ready(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    const { db } = this.#drain;
    this.#hasForgotten = hasPrunedFacts(db);
    for (const digests of ownedDigests(db)) this.#owned.addAll(digests);
    for (const some of owners(db)) {
      this.#owned.addAll(Float64Array.from(some, ({ source, globalKey }) => digestOf(source, globalKey)));
    }
  }
}

// --- internal ---

/** Agents write some kilobytes for each. */
const BYTES_PER_RECORD = 4096;

type Packs = PackedSession[];

/** Lines of transcripts, by the agent that wrote them, and how far the files were read that they stand in. */
class Lines {
  readonly bySource = new Map<string, { readonly read: number; readonly unreadable: number }>();
  readonly positions: {
    readonly sessionNumber: number;
    readonly path: string;
    readonly position: FileRead;
    readonly unreadable: number;
  }[] = [];

  add(source: string, sessionNumber: number, file: FileRead): void {
    const { records, unreadable } = file;
    this.positions.push({ sessionNumber, path: file.key, position: file, unreadable });
    const known = this.bySource.get(source) ?? { read: 0, unreadable: 0 };
    this.bySource.set(source, { read: known.read + records, unreadable: known.unreadable + unreadable });
  }
}

/** Files that hold nothing of a session are not noted: they are looked at again, and told of again where they are torn. */
const nonsense = ({ files }: ReadTask, result: ReadResult): readonly string[] => {
  const unreadable = result.files.reduce((sum, file) => sum + file.unreadable, 0);
  const path = JSON.stringify(files[0]?.path ?? "");
  return unreadable === 0
    ? []
    : [
        `could not read the transcript ${path}: nothing of a session is in it, ${unreadable === 1 ? "1 record makes" : `${unreadable} records make`} no sense`,
      ];
};
