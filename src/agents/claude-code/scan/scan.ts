import { closeSync } from "node:fs";
import type { FileScan, SessionScan, TranscriptFile } from "../../../model/agent.ts";
import type { FactTables } from "../../../model/fact-tables.ts";
import { mergeEntries } from "../../../model/merge.ts";
import type { EntryOf, TranscriptEntry } from "../../../model/transcript.ts";
import { openRegularNow } from "../../shared/transcript/open.ts";
import { type Kernel, startKernel } from "./kernel.ts";
import { type Guard, Reading } from "./reading.ts";
import { namesOf, putRow, tablesOf } from "./rows.ts";
import { Unfit } from "./texts.ts";

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
    return namesOf(this.#kernel).every((name) => this.#isFine(name)) ? tables : undefined;
  }

  #put(entry: TranscriptEntry): void {
    if (putRow(this.#kernel, entry)) return;
    const known = this.#others.get(entry.key);
    this.#others.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }

  /** Whether a name may stay as it is. Ids are plain already. */
  #isFine(name: string): boolean {
    const probe: EntryOf<"tool_use"> = { kind: "tool_use", key: "use:0", timeMs: PROBE_MS, callId: "0", name };
    return this.#guard([probe])[0] === probe;
  }
}

/** Any time will do. */
const PROBE_MS = 1_767_225_600_000;
