// `amp plugins show-docs` of 0.0.1790142911 (https://ampcode.com/manual/plugin-api), read 2026-11-26
import { join } from "node:path";
import { pluginInstaller } from "../shared/plugin/installer.ts";
import type { NativeName } from "./adapter.ts";
import plugin from "./plugin.js?raw";

/** Amp has no command hooks; it loads plugins, TypeScript files, in a process beside it. */
export default pluginInstaller({
  source: "amp",
  modules: [plugin],
  hooks: ["agent.start", "tool.result", "agent.end"] satisfies readonly NativeName[],
  path: (scope, { home, project }) =>
    join(scope === "user" ? join(home, ".config", "amp") : join(project, ".amp"), "plugins", "openhook-otel.ts"),
  folder: ({ home }) => join(home, ".config", "amp"),
});
