import { constants, existsSync } from "node:fs";
import { access, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Context } from "#config/context.ts";
import { storeBytes } from "#store/vacuum.ts";
import type { Facts, Sizes } from "./shape.ts";

/** Whether this access to a path is allowed; `mode` is a constant of node:fs. */
export const isAccessible = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

/** The beginning of a file; empty if it cannot be read. */
export const firstBytes = (path: string, bytes: number): Promise<string> => readPart(path, () => 0, bytes);

/** `undefined` for invalid JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The log of background drains, and its last lines. */
export async function logOf(path: string): Promise<Facts["log"]> {
  const tail = await readPart(path, (size) => Math.max(0, size - LOG_TAIL_BYTES), LOG_TAIL_BYTES);
  const lines = tail.split("\n").filter((line) => line !== "");
  return { path, exists: existsSync(path), last_lines: lines.slice(-LOG_LINES) };
}

/** Measures the state; a file that does not exist has 0 bytes. */
export async function sizesOf({ places }: Context): Promise<Sizes> {
  const folder = dirname(places.storePath);
  const begin = `${basename(places.storePath)}.damaged`;
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.startsWith(begin) && !/-(?:wal|shm)$/.test(name),
  );
  return {
    store: storeBytes(places.storePath),
    quarantine: await bytesIn(places.quarantineDir),
    log: (await bytesOf(join(places.stateDir, "drain.log"))) + (await bytesOf(join(places.stateDir, "drain.log.1"))),
    damaged: names.map((name) => ({ path: join(folder, name), bytes: storeBytes(join(folder, name)) })),
  };
}

// --- internal ---

const LOG_TAIL_BYTES = 4096;
const LOG_LINES = 3;

/** A part of a file as text; empty if it cannot be read. `from` gets the size. */
async function readPart(path: string, from: (size: number) => number, bytes: number): Promise<string> {
  // A pipe must not block
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, from(size));
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  } finally {
    await handle.close();
  }
}

const bytesOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** One after the other: thousands at once would exceed the limit of open files. */
async function bytesIn(dir: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(dir).catch(() => [])) bytes += await bytesOf(join(dir, name));
  return bytes;
}
