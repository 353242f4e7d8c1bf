import { openaiResponses } from "../apis/openai-responses.ts";
import type { ToolUse } from "../script.ts";
import { type Program, use } from "./program.ts";

/** The model that starts subagents. Codex gives it one tool, which runs a script. */
const CODEX_SUBAGENT_MODEL = "gpt-6-sol";
const inNamespace = (namespace: string, tool: ToolUse): ToolUse => ({ ...tool, namespace });

export const codex: Program = {
  source: "codex",
  command: "codex",
  packages: ["@openai/codex"],
  version: "0.171.0",
  api: openaiResponses,
  model: "gpt-5.5",
  subagentModel: CODEX_SUBAGENT_MODEL,
  exitCodeIs: "error",
  environment: () => ({ SCRIPTED_KEY: "none" }),
  settings: ({ url }) => ({
    ".codex/config.toml": `model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 2
stream_max_retries = 2
`,
  }),
  arguments: ({ prompt, continues }, model) => [
    ...["exec", "--model", model],
    ...(continues ? ["resume", "--last"] : []),
    prompt,
  ],
  extensions: {
    settings: ({ name, command, args }) => ({
      ".codex/config.toml": `\n[mcp_servers.${name}]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`,
    }),
    skillsIn: ".codex/skills",
    calls(given, tool, input, status) {
      // Scripts of the model can call the tools, so their names are names of functions
      const mcpServer = given.replaceAll("-", "_");
      return { ...inNamespace(`mcp__${mcpServer}`, use(tool, input, status)), mcpServer };
    },
  },
  askerOf({ headers }) {
    const turn = JSON.parse(String(headers["x-codex-turn-metadata"] ?? "{}"));
    if ((turn.request_kind ?? "turn") !== "turn") return "aside";
    return (turn.thread_id ?? turn.session_id) === turn.session_id ? "main" : "sub";
  },
  tools: ({ model }) => ({
    shell: (command, status) =>
      model === CODEX_SUBAGENT_MODEL
        ? use("exec", `text((await tools.exec_command({ cmd: ${JSON.stringify(command)} })).output);`, status)
        : use("exec_command", { cmd: command }, status),
    subagent: (message) =>
      inNamespace("collaboration", use("spawn_agent", { task_name: "helper", message, fork_turns: "none" })),
    awaitSubagent: (usage) => [
      { tools: [inNamespace("collaboration", use("wait_agent", { timeout_ms: 15_000 }))], usage },
    ],
  }),
};
