import { defined } from "../model/defined.ts";
import { type Event, extrasOf } from "../model/event.ts";
import type { FileWrite } from "../model/file-write.ts";
import type { PairedTool } from "./pair.ts";

/**
 * Gives each tool call the files it wrote, from the session's `file.write` events: those that name the event of the call's end, or
 * the call's id. Pure.
 *
 * @returns the same calls; those without such events are the same objects
 */
export function withWrittenFiles(tools: readonly PairedTool[], events: readonly Event[]): readonly PairedTool[] {
  const byEvent = new Map<string, FileWrite[]>();
  const byCall = new Map<string, FileWrite[]>();
  for (const event of events) {
    if (event.type !== "file.write") continue;
    const { tool_event: endId, lines_added: added, lines_removed: removed } = extrasOf(event);
    const { path, operation, start_line: startLine, end_line: endLine, tool_call_id: callId } = event.data;
    const write = defined({ path, operation, startLine, endLine, added, removed }) as FileWrite;
    if (endId !== undefined) add(byEvent, endId, write);
    else if (callId !== undefined) add(byCall, callId, write);
  }
  if (byEvent.size + byCall.size === 0) return tools;
  return tools.map((tool) => {
    const files = [...tool.uses.flatMap((id) => byEvent.get(id) ?? []), ...(byCall.get(tool.callId) ?? [])];
    return files.length === 0 ? tool : { ...tool, files };
  });
}

// --- internal ---

function add(lists: Map<string, FileWrite[]>, key: string, write: FileWrite): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [write]);
  else list.push(write);
}
