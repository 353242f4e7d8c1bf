import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

/** The model's name in the configuration; requests to the provider have another one. */
const MODEL = "acme";

export const grok: Program = {
  source: "grok",
  command: "grok",
  packages: ["@xai-official/grok"],
  version: "1.0.41",
  file: "@xai-official/grok-{platform}/bin/grok.br",
  api: openaiChat,
  model: MODEL,
  exitCodeIs: "error",
  reportsLess: { usageOfCalls: "number", usageOfKilledCalls: true },
  environment: () => ({
    XAI_API_KEY: "none",
    GROK_TELEMETRY_ENABLED: "0",
    GROK_TELEMETRY_TRACE_UPLOAD: "0",
    GROK_DISABLE_AUTOUPDATER: "1",
    GROK_FEEDBACK_ENABLED: "0",
  }),
  settings: ({ url }) => ({
    ".grok/config.toml": `[cli]
auto_update = false

[features]
telemetry = false

[telemetry]
trace_upload = false

[endpoints]
models_base_url = "${url}/v1"

[models]
default = "${MODEL}"

[model.${MODEL}]
name = "${MODEL}"
model = "acme-coder-1"
base_url = "${url}/v1"
api_key = "none"
api_backend = "chat_completions"
context_window = 200000
`,
  }),
  arguments: ({ prompt, continues }, model) => [
    ...(continues ? ["--continue"] : []),
    ...["--model", model, "--always-approve", "--no-auto-update", "--single", prompt],
  ],
  // Its model reads skills with the tool that reads files
  extensions: {
    settings: ({ name, command, args }) => ({
      ".grok/config.toml": `\n[mcp_servers.${name}]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`,
    }),
    skillsIn: ".grok/skills",
    calls: (server, tool, tool_input, status) =>
      use("use_tool", { tool_name: `${server}__${tool}`, tool_input }, status),
  },
  askerOf({ headers, system, tools }) {
    // its own requests, such as titles and summaries of turns
    const isOwn = String(headers["x-grok-req-id"] ?? "").startsWith("xai-");
    if (isOwn || headers["x-grok-session-id"] === undefined || tools.length <= 1) return "aside";
    return system.startsWith("You are a Grok Build subagent") ? "sub" : "main";
  },
  tools: ({ project }) => ({
    shell: (command, status) => use("run_terminal_command", { command, description: "Run a command" }, status),
    read: (file, status) => use("read_file", { target_file: join(project, file) }, status),
    subagent: (prompt) => use("spawn_subagent", { prompt, description: "Do a part", background: false }),
  }),
};
