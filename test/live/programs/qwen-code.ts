import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

export const qwenCode: Program = {
  source: "qwen-code",
  command: "qwen",
  packages: ["@qwen-code/qwen-code"],
  version: "0.24.4",
  node: "22.0.0",
  api: openaiChat,
  model: "qwen3-coder-plus",
  exitCodeIs: "error",
  environment: ({ url }) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1` }),
  settings: () => ({
    ".qwen/settings.json": {
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
    },
  }),
  arguments: ({ prompt, continues }, model) => [
    ...(continues ? ["--continue"] : []),
    ...["--prompt", prompt, "--yolo", "--model", model],
  ],
  extensions: {
    settings: ({ name, ...server }) => ({ ".qwen/settings.json": { mcpServers: { [name]: server } } }),
    skillsIn: ".qwen/skills",
    loads: (skill) => use("skill", { skill }),
    calls: (server, tool, input, status) => use(`mcp__${server}__${tool}`, input, status),
  },
  // It also records its own requests, e.g. about what to keep in its memory
  askerOf: ({ system }) => {
    const start = system.slice(0, 300);
    if (/subagent working for a parent agent/.test(start)) return "sub";
    return /You are Qwen Code/.test(start) ? "main" : "recorded aside";
  },
  tools: ({ project }) => ({
    shell: (command, status) =>
      use("run_shell_command", { command, is_background: false, description: "Run a command" }, status),
    read: (file, status) => use("read_file", { file_path: join(project, file) }, status),
    subagent: (prompt) =>
      use("agent", {
        description: "Do a part",
        subagent_type: "general-purpose",
        prompt,
        run_in_background: false,
      }),
  }),
};
