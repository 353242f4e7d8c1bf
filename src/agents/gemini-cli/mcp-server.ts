// https://geminicli.com/docs/tools/mcp-server, and the program 0.61.0, read and run 2026-11-30

import { jsonServer } from "../shared/mcp/server.ts";
import { settingsPath } from "./settings.ts";

export default jsonServer((target) => settingsPath("user", target));
