import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { fileSystemOf } from "#store/file-system.ts";
import { nearestExisting } from "../status/state-directory.ts";
import { type Finding, inArea } from "./finding.ts";

/** Whether other machines can open the state too. Nothing for a local disk. */
export function* fileSystemFindings({ places, platform }: Pick<Context, "places" | "platform">): Generator<Finding> {
  const dir = nearestExisting(places.stateDir);
  const { isShared, hasLocks, name } = fileSystemOf(dir, platform);
  if (!isShared) return;
  const { remark } = inArea("state");
  yield remark(
    hasLocks
      ? `${places.stateDir} is on a shared file system (${name}): drains of several machines take turns, slower than on a local disk`
      : `${places.stateDir} is on a file system without working locks (${name}): drains take turns with a lock file, and "show" can fail during a drain`,
    `set OPENHOOK_OTEL_HOME to a folder on a local disk, then: ${suggest("enable")}`,
  );
}
