import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Context } from "#config/context.ts";
import { storeBytes } from "#store/size.ts";

/** Sizes of the state on disk, in bytes. */
export interface Sizes {
  readonly store: number;
  readonly quarantine: number;
  readonly log: number;
  /** Damaged stores that were moved aside: they stay until the user removes them. */
  readonly damaged: readonly { readonly path: string; readonly bytes: number }[];
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
