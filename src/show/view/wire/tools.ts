import type { Choices } from "./figures.ts";

export interface ToolsDocument {
  readonly kind: "tools";
  readonly sinceMs: number;
  readonly rows: readonly ToolRow[];
  readonly choices: Choices;
}

export interface ToolRow {
  readonly agent: string;
  readonly tool: string;
  /** Its MCP server; `null`: a built-in tool. */
  readonly server: string | null;
  readonly sessions: number;
  readonly calls: number;
  readonly errors: number;
  readonly denied: number;
  readonly unfinished: number;
  readonly open: number;
  /** Includes waiting for the user. */
  readonly toolMs: number;
}
