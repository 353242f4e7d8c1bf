// https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp, read 2026-11-30, not run

import { jsonServer } from "../shared/mcp/server.ts";
import { settingsPath } from "./settings.ts";

export default jsonServer((target) => settingsPath("user", target));
