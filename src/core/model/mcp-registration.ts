import type { InstallTarget } from "./installer.ts";

/** How an agent starts our MCP server. */
export interface McpCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where an agent has the MCP servers of a user. */
export interface McpRegistration {
  path(target: InstallTarget): Promise<string>;
  /**
   * @returns the file with our server and all else as it is; the same text if it is there
   * @throws SettingsError if the agent itself could not read the file
   */
  add(text: string | undefined, command: McpCommand): string;
  /**
   * @param original the file as it was before `add`: a server that had our name gets its old settings
   * @returns the file without our server; `undefined` if it contained nothing else
   * @throws SettingsError if the agent itself could not read the file
   */
  remove(text: string, original: string | undefined): string | undefined;
}
