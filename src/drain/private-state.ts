import { checkOwner, closeFiles, ownUid } from "../config/file-owner.ts";
import { ensureStateDirs } from "../intake/inbox-dirs.ts";
import type { DrainDeps } from "./context.ts";

/**
 * The state directory is there, this user's own, and closed to others.
 *
 * @throws StateError when it is another user's
 */
export async function ensurePrivateState({
  places,
  platform,
  log,
}: Pick<DrainDeps, "places" | "platform" | "log">): Promise<void> {
  const owner = { uid: ownUid(platform) };
  for (const remark of await checkOwner(places.stateDir, owner)) log(remark);
  await ensureStateDirs(places);
  for (const path of await closeFiles(places.stateDir, owner)) log(`closed ${JSON.stringify(path)} to others`);
}
