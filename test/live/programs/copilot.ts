import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

export const copilot: Program = {
  source: "copilot",
  command: "copilot",
  packages: ["@github/copilot"],
  version: "1.0.102",
  api: openaiChat,
  model: "gpt-5-mini",
  exitCodeIs: "success",
  environment: ({ url, model }) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_API_KEY: "none",
    COPILOT_MODEL: model,
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
  }),
  settings: ({ project }) => ({ ".copilot/config.json": { trusted_folders: [project], trustedFolders: [project] } }),
  arguments: ({ prompt, continues }) => [
    ...["--prompt", prompt, "--allow-all-tools"],
    ...(continues ? ["--continue"] : []),
  ],
  extensions: {
    settings: ({ name, ...server }) => ({
      ".copilot/mcp-config.json": { mcpServers: { [name]: { type: "local", tools: ["*"], ...server } } },
    }),
    skillsIn: ".copilot/skills",
    loads: (skill) => use("skill", { skill }),
    calls: (server, tool, input, status) => use(`${server}-${tool}`, input, status),
  },
  askerOf: ({ system, tools }) => (tools.length === 0 ? "aside" : /a terminal assistant/.test(system) ? "main" : "sub"),
  tools: ({ project }) => ({
    shell: (command, status) => use("bash", { command, description: "Run a command" }, status),
    read: (file, status) => use("view", { path: join(project, file) }, status),
    subagent: (prompt) =>
      use("task", { agent_type: "explore", name: "helper", description: "Do a part", prompt, mode: "sync" }),
  }),
};
