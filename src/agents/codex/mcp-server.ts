// https://developers.openai.com/codex/mcp, and the program 0.171.0, read and run 2026-11-30

import { SERVER_NAME, serverIn } from "../shared/mcp/server.ts";
import { configPath } from "./places.ts";
import { TOML_EDITOR } from "./toml-editor.ts";

const TABLE = ["mcp_servers", SERVER_NAME];

export default serverIn(TOML_EDITOR, configPath, ({ command, args }) => [
  [[...TABLE, "command"], command],
  [[...TABLE, "args"], [...args]],
]);
