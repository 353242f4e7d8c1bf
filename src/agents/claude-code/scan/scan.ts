import { closeSync } from "node:fs";
import type { FileScan, SessionScan, TranscriptFile } from "../../../model/agent.ts";
import { CALL, type FactTables, NONE, USE } from "../../../model/fact-tables.ts";
import { mergeEntries } from "../../../model/merge.ts";
import type { EntryOf, TranscriptEntry } from "../../../model/transcript.ts";
import { openRegularNow } from "../../shared/open.ts";
import { type Kernel, startKernel } from "./kernel.ts";
import { type Guard, Reading } from "./reading.ts";
import { putRow, tablesOf, Unfit } from "./rows.ts";

/**
 * A session's files, read at once: lines that are as nearly all are go straight into tables, by WebAssembly; those that are
 * not are read by the rules of `lines.ts`, and what they tell is put beside. What contradicts itself is left to who can weigh it.
 */
export function scanSession(guard: Guard): SessionScan | undefined {
  kernel ??= startKernel() ?? "none";
  return kernel === "none" ? undefined : new Scan(kernel, guard);
}

// --- internal ---

let kernel: Kernel | "none" | undefined;

class Scan implements SessionScan {
  readonly #kernel: Kernel;
  readonly #guard: Guard;
  readonly #others = new Map<string, TranscriptEntry>();

  constructor(kernel: Kernel, guard: Guard) {
    this.#kernel = kernel;
    this.#guard = guard;
    kernel.session();
  }

  file(file: TranscriptFile): FileScan | undefined {
    const { fd, stats } = openRegularNow(file.path, file.roots);
    try {
      const before = { sizeBytes: stats.size, modifiedMs: stats.mtimeMs };
      return new Reading(this.#kernel, file, before, this.#guard, (entry) => this.#put(entry)).read(fd);
    } catch (error) {
      if (error instanceof Unfit) return undefined;
      throw error;
    } finally {
      closeSync(fd);
    }
  }

  tables(): FactTables | undefined {
    const tables = tablesOf(this.#kernel, [...this.#others.values()]);
    return this.#areFine(tables) ? tables : undefined;
  }

  #put(entry: TranscriptEntry): void {
    if (putRow(this.#kernel, entry)) return;
    const known = this.#others.get(entry.key);
    this.#others.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }

  /** Whether all names may stay as they are. Ids are plain already. */
  #areFine({ text, calls, uses }: FactTables): boolean {
    const named = new Set<number>();
    for (let row = 0; row < calls.ints.length; row += CALL.ints) {
      for (const place of [CALL.model, CALL.requested, CALL.finish]) named.add(calls.ints[row + place] ?? NONE);
    }
    for (let row = 0; row < uses.ints.length; row += USE.ints) named.add(uses.ints[row + USE.name] ?? NONE);
    named.delete(NONE);
    return [...named].every((number) => {
      const name = text(number);
      const probe: EntryOf<"tool_use"> = { kind: "tool_use", key: "use:0", timeMs: PROBE_MS, callId: "0", name };
      const [kept] = this.#guard([probe]);
      return kept === probe;
    });
  }
}

/** Any time will do. */
const PROBE_MS = 1_767_225_600_000;
