import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Context } from "../../context.ts";
import { suggest } from "../../model/suggest.ts";
import { fileSystemOf } from "../../store/file-system.ts";
import { type Finding, inArea } from "./finding.ts";

/** Whether other machines can open the state too. Nothing for a local disk. */
export function* fileSystemFindings({ places, platform }: Pick<Context, "places" | "platform">): Generator<Finding> {
  const dir = nearestExisting(places.stateDir);
  const { isShared, hasLocks, name } = fileSystemOf(dir, platform);
  if (!isShared) return;
  const { remark } = inArea("state");
  yield remark(
    hasLocks
      ? `${places.stateDir} lies on a shared file system (${name}): drains of several machines take turns, slower than on a local disk`
      : `${places.stateDir} lies on a file system without working locks (${name}): drains take turns by a name, and "show" beside one can fail`,
    `set OPENHOOK_OTEL_HOME to a folder on a local disk, then: ${suggest("enable")}`,
  );
}

// --- internal ---

function nearestExisting(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}
