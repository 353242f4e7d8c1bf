import { stat } from "node:fs/promises";
import type { Context } from "#config/context.ts";
import { ownUid } from "#config/file-owner.ts";
import { UserError } from "#kit/errors.ts";

/**
 * Refuses to run with `sudo` in another user's home, before anything is created there: `sudo` may keep `HOME`, and the user and the
 * user's agents could not read or write root's files. Root without `sudo`, as in a container, may use any home.
 *
 * @throws UserError
 */
export async function refuseSudo({
  env,
  places,
  platform,
}: Pick<Context, "env" | "places" | "platform">): Promise<void> {
  const by = Number(env["SUDO_UID"] ?? "0");
  if (ownUid(platform) !== 0 || by === 0) return;
  const home = await stat(places.home).catch(() => undefined);
  if (home?.uid !== by) return;
  throw new UserError(
    "E_SUDO",
    `this runs as root, and the home ${places.home} belongs to user ${by}, who could not use files that root creates there; run it without sudo`,
    1,
  );
}
