// https://opencode.ai/docs/mcp-servers, and the program 1.18.33, read and run 2026-11-30. It reads both files

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { jsonServer } from "../shared/mcp/server.ts";

export default jsonServer(
  ({ home, env }) => {
    const moved = env["XDG_CONFIG_HOME"];
    const folder = join(moved !== undefined && isAbsolute(moved) ? moved : join(home, ".config"), "opencode");
    const commented = join(folder, "opencode.jsonc");
    return existsSync(commented) ? commented : join(folder, "opencode.json");
  },
  "mcp",
  ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
);
