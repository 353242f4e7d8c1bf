import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

export const vibe: Program = {
  source: "vibe",
  command: "vibe",
  packages: ["mistral-vibe"],
  pythons: ["3.13", "3.12"],
  version: "3.0.3",
  api: openaiChat,
  model: "acme-coder-1",
  exitCodeIs: "success",
  cannot: {
    subagent: "a program starts it, whose calls are not the model's; test/agents/vibe/subagent has it recorded",
  },
  environment: () => ({ SCRIPTED_KEY: "none", MISTRAL_API_KEY: "none" }),
  settings: ({ url, model }) => ({
    ".vibe/config.toml": `active_model = "scripted"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false

[[providers]]
name = "scripted"
api_base = "${url}/v1"
api_key_env_var = "SCRIPTED_KEY"
api_style = "openai"
backend = "generic"

[[models]]
name = "${model}"
provider = "scripted"
alias = "scripted"
`,
  }),
  // Only programs that it runs call tools of MCP servers
  extensions: {
    settings: () => ({}),
    skillsIn: ".vibe/skills",
    loads: (name) => use("skill", { name }),
  },
  arguments: ({ prompt, continues }) => [
    ...(continues ? ["--continue"] : []),
    ...["--yolo", "--trust", "--output", "json", "-p", prompt],
  ],
  askerOf: ({ tools }) => (tools.length > 0 ? "main" : "aside"),
  tools: ({ project }) => ({
    shell: (command, status) => use("bash", { command }, status),
    read: (file, status) => use("read_file", { path: join(project, file) }, status),
    subagent: (message) =>
      use("run_typescript", {
        code: `async function main() { return tools.agents.spawn({ name: "helper", message: ${JSON.stringify(message)} }); }`,
      }),
  }),
};
