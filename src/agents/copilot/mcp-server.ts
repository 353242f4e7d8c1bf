// https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot, and the program 1.0.102, read and run 2026-11-30

import { join } from "node:path";
import { jsonServer } from "../shared/mcp/server.ts";
import { homeOf } from "./places.ts";

export default jsonServer(
  (target) => join(homeOf(target), "mcp-config.json"),
  "mcpServers",
  ({ command, args }) => ({ type: "local", command, args: [...args], tools: ["*"] }),
);
