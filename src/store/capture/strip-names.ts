import type { OwnNames } from "#core/model/agent.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { NO_NAME } from "#core/rules/change-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { isOwnAgentType, reduceOrigin, reduceToolName } from "#core/rules/names.ts";

// Removes names from facts at `capture: none`; ids, figures and statuses stay. Which field is removed, and why:
// docs/decisions/0015

/**
 * An event without user-defined names. Its id, and the ids that connect it with other events, do not change.
 *
 * @returns `undefined` for `file.write`, which means nothing without the file's name
 */
export function stripEventNames<T extends Event>(event: T, own: OwnNames | undefined): T | undefined;
export function stripEventNames(event: Event, own: OwnNames | undefined): Event | undefined {
  if (event.type === "file.write") return undefined;
  const { cwd: _, ...rest } = event;
  if ("context" in rest) delete rest.context;
  const extras = extrasOf(event);
  const extensions = Object.fromEntries(
    Object.entries({ ...keptExtras(extras), ...reducedExtras(extras, own) }).filter(([, value]) => value !== undefined),
  );
  const stripped = { ...rest, ...(event.extensions !== undefined && { extensions }) } as Event;
  if ((stripped.type !== "tool.start" && stripped.type !== "tool.end") || stripped.data?.tool_name === undefined)
    return stripped;
  const tool_name = reduceToolName(stripped.data.tool_name, extras.mcp_server, own);
  return { ...stripped, data: { ...stripped.data, tool_name } } as Event;
}

/** `stripEventNames` for an entry of a transcript. */
export function stripEntryNames(entry: TranscriptEntry, own: OwnNames | undefined): TranscriptEntry {
  switch (entry.kind) {
    case "session": {
      const { cwd: _, gitBranch: __, ...rest } = entry;
      return rest;
    }
    case "tool_use": {
      const { executable: _, files: __, mcpServer, ...rest } = entry;
      const name = reduceToolName(entry.name, mcpServer, own);
      return { ...rest, name, ...(name === "mcp" && { mcpServer: "mcp" }) };
    }
    case "tool_result": {
      const { files: _, ...rest } = entry;
      return rest;
    }
    case "subagent": {
      const { agentType, ...rest } = entry;
      return isOwnAgentType(agentType, own) ? { ...rest, agentType } : rest;
    }
    case "commit": {
      const { branch: _, ...rest } = entry;
      return rest;
    }
    case "change": {
      // The number of a pull request is an id; names of branches and tickets are not
      const { branch: _, url: __, ...rest } = entry;
      return rest.changeKind === "branch" || rest.changeKind === "ticket" ? { ...rest, change: NO_NAME } : rest;
    }
    case "compaction": {
      const { trigger: _, ...rest } = entry;
      return rest;
    }
    default:
      return entry;
  }
}

// --- internal ---

/** Ids, figures and statuses. The transcript's path stays in the store, because the figures come from there. */
const KEPT = [
  "native_event",
  "prompt_id",
  "prompt_origin",
  "agent_id",
  "agent_version",
  "transcript_path",
  "continues",
  "session_id_origin",
  "denied",
  "status_origin",
  "exit_code",
  "error_type",
  "tool_call_ids",
  "lines_added",
  "lines_removed",
  "made_commits",
  "spawned_agent_id",
  "input_digest",
  "given_id",
  "in_transcript",
  "reported_late",
  "parent_session_id",
  "http_status",
  "background_count",
  "process",
  "payload_bytes",
  "truncated",
] as const satisfies readonly (keyof Extras)[];

const keptExtras = (extras: Extras): Partial<Extras> => Object.fromEntries(KEPT.map((name) => [name, extras[name]]));

/** Names that this program uses. Those that are not built into the agent are left out or replaced by a category. */
const reducedExtras = (
  extras: Extras,
  own: OwnNames | undefined,
): { readonly [K in keyof Extras]?: Extras[K] | undefined } => ({
  start_origin: reduceOrigin(extras.start_origin),
  agent_type: isOwnAgentType(extras.agent_type, own) ? extras.agent_type : undefined,
  // Kept as a fact: failed calls of MCP tools have another error type
  mcp_server: extras.mcp_server === undefined ? undefined : "mcp",
});
