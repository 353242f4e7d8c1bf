// https://cursor.com/docs/context/mcp, read 2026-11-30, not run

import { join } from "node:path";
import { jsonServer } from "../shared/mcp/server.ts";

export default jsonServer(({ home }) => join(home, ".cursor", "mcp.json"));
