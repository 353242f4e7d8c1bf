// https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp, and the program 0.24.4, read and run 2026-11-30

import { jsonServer } from "../shared/mcp/server.ts";
import { settingsPath } from "./settings.ts";

export default jsonServer((target) => settingsPath("user", target));
