import { defined } from "#kit/objects.ts";
import type { Event } from "../model/event-schema.ts";
import type { FileWrite } from "../model/file-write.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import type { PairedTool } from "./pair.ts";

/**
 * Gives each tool call the files it wrote: those that the transcript has with its result, otherwise those of the session's `file.write`
 * events that name the event of the call's end or the call's id, otherwise those in the arguments of a call that succeeded. Pure.
 *
 * @returns the same calls; those without files are the same objects
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
  return tools.map((tool) => {
    if (tool.written === undefined && byEvent.size + byCall.size === 0) return tool;
    const { written, ...rest } = tool;
    const reported = [...tool.uses.flatMap((id) => byEvent.get(id) ?? []), ...(byCall.get(tool.callId) ?? [])];
    const isReported = reported.length > 0 && written?.isOfResult !== true;
    const files = isReported ? reported : tool.status === "success" ? written?.files : undefined;
    return files === undefined ? rest : { ...rest, files: withCounts(files, tool) };
  });
}

/** A file that a call changed, and when the call ended. */
interface FileEdit {
  readonly path: string;
  readonly timeMs: number;
}

/** The files that calls of a transcript changed. Pure. @param entries all of one session, in any order */
export function editsIn(entries: readonly TranscriptEntry[]): readonly FileEdit[] {
  const inArguments = new Map<string, readonly FileWrite[]>();
  for (const entry of entries) {
    if (entry.kind === "tool_use" && entry.files !== undefined) inArguments.set(entry.callId, entry.files);
  }
  return entries.flatMap((entry) => {
    if (entry.kind !== "tool_result" || entry.status !== "success") return [];
    const { timeMs, callId, files = inArguments.get(callId) ?? [] } = entry;
    return files.map(({ path }) => ({ path, timeMs }));
  });
}

// --- internal ---

/** If a call changed one place, what it added and removed in all is what it changed there. */
function withCounts(files: readonly FileWrite[], { linesAdded, linesRemoved }: PairedTool): readonly FileWrite[] {
  const [file, another] = files;
  const isKnown = file === undefined || another !== undefined || file.added !== undefined || file.removed !== undefined;
  if (isKnown || (linesAdded === undefined && linesRemoved === undefined)) return files;
  const counts = { added: linesAdded, removed: linesRemoved } as Partial<FileWrite>;
  return [defined<FileWrite>({ ...file, ...counts })];
}

function add(lists: Map<string, FileWrite[]>, key: string, write: FileWrite): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [write]);
  else list.push(write);
}
