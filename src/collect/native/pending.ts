import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { step } from "#kit/fault-points.ts";
import { appendOwn, readOwn } from "#kit/own-file.ts";
import { REASON_SUFFIX } from "../intake/inbox-dirs.ts";
import { type BodyFacts, MAX_BODY_BYTES, readBodyFileName } from "./body-file.ts";
import { exportedParts, POSITION_SUFFIX } from "./exported-file.ts";
import { exportedDir, forwardDir, nativeDir, unreadableDir } from "./receiver-file.ts";

/** Something that an agent sent or wrote, not read yet. */
export interface NativeBody {
  readonly source: string;
  /** `file`: what a file exporter wrote, in the agent's own format. */
  readonly signal: BodyFacts["signal"] | "file";
  readonly encoding: BodyFacts["encoding"] | "file";
  readonly isGzip: boolean;
  /** As received. Of a file: whole records, from where the last body of it ended. */
  readonly bytes: Buffer;
  /** After the commit: removes it, or queues it for `native.forward`. If it is not called, the next drain gets the body again. */
  done(): Promise<void>;
  /** It cannot be read: kept in `<state>/native/unreadable/`, bounded, counted. */
  reject(why: string): Promise<void>;
}

/**
 * All bodies that were received, oldest first, and after them what agents wrote to files. Each must be done or rejected before the next
 * one is asked for. If a drain is killed between its commit and `done`, the next one gets the body again.
 *
 * @param isForwarded whether `native.forward` names an exporter of this agent: what was received of it is queued when it is done
 * @returns nothing if there is no such folder
 * @throws what the file system throws if a folder exists and cannot be listed, or a body can neither be read nor moved
 */
export async function* pendingNative(
  stateDir: string,
  isForwarded: (source: string) => boolean = () => false,
): AsyncGenerator<NativeBody> {
  const dir = nativeDir(stateDir);
  for (const name of filesIn(dir)) {
    const facts = readBodyFileName(name);
    if (facts === undefined) continue;
    const { source, signal, encoding, isGzip } = facts;
    const path = join(dir, name);
    const reject = async (why: string): Promise<void> => setAside(stateDir, name, why, (to) => renameSync(path, to));
    const bytes = wholeBody(path);
    if (typeof bytes === "string") await reject(bytes);
    else {
      const done = async (): Promise<void> => {
        if (isForwarded(source)) queue(stateDir, path);
        else step("native.settle", () => rmSync(path, { force: true }));
      };
      yield { source, signal, encoding, isGzip, bytes, done, reject };
    }
  }
  for (const name of filesIn(exportedDir(stateDir)).filter((one) => !one.includes(POSITION_SUFFIX))) {
    const file = { source: name.replace(/\..*/, ""), signal: "file", encoding: "file", isGzip: false } as const;
    for (const { bytes, why: broken, done } of exportedParts(join(exportedDir(stateDir), name))) {
      const reject = async (why: string): Promise<void> => {
        setAside(stateDir, `${Date.now()}.${name}`, why, (to) => writeFileSync(to, bytes, { mode: 0o600 }));
        done();
      };
      if (broken !== undefined) await reject(broken);
      else yield { ...file, bytes, done: async () => done(), reject };
    }
  }
}

/** Bodies that could not be read: how many ever, and how many of them are kept. */
export function unreadableNative(stateDir: string): { readonly total: number; readonly kept: number } {
  const dir = unreadableDir(stateDir);
  // Also if something else has the place of a folder above it, which is said elsewhere
  if (!existsSync(dir)) return { total: 0, kept: 0 };
  return {
    total: lstatSync(join(dir, COUNT), { throwIfNoEntry: false })?.size ?? 0,
    kept: filesIn(dir).filter((name) => name !== COUNT && !name.endsWith(REASON_SUFFIX)).length,
  };
}

/** The regular files in a folder by name; none if it does not exist. @throws what the file system throws */
export function filesIn(dir: string): readonly string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR"].includes(String(error.code))) return [];
    throw error;
  }
}

// --- internal ---

/** A file that grows by one byte per body that could not be read. */
const COUNT = "count";
/** They may contain prompts, so only so many are kept as are needed to find out why. */
const MAX_UNREADABLE = 20;

/** @returns why it cannot be read, if so */
function wholeBody(path: string): Buffer | string {
  return statSync(path).size > MAX_BODY_BYTES ? "it is larger than any that the receiver keeps" : readOwn(path);
}

function queue(stateDir: string, path: string): void {
  mkdirSync(forwardDir(stateDir), { recursive: true, mode: 0o700 });
  step("forward.queue", () => renameSync(path, join(forwardDir(stateDir), basename(path))));
}

function setAside(stateDir: string, name: string, why: string, move: (to: string) => void): void {
  const dir = unreadableDir(stateDir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const to = join(dir, name);
  writeFileSync(`${to}${REASON_SUFFIX}`, `${why}\n`, { mode: 0o600 });
  appendOwn(join(dir, COUNT), ".");
  step("native.refuse", () => move(to));
  const kept = filesIn(dir).filter((one) => one !== COUNT && !one.endsWith(REASON_SUFFIX));
  for (const old of kept.slice(0, -MAX_UNREADABLE))
    for (const one of [old, `${old}${REASON_SUFFIX}`]) rmSync(join(dir, one), { force: true });
}
