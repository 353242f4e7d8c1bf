import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";

/** Files that a call changed, as Amp's own helper names them to our plugin. What was changed in them is not reported. */
export function toFileWrites(payload: unknown, { events }: PayloadFacts): readonly FileWrite[] {
  if (events[0]?.type !== "tool.end") return [];
  const files = asArray(asObject(asObject(payload)?.["event"])?.["files"]);
  return [...new Set(files)].flatMap((file) => {
    const path = asString(file);
    return path === undefined ? [] : [{ path }];
  });
}
