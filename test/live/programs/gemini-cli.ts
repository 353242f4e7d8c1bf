import { gemini } from "../apis/gemini.ts";
import { type Program, use } from "./program.ts";

export const geminiCli: Program = {
  source: "gemini-cli",
  command: "gemini",
  packages: ["@google/gemini-cli"],
  version: "0.61.0",
  api: gemini,
  model: "gemini-2.5-pro",
  exitCodeIs: "success",
  reportsLess: { failedTurns: true },
  environment: ({ url }) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url }),
  settings: () => ({
    ".gemini/settings.json": {
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    },
  }),
  // with a model, because it otherwise prompts for one
  arguments: ({ prompt, continues }, model) => [
    ...["--prompt", prompt, "--yolo", "--model", model],
    ...(continues ? ["--resume", "latest"] : []),
  ],
  extensions: {
    settings: ({ name, ...server }) => ({ ".gemini/settings.json": { mcpServers: { [name]: server } } }),
    skillsIn: ".gemini/skills",
    loads: (name) => use("activate_skill", { name }),
    calls: (server, tool, input, status) => use(`mcp_${server}_${tool}`, input, status),
  },
  askerOf: ({ system }) => (/Codebase Investigator/.test(system) ? "sub" : /CLI agent/.test(system) ? "main" : "aside"),
  tools: () => ({
    shell: (command, status) => use("run_shell_command", { command, description: "Run a command" }, status),
    read: (file_path, status) => use("read_file", { file_path }, status),
    subagent: (prompt) => use("invoke_agent", { agent_name: "codebase_investigator", prompt }),
    lastWord: (SummaryOfFindings) => ({
      tools: [use("complete_task", { report: { SummaryOfFindings, ExplorationTrace: [], RelevantLocations: [] } })],
    }),
  }),
};
