import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { checkOwner, closeFiles, foreignFiles, ownUid, StateError } from "#config/file-owner.ts";
import { makeSpareFiles } from "#store/spare-files.ts";
import { ensureStateDirs } from "../intake/inbox-dirs.ts";
import { LOST_COUNT } from "../intake/inbox-file.ts";
import type { DrainDeps } from "./context.ts";

/**
 * Creates the state directories if needed, and makes them accessible to this user only.
 *
 * @throws StateError if the state directory or a file in it is not ours, or if `sudo` made this root
 */
export async function ensurePrivateState({
  places,
  platform,
  log,
  sudoUid,
}: Pick<DrainDeps, "places" | "platform" | "log" | "sudoUid">): Promise<void> {
  const owner = { uid: ownUid(platform) };
  await refuseSudoOf(sudoUid, owner.uid, places.stateDir);
  for (const remark of await checkOwner(places.stateDir, owner)) log(remark);
  await ensureStateDirs(places);
  const [foreign] = foreignFiles(places.stateDir);
  if (foreign !== undefined) throw new StateError(foreign);
  makeSpareFiles(places.stateDir, LOST_COUNT);
  for (const path of await closeFiles(places.stateDir, owner)) log(`closed ${JSON.stringify(path)} to other users`);
}

// --- internal ---

/** `sudo` may keep HOME. The user's drains could not use a store that root creates in the user's state directory. */
async function refuseSudoOf(sudoUid: number | undefined, uid: number | undefined, stateDir: string): Promise<void> {
  if (uid !== 0 || sudoUid === undefined || sudoUid === 0) return;
  for (let folder = stateDir; ; folder = dirname(folder)) {
    const owner = (await stat(folder).catch(() => undefined))?.uid;
    if (owner === undefined && dirname(folder) !== folder) continue;
    if (owner !== sudoUid) return;
    const text = `this runs as root through sudo, and ${JSON.stringify(stateDir)} belongs to user ${owner}, who could not use files that root creates there`;
    throw new StateError(`${text}; run it without sudo. Queued events stay, and that user's next drain reads them`);
  }
}
