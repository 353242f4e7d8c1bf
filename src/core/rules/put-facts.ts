import type { ContentUpdate } from "../model/content.ts";
import type { FactSink } from "../model/fact-sink.ts";
import type { TranscriptEntry } from "../model/transcript.ts";

/** Passes entries to a sink that looks at the arguments and results of tool calls. @param contentOf called if there are tool calls */
export function putWithContent(
  sink: FactSink,
  entries: readonly TranscriptEntry[],
  contentOf: () => readonly ContentUpdate[],
): void {
  const values = new Map<string, unknown>();
  if (sink.needsResult !== undefined && entries.some(({ kind }) => kind === "tool_use" || kind === "tool_result")) {
    for (const one of contentOf()) if ("value" in one) values.set(`${one.part} ${one.fact}`, one.value);
  }
  for (const entry of entries) {
    if (entry.kind === "tool_use") sink.toolUse(entry, entry, values.get(`arguments ${entry.key}`));
    else if (entry.kind === "tool_result") sink.toolResult(entry, entry, values.get(`result ${entry.key}`));
    else putEntry(sink, entry);
  }
}

/** Passes an entry to a sink. */
export function putEntry(sink: FactSink, entry: TranscriptEntry): void {
  switch (entry.kind) {
    case "prompt":
      sink.prompt(entry, entry);
      return;
    case "model_call":
      sink.modelCall(entry, entry);
      return;
    case "tool_use":
      sink.toolUse(entry, entry);
      return;
    case "tool_result":
      sink.toolResult(entry, entry);
      return;
    default:
      sink.other(entry);
      return;
  }
}
