import type { ToolRow } from "../../wire/documents.ts";

/** `mcp__<server>__<tool>` without the server, which is shown beside it. */
export const toolName = ({ tool, server }: Pick<ToolRow, "tool" | "server">): string =>
  server !== null && tool.startsWith(`mcp__${server}__`) ? tool.slice(`mcp__${server}__`.length) : tool;
