import { join } from "node:path";
import { allRecords } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import type { Agent } from "#core/model/agent.ts";
import type { McpCommand } from "#core/model/mcp-registration.ts";
import { UserError } from "#kit/errors.ts";
import { type EntriesOff, type OwnEntries, planEntriesOff, writeEntries, writeEntriesOff } from "./own-entries.ts";
import { edited, readSettingsFiles, type SettingsFile, targetOf } from "./settings.ts";

/** What `enable --mcp` changes for one agent. */
export interface McpPlan {
  readonly entries: OwnEntries;
  readonly file: SettingsFile;
  readonly after: string;
}

/** Computes what registers our MCP server with an agent; writes nothing. @throws UserError if there is no place for it, or it cannot be edited */
export async function planMcp(agent: Agent, context: Context): Promise<McpPlan> {
  const server = (await agent.mcpServer?.())?.default;
  if (server === undefined) {
    throw new UserError(
      "E_AGENT",
      `${agent.title} has no settings for MCP servers that openhook-otel can change; docs/mcp.md has what to enter`,
    );
  }
  const [file] = await readSettingsFiles([await server.path(targetOf(context))]);
  if (file === undefined) throw new UserError("E_AGENT", `${agent.title} has no settings file`);
  const after = edited([file], () => server.add(file.text, commandOf(context)));
  return { entries: entriesOf(agent, server, context), file, after };
}

export const isMcpNew = ({ file, after }: McpPlan): boolean => file.text !== after;

/** @throws FileError if the file cannot be written, or changed since; then nothing is changed */
export async function writeMcp(plan: McpPlan, context: Context): Promise<void> {
  if (isMcpNew(plan)) await writeEntries(plan.entries, plan.file, plan.after, context);
}

/** @throws UserError if a file cannot be edited; FileError if one cannot be read */
export async function planMcpOff(agent: Agent, context: Context): Promise<readonly EntriesOff[]> {
  const server = (await agent.mcpServer?.())?.default;
  return server === undefined ? [] : planEntriesOff(entriesOf(agent, server, context), context);
}

/** @returns the changed files */
export const writeMcpOff = (
  agent: Agent,
  changes: readonly EntriesOff[],
  context: Context,
): Promise<readonly string[]> => writeEntriesOff({ agent, backups: mcpBackupDir(context) }, changes);

/** Agents in whose settings our server was registered. */
export const mcpSources = async (context: Context): Promise<readonly string[]> => [
  ...new Set((await allRecords(mcpBackupDir(context))).map(({ agent }) => agent)),
];

// --- internal ---

const mcpBackupDir = ({ places }: Pick<Context, "places">): string => join(places.backupDir, "mcp");

const entriesOf = (agent: Agent, { path, remove }: Pick<OwnEntries, "path" | "remove">, context: Context) => ({
  agent,
  backups: mcpBackupDir(context),
  path,
  remove,
  mark: /openhook-otel/,
});

/** By what hooks start, so that it stays right after an update. Agents pass few variables on, so the state's folder is set again. */
function commandOf({ places, platform, nodePath, programPath }: Context): McpCommand {
  if (platform === "win32") return { command: nodePath, args: [programPath, "mcp"] };
  const line = `. "$0" && export OPENHOOK_OTEL_HOME="$state" && exec "$node" "$program" mcp #openhook-otel`;
  return { command: "/bin/sh", args: ["-c", line, places.hookConfPath] };
}
