import type { PairedTool } from "./pair.ts";

/** A call that is still open when its run closes is reported as unfinished, not as success or error. */
export function finishTool(
  { promptKey: _, uses: __, transcriptId: ___, ...tool }: PairedTool,
  closed: boolean,
  latestEndMs: number | undefined,
) {
  if (tool.status !== "open" || !closed) return tool;
  return { ...tool, status: "unfinished" as const, endMs: Math.max(tool.startMs, latestEndMs ?? tool.endMs) };
}
