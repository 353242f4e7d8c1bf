import type { FactBase, FactOf, FactSink } from "#core/model/fact-sink.ts";
import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import {
  CALL,
  derivedKey,
  FactTable,
  type FactTables,
  type KeyIds,
  PROMPT,
  RESULT,
  SAME,
  USE,
} from "#core/packed/fact-tables.ts";
import { isChangeFact } from "#core/rules/change-facts.ts";
import { commonKey } from "#core/rules/keys.ts";
import { correctedUsage, isPlainUsage, limitNumber } from "#core/rules/limits.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { BranchTrack, withPullBranches } from "#core/session/branch-track.ts";
import { digester } from "#kit/digest.ts";
import { defined } from "#kit/objects.ts";
import { CallChanges } from "./changes.ts";
import type { Clean } from "./clean-entries.ts";
import { mergeRow } from "./row-merge.ts";

/**
 * Puts the facts of one session into tables, cleaned for storage and with each key once, without an object per fact. The
 * result is the same as that of cleaning entries and joining them with `mergeEntries`, in any order.
 */
export class RowSink implements FactSink {
  count = 0;
  /** Whether a call named files that it changed. */
  hasEdits = false;
  readonly #clean: Clean;
  readonly #onSessionFact: (entry: TranscriptEntry) => boolean;
  readonly #digestOf: (globalKey: string) => number;
  readonly #texts = new Texts();
  /** Original names, with the text number of their cleaned form. */
  readonly #names = new Map<string, number>();
  readonly #prompts = new KeyedTable("prompt");
  readonly #calls = new KeyedTable("model_call");
  readonly #uses = new KeyedTable("tool_use");
  readonly #results = new KeyedTable("tool_result");
  readonly #others = new Map<string, TranscriptEntry>();
  readonly #callChanges = new CallChanges();
  readonly #branches = new BranchTrack();
  /** The session's folder: the first one that it names. */
  #folder: string | undefined;
  /** Commits and changes, which are stored beside the facts. */
  readonly #changes = new Map<string, EntryOf<"commit"> | EntryOf<"change">>();

  /**
   * @param source of the agent, for digests
   * @param onSessionFact receives entries without a table; returns true if the entry is a fact about the session, which is not
   *   stored
   */
  constructor(source: string, clean: Clean, onSessionFact: (entry: TranscriptEntry) => boolean) {
    this.#clean = clean;
    this.#onSessionFact = onSessionFact;
    this.#digestOf = digester(source);
  }

  get isEmpty(): boolean {
    const rows = this.#prompts.rows + this.#calls.rows + this.#uses.rows + this.#results.rows;
    return rows === 0 && this.#others.size === 0;
  }

  prompt(base: FactBase, fact: FactOf<"prompt">): void {
    const table = this.#prompts;
    const at = table.next();
    const { data } = table;
    this.#place(data, at, base);
    data[at + PROMPT.origin] = this.#name(fact.origin);
    data[at + PROMPT.length] = numberOf(fact.length, "length");
    if (base.agentId === undefined) this.#branches.prompt(base.timeMs);
    this.#put(table, at, base, undefined);
  }

  modelCall(base: FactBase, fact: FactOf<"model_call">): void {
    const table = this.#calls;
    const at = table.next();
    const { data } = table;
    this.#place(data, at, base);
    const { responseId } = fact;
    data[at + CALL.responseId] = this.#id(responseId);
    data[at + CALL.requestId] = this.#id(fact.requestId);
    data[at + CALL.besideResponseId] = this.#id(fact.besideResponseId);
    data[at + CALL.model] = this.#name(fact.model);
    data[at + CALL.provider] = this.#name(fact.provider);
    data[at + CALL.requestedModel] = this.#name(fact.requestedModel);
    data[at + CALL.startMs] = timeOf(fact.startMs);
    data[at + CALL.endMs] = timeOf(fact.endMs);
    putUsage(data, at, fact.usage);
    data[at + CALL.complete] = fact.complete ? 1 : 0;
    data[at + CALL.finishReason] = this.#name(fact.finishReason);
    data[at + CALL.asksForTools] = fact.asksForTools ? 1 : Number.NaN;
    data[at + CALL.covers] = this.#name(fact.covers);
    data[at + CALL.coveredCalls] = numberOf(fact.coveredCalls, "coveredCalls");
    data[at + CALL.tier] = this.#name(fact.tier);
    data[at + CALL.webSearches] = numberOf(fact.webSearches, "webSearches");
    data[at + CALL.hasOtherFees] = fact.hasOtherFees ? 1 : Number.NaN;
    data[at + CALL.nanoCredits] = numberOf(fact.nanoCredits, "nanoCredits");
    data[at + CALL.purpose] = this.#name(fact.purpose);
    data[at + CALL.cacheMiss] =
      fact.cacheMiss === undefined ? Number.NaN : this.#texts.numberOf(JSON.stringify(fact.cacheMiss));
    if (base.agentId === undefined) this.#branches.activity(fact.endMs);
    this.#put(table, at, base, responseId === undefined ? undefined : fact);
  }

  toolUse(base: FactBase, fact: FactOf<"tool_use">, given?: unknown): void {
    this.#callChanges.use(fact, given);
    const table = this.#uses;
    const at = table.next();
    const { data } = table;
    this.#place(data, at, base);
    data[at + USE.callId] = this.#id(fact.callId);
    data[at + USE.name] = this.#name(fact.name);
    data[at + USE.executable] = this.#name(fact.executable);
    data[at + USE.mcpServer] = this.#name(fact.mcpServer);
    data[at + USE.skill] = this.#name(fact.skill);
    data[at + USE.inputDigest] = this.#id(fact.inputDigest);
    data[at + USE.givenId] = this.#id(fact.givenId);
    data[at + USE.files] = this.#files(fact.files);
    this.#put(table, at, base, fact);
  }

  toolResult(base: FactBase, fact: FactOf<"tool_result">, result?: unknown): void {
    for (const entry of this.#callChanges.result(base, fact, result)) this.other(entry);
    const table = this.#results;
    const at = table.next();
    const { data } = table;
    this.#place(data, at, base);
    data[at + RESULT.callId] = this.#id(fact.callId);
    data[at + RESULT.status] = this.#name(fact.status);
    data[at + RESULT.errorType] = this.#name(fact.errorType);
    data[at + RESULT.exitCode] = numberOf(fact.exitCode, "exitCode");
    data[at + RESULT.linesAdded] = numberOf(fact.linesAdded, "linesAdded");
    data[at + RESULT.linesRemoved] = numberOf(fact.linesRemoved, "linesRemoved");
    data[at + RESULT.spawnedAgentId] = this.#id(fact.spawnedAgentId);
    data[at + RESULT.durationMs] = numberOf(fact.durationMs, "durationMs");
    data[at + RESULT.files] = this.#files(fact.files);
    if (base.agentId === undefined) this.#branches.activity(base.timeMs);
    this.#put(table, at, base, fact);
  }

  other(entry: TranscriptEntry): void {
    this.count++;
    const cleaned = this.#clean.entry(defined<TranscriptEntry>(entry as never));
    if (cleaned.kind === "session") {
      this.#callChanges.enter(cleaned.cwd);
      this.#folder ??= cleaned.cwd;
      this.#branches.enter(cleaned);
    }
    if (this.#onSessionFact(cleaned)) return;
    if (isChangeFact(cleaned)) {
      const known = this.#changes.get(cleaned.key);
      this.#changes.set(cleaned.key, known === undefined ? cleaned : (mergeEntries(known, cleaned) as typeof cleaned));
      return;
    }
    const known = this.#others.get(cleaned.key);
    this.#others.set(cleaned.key, known === undefined ? cleaned : mergeEntries(known, cleaned));
  }

  needsResult(givenId: string): boolean {
    return this.#callChanges.needsResult(givenId);
  }

  /** Commits and changes so far, each once. */
  changes(): readonly (EntryOf<"commit"> | EntryOf<"change">)[] {
    return withPullBranches([...this.#changes.values(), ...this.#branches.found()]);
  }

  /** All other facts so far. */
  tables(): FactTables {
    return {
      texts: this.#texts.list,
      numberOf: (text) => this.#texts.known(text),
      tables: { prompt: this.#prompts, model_call: this.#calls, tool_use: this.#uses, tool_result: this.#results },
      others: [...this.#others.values()],
    };
  }

  /** Digests of the facts whose id is unique over sessions; see `digestOf`. */
  owned(): Float64Array {
    const tables = [this.#prompts, this.#calls, this.#uses, this.#results];
    const common = this.#calls.common;
    const all = new Float64Array(tables.reduce((sum, { rows }) => sum + rows, this.#others.size + common.length));
    let length = 0;
    for (const digest of common) all[length++] = digest;
    for (const { digests } of tables) {
      for (const digest of digests) if (!Number.isNaN(digest)) all[length++] = digest;
    }
    for (const { globalKey } of this.#others.values()) {
      if (globalKey !== undefined) all[length++] = this.#digestOf(globalKey);
    }
    return all.slice(0, length);
  }

  #place(data: Float64Array, at: number, { timeMs, promptKey, agentId }: FactBase): void {
    data[at + CALL.timeMs] = timeOf(timeMs);
    data[at + CALL.promptKey] = this.#id(promptKey);
    data[at + CALL.agentId] = this.#id(agentId);
  }

  /** Completes the row at a place: adds it, or joins it with the row that has its key. */
  #put(table: KeyedTable, at: number, base: FactBase, ids: KeyIds | undefined): void {
    this.count++;
    let { key } = base;
    const { globalKey } = base;
    let known = table.keys.get(key);
    if (known === undefined && !isPlainId(key)) {
      key = this.#clean.id(key);
      known = table.keys.get(key);
    }
    const { data } = table;
    const global = globalKey === undefined ? Number.NaN : globalKey === base.key ? SAME : this.#id(globalKey);
    if (known === undefined) {
      data[at + CALL.key] =
        ids !== undefined && derivedKey(table.kind, ids) === key ? Number.NaN : this.#texts.numberOf(key);
      data[at + CALL.globalKey] = global;
      table.digests.push(this.#digest(key, global));
      const common = table.kind === "model_call" && global === SAME ? commonKey(key) : undefined;
      if (common !== undefined) table.common.push(this.#digestOf(common));
      table.keys.set(key, table.rows);
      table.rows++;
      return;
    }
    const into = known * table.stride;
    // The ids that the key would be derived from may change
    if (Number.isNaN(data[into + CALL.key]) && !hasSameIds(table, into, at)) {
      data[into + CALL.key] = this.#texts.numberOf(key);
    }
    const before = data[into + CALL.globalKey] ?? Number.NaN;
    if (before !== global && !Number.isNaN(global)) {
      const [a, b] = [before, global].map((n) => JSON.stringify(n === SAME ? key : this.#texts.list[n]));
      if (Number.isNaN(before) || String(b) < String(a)) {
        data[into + CALL.globalKey] = global;
        table.digests[known] = this.#digest(key, global);
      }
    }
    mergeRow(table, into, at, this.#texts.list);
  }

  /** NaN if the fact's id is not unique over sessions. */
  #digest(key: string, global: number): number {
    return Number.isNaN(global) ? global : this.#digestOf(global === SAME ? key : (this.#texts.list[global] ?? ""));
  }

  #id(text: string | undefined): number {
    if (text === undefined) return Number.NaN;
    // Stored texts are already cleaned
    return this.#texts.known(text) ?? this.#texts.numberOf(isPlainId(text) ? text : this.#clean.id(text));
  }

  #files(given: FactOf<"tool_use">["files"]): number {
    const files = given === undefined ? undefined : this.#clean.files(given, this.#folder);
    if (files === undefined) return Number.NaN;
    this.hasEdits = true;
    return this.#texts.numberOf(JSON.stringify(files));
  }

  #name(text: string | undefined): number {
    if (text === undefined) return Number.NaN;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const number = this.#texts.numberOf(this.#clean.name(text));
    this.#names.set(text, number);
    return number;
  }
}

// --- internal ---

class KeyedTable extends FactTable {
  /** Numbers of rows by key. */
  readonly keys = new Map<string, number>();
  /** By row; NaN if there is none. */
  readonly digests: number[] = [];
  /** Of what all records of an answer have in common. */
  readonly common: number[] = [];
}

class Texts {
  readonly list: string[] = [];
  readonly #numbers = new Map<string, number>();

  known(text: string): number | undefined {
    return this.#numbers.get(text);
  }

  numberOf(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.list.length;
      this.list.push(text);
      this.#numbers.set(text, number);
    }
    return number;
  }
}

/** Whether two rows have the same ids that keys are derived from. */
function hasSameIds({ data, kind }: FactTable, a: number, b: number): boolean {
  const places = kind === "model_call" ? [CALL.responseId, CALL.requestId] : [USE.callId];
  return places.every((place) => Object.is(data[a + place], data[b + place]));
}

const PLAIN = /^[\x20-\x7e]*$/;
const isPlainId = (id: string): boolean => id.length <= 256 && PLAIN.test(id);

function timeOf(ms: number | undefined): number {
  if (ms === undefined) return Number.NaN;
  return ms >= 946_684_800_000 && ms <= 7_258_118_400_000 ? ms : (limitNumber(ms, "timeMs") ?? Number.NaN);
}

function numberOf(value: number | undefined, member: string): number {
  if (value === undefined) return Number.NaN;
  return value >= 0 && value <= 1e11 ? value : (limitNumber(value, member) ?? Number.NaN);
}

function putUsage(data: Float64Array, at: number, reported: TokenUsage | undefined): void {
  const usage = reported === undefined || isPlainUsage(reported) ? reported : correctedUsage(reported);
  for (const kind of TOKEN_KINDS) data[at + CALL[kind]] = usage?.[kind] ?? Number.NaN;
}
