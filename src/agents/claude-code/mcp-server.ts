// https://code.claude.com/docs/en/mcp, and the program 2.1.332, read and run 2026-11-30. It keeps its own state in this file too

import { join } from "node:path";
import { jsonServer } from "../shared/mcp/server.ts";
import { configDirOf } from "./settings.ts";

export default jsonServer(
  (target) => join(target.env["CLAUDE_CONFIG_DIR"] ? configDirOf(target) : target.home, ".claude.json"),
  "mcpServers",
  ({ command, args }) => ({ type: "stdio", command, args: [...args] }),
);
