import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

/** Every tool requires a risk and a summary besides its own arguments. */
const COMMON = { security_risk: "LOW", summary: "as asked" };

export const openhands: Program = {
  source: "openhands",
  command: "openhands",
  packages: ["openhands"],
  pythons: ["3.12"],
  version: "1.16.0",
  api: openaiChat,
  model: "acme-coder-1",
  exitCodeIs: "success",
  reportsLess: { usageOfKilledRuns: true },
  environment: ({ url, model }) => ({
    LLM_API_KEY: "none",
    LLM_BASE_URL: `${url}/v1`,
    LLM_MODEL: `openai/${model}`,
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    OPENHANDS_SUPPRESS_BANNER: "1",
    // It would clone a repository with skills
    GIT_ALLOW_PROTOCOL: "file",
  }),
  settings: () => ({}),
  arguments: ({ prompt, continues }) => [
    ...(continues ? ["--resume", "--last"] : []),
    ...["--headless", "--json", "--override-with-envs", "-t", prompt],
  ],
  extensions: {
    settings: ({ name, ...server }) => ({ ".openhands/mcp.json": { mcpServers: { [name]: server } } }),
    skillsIn: ".openhands/skills",
    loads: (name) => use("invoke_skill", { name, summary: COMMON.summary }),
    calls: (_, tool, input, status) => use(tool, { ...(input as object), ...COMMON }, status),
    namesServers: false,
  },
  askerOf: ({ tools }) => (tools.length === 0 ? "aside" : tools.includes("task") ? "main" : "sub"),
  tools: ({ project }) => ({
    // All commands share one shell, which `exit` would end
    shell: (command, status) =>
      use("terminal", { command: command.replace(/^exit \d+$/, 'sh -c "$&"'), ...COMMON }, status),
    read: (file, status) => use("file_editor", { command: "view", path: join(project, file), ...COMMON }, status),
    subagent: (prompt) =>
      use("task", { prompt, description: "Do a part", subagent_type: "general-purpose", ...COMMON }),
  }),
};
