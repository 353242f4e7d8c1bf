import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

/** The model's name in the configuration; requests to the provider have another one. */
const MODEL = "coder";

export const kimi: Program = {
  source: "kimi",
  command: "kimi",
  packages: ["@moonshot-ai/kimi-code"],
  version: "2.1.0",
  node: "22.19.0",
  api: openaiChat,
  model: MODEL,
  exitCodeIs: "error",
  // It records no figure for reasoning
  reportsLess: { reasoning: true },
  environment: () => ({}),
  settings: ({ url }) => ({
    ".kimi-code/config.toml": `default_model = "${MODEL}"
telemetry = false

[providers.scripted]
type = "openai"
base_url = "${url}/v1"
api_key = "none"

[models.${MODEL}]
provider = "scripted"
model = "kimi-k2-turbo-preview"
max_context_size = 200000
capabilities = ["thinking"]
`,
  }),
  arguments: ({ prompt, continues }, model) => [
    ...(continues ? ["--continue"] : []),
    ...["--model", model, "--prompt", prompt],
  ],
  extensions: {
    settings: ({ name, ...server }) => ({ ".kimi-code/mcp.json": { mcpServers: { [name]: server } } }),
    skillsIn: ".kimi-code/skills",
    loads: (skill) => use("Skill", { skill }),
    calls: (server, tool, input, status) => use(`mcp__${server}__${tool}`, input, status),
  },
  askerOf: ({ tools }) => (tools.length === 0 ? "aside" : tools.includes("Agent") ? "main" : "sub"),
  tools: ({ project }) => ({
    shell: (command, status) => use("Bash", { command }, status),
    read: (file, status) => use("Read", { path: join(project, file) }, status),
    subagent: (prompt) => use("Agent", { description: "Do a part", prompt }),
  }),
};
