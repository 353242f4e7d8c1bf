import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

const CLINE_HELPER = "You are the helper of the main agent.";

export const cline: Program = {
  source: "cline",
  command: "cline",
  packages: ["cline"],
  version: "3.0.65",
  api: openaiChat,
  model: "coder",
  exitCodeIs: "error",
  reportsLess: { reasoning: true },
  cannot: { resume: "it continues a session only in a terminal" },
  environment: () => ({ CLINE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", CLINE_NO_AUTO_UPDATE: "1" }),
  settings: ({ url, model }) => ({
    ".cline/data/settings/providers.json": {
      version: 1,
      lastUsedProvider: "openai-compatible",
      modes: {},
      providers: {
        "openai-compatible": {
          settings: { provider: "openai-compatible", apiKey: "none", model, baseUrl: `${url}/v1` },
          updatedAt: "2026-11-01T00:00:00.000Z",
          tokenSource: "manual",
        },
      },
    },
  }),
  arguments: ({ prompt }) => [prompt],
  extensions: {
    settings: ({ name, ...server }) => ({
      ".cline/data/settings/cline_mcp_settings.json": { mcpServers: { [name]: server } },
    }),
    skillsIn: ".cline/skills",
    loads: (skill) => use("skills", { skill }),
    calls: (server, tool, input, status) => use(`${server}__${tool}`, input, status),
  },
  askerOf: ({ system }) => (system.includes(CLINE_HELPER) ? "sub" : "main"),
  tools: ({ project }) => ({
    shell: (command, status) => use("run_commands", { commands: [command] }, status),
    read: (file, status) => use("read_files", { files: [{ path: join(project, file) }] }, status),
    subagent: (task) => use("spawn_agent", { systemPrompt: CLINE_HELPER, task }),
  }),
};
