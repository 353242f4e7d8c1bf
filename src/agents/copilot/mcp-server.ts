// https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot, read 2026-11-30, not run

import { join } from "node:path";
import { jsonServer } from "../shared/mcp/server.ts";
import { homeOf } from "./places.ts";

export default jsonServer(
  (target) => join(homeOf(target), "mcp-config.json"),
  "mcpServers",
  ({ command, args }) => ({ type: "local", command, args: [...args], tools: ["*"] }),
);
