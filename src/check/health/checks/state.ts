import { constants, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Context } from "#config/context.ts";
import { checkOwner, foreignFiles, ownUid, StateError } from "#config/file-owner.ts";
import { suggest } from "#kit/suggest.ts";
import { fileSystemOf } from "#store/file-system.ts";
import type { Examined } from "../facts/examined.ts";
import { isAccessible } from "../facts/files.ts";
import type { Tried } from "../facts/tried.ts";
import { alsoInStatus, type Finding, inArea } from "../finding.ts";

/** Whether the hook and drains can write their files. */
export async function* writableFindings({ context }: Examined): AsyncGenerator<Finding> {
  const problem = await unwritable(context);
  if (problem !== undefined) yield alsoInStatus(inArea("state").broken(problem));
}

/** What is in the state directory that is not ours. */
export const foreignFileFindings = ({ facts }: Examined): readonly Finding[] =>
  foreignFiles(facts.state_dir).map((text) => alsoInStatus(inArea("state").broken(text)));

/** Files that others can access, or that all is well. */
export async function* exposedFindings({ context, exposed }: Tried): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("state");
  const { stateDir } = context.places;
  for (const { path, mode } of exposed) {
    yield remark(
      `other users of this machine can access ${path}`,
      `${suggest("doctor --fix")}, or chmod ${mode.toString(8)}`,
    );
  }
  if (exposed.length > 0 || (await unwritable(context)) !== undefined) return;
  yield ok(existsSync(stateDir) ? `${stateDir} is private and writable` : `${stateDir} does not exist yet`);
}

/** Whether other machines can open the state too. Nothing for a local disk. */
export function* fileSystemFindings({ context: { places, platform } }: Examined): Generator<Finding> {
  const { isShared, hasLocks, name } = fileSystemOf(nearestExisting(places.stateDir), platform);
  if (!isShared) return;
  yield inArea("state").remark(
    hasLocks
      ? `${places.stateDir} is on a shared file system (${name}): drains of several machines take turns, slower than on a local disk`
      : `${places.stateDir} is on a file system without working locks (${name}): drains take turns with a lock file, and "show" can fail during a drain`,
    `set OPENHOOK_OTEL_HOME to a folder on a local disk, then: ${suggest("enable")}`,
  );
}

/** Whether the state directory belongs to this user. */
export async function* ownerFindings({ context: { places, platform } }: Examined): AsyncGenerator<Finding> {
  const { remark, broken } = inArea("state");
  try {
    for (const text of await checkOwner(places.stateDir, { uid: ownUid(platform) })) yield remark(text);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    yield broken(error.message, "nothing is collected until this is fixed");
  }
}

// --- internal ---

/** The first directory that the hook or a drain must write to and cannot, with the remedy; `undefined` if there is none. */
async function unwritable({ places }: Context): Promise<string | undefined> {
  const lost = "events are lost until it is writable; check its owner and mode";
  for (const dir of [places.stateDir, places.inboxDir, places.claimedDir]) {
    const existing = nearestExisting(dir);
    if (!(await isDirectory(existing))) return `${existing} is not a directory: ${lost}`;
    if (!(await isAccessible(existing, constants.W_OK | constants.X_OK))) return `cannot write to ${existing}: ${lost}`;
  }
  return undefined;
}

/** The path itself, or the nearest directory above it that exists. */
function nearestExisting(path: string): string {
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  return existing;
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
