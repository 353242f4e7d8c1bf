import { checkOwner, closeFiles, ownUid } from "../config/file-owner.ts";
import { ensureStateDirs } from "../intake/inbox-dirs.ts";
import type { DrainDeps } from "./context.ts";

/**
 * Creates the state directories if needed, and makes them accessible to this user only.
 *
 * @throws StateError if the state directory belongs to another user
 */
export async function ensurePrivateState({
  places,
  platform,
  log,
}: Pick<DrainDeps, "places" | "platform" | "log">): Promise<void> {
  const owner = { uid: ownUid(platform) };
  for (const remark of await checkOwner(places.stateDir, owner)) log(remark);
  await ensureStateDirs(places);
  for (const path of await closeFiles(places.stateDir, owner)) log(`closed ${JSON.stringify(path)} to other users`);
}
