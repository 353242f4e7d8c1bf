import { join } from "node:path";
import { anthropic } from "./apis/anthropic.ts";
import type { Api } from "./apis/api.ts";
import { gemini } from "./apis/gemini.ts";
import { openaiChat } from "./apis/openai-chat.ts";
import { openaiResponses } from "./apis/openai-responses.ts";
import type { Asking } from "./model-server.ts";
import type { Asker, Step, Tools, ToolUse } from "./script.ts";

/** Where a program runs. */
export interface Place {
  readonly home: string;
  readonly project: string;
  /** Base URL of the model server, without a trailing slash. */
  readonly url: string;
  readonly model: string;
}

/** A real agent, and how to run it unattended against a model server on loopback. */
export interface Program {
  readonly source: string;
  /** The command that users type. */
  readonly command: string;
  /** npm packages, the program's first, all of the same version. `{platform}`: npm's name of it. */
  readonly packages: readonly string[];
  readonly version: string;
  /** Path below `node_modules`, if npm's link needs an install script. `{platform}`: npm's name of it. */
  readonly file?: string;
  readonly api: Api;
  readonly model: string;
  /** The model for subagents, if different. */
  readonly subagentModel?: string;
  environment(place: Place): Readonly<Record<string, string>>;
  /** Files below the home folder; values other than text are written as JSON. */
  settings(place: Place): Readonly<Record<string, unknown>>;
  /** Packages that must be in the home folder: a copy of the installed ones, except the program itself. */
  readonly packagesAt?: string;
  arguments(step: Step, model: string): readonly string[];
  askerOf(request: Asking): Asker;
  tools(place: Pick<Place, "project" | "model">): OwnTools;
  /** The status it reports for a command that exits with an error code. */
  readonly exitCodeIs: "success" | "error";
  /** Scenarios that it does not support, with the reason. */
  readonly cannot?: Readonly<Record<string, string>>;
  /** Where it records less than was served. */
  readonly reportsLess?: {
    /** A model call is stored after its tools: one killed with them has no usage. */
    readonly usageOfKilledCalls?: true;
    /** A turn that ends with an API error leaves no record of it. */
    readonly failedTurns?: true;
    readonly reasoning?: true;
  };
}

/** Tools that differ between agents. */
export interface OwnTools extends Pick<Tools, "shell" | "subagent"> {
  /** @default by `shell` */
  readonly read?: Tools["read"];
  readonly lastWord?: Tools["lastWord"];
  readonly awaitSubagent?: Tools["awaitSubagent"];
}

/** All tools of a program. */
export function toolsOf(program: Program, place: Pick<Place, "project" | "model">): Tools {
  const own = program.tools(place);
  return {
    read: (file, status) => own.shell(`cat ${file}`, status),
    lastWord: (text) => ({ text }),
    awaitSubagent: () => [],
    ...own,
    subagent: (prompt) => ({ ...own.subagent(prompt), startsSubagent: true }),
    failing: (exitCode) => own.shell(`exit ${exitCode}`, program.exitCodeIs),
    slow: () => own.shell(`echo $$ > "$HOME/${SLOW_PID_FILE}"; exec sleep 300`, "unfinished"),
  };
}

/** The slow tool's start marker, below the home folder. */
export const SLOW_PID_FILE = "slow-tool.pid";

/** A key in the right format; the settings approve its last characters. */
const CLAUDE_KEY = "sk-ant-scripted-key-of-no-use";
/** The agent with subagents. It has one tool, which runs a program. */
const CODEX_SUBAGENT_MODEL = "gpt-6-sol";
const CLINE_HELPER = "You are the helper of the main agent.";
const use = (name: string, input: ToolUse["input"], status: ToolUse["status"] = "success"): ToolUse => ({
  name,
  input,
  status,
});

const OPENCODE_MODEL = { limit: { context: 200_000, output: 8192 } };

/** OpenCode, and programs that are built from its code. */
const OPENCODE_LIKE = {
  api: openaiChat,
  model: "scripted/coder",
  exitCodeIs: "error",
  reportsLess: { usageOfKilledCalls: true },
  arguments: ({ prompt, continues }, model) => [
    ...["run", "--model", model],
    ...(continues ? ["--continue"] : []),
    prompt,
  ],
  askerOf: ({ headers, tools }) =>
    tools.length === 0 ? "aside" : headers["x-parent-session-id"] === undefined ? "main" : "sub",
  tools: ({ project }) => ({
    shell: (command, status) => use("bash", { command, description: "Run a command" }, status),
    read: (file, status) => use("read", { filePath: join(project, file) }, status),
    subagent: (prompt) => use("task", { description: "Do a part", prompt, subagent_type: "general" }),
  }),
} satisfies Partial<Program>;

const openCodeSettings = (url: string) => ({
  autoupdate: false,
  share: "disabled",
  model: "scripted/coder",
  small_model: "scripted/small",
  permission: { edit: "allow", bash: "allow", webfetch: "deny" },
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${url}/v1`, apiKey: "none" },
      models: { coder: OPENCODE_MODEL, small: OPENCODE_MODEL },
    },
  },
});

const inNamespace = (namespace: string, tool: ToolUse): ToolUse => ({ ...tool, namespace });

const gooseExtension = (name: string): string => `  ${name}:
    enabled: true
    type: platform
    name: ${name}
    bundled: true
    timeout: 300
`;

export const PROGRAMS: readonly Program[] = [
  {
    source: "claude-code",
    command: "claude",
    packages: ["@anthropic-ai/claude-code"],
    version: "2.1.329",
    file: "@anthropic-ai/claude-code-{platform}/claude",
    api: anthropic,
    model: "claude-sonnet-4-5-20250929",
    exitCodeIs: "error",
    environment: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: CLAUDE_KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    settings: ({ project }) => ({
      ".claude.json": {
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: [CLAUDE_KEY.slice(-20)], rejected: [] },
        projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      },
    }),
    // each by name, because root may not disable all prompts
    arguments: ({ prompt, continues }, model) => [
      ...["--print", prompt, "--model", model, "--allowedTools=Bash,Read,Agent"],
      ...(continues ? ["--continue"] : []),
    ],
    askerOf: ({ headers, tools }) =>
      headers["x-claude-code-agent-id"] !== undefined ? "sub" : tools.length > 0 ? "main" : "aside",
    tools: ({ project }) => ({
      shell: (command, status) => use("Bash", { command, description: "Run a command" }, status),
      read: (file, status) => use("Read", { file_path: join(project, file) }, status),
      subagent: (prompt) =>
        use("Agent", { description: "Do a part", prompt, subagent_type: "general-purpose", run_in_background: false }),
    }),
  },
  {
    source: "codex",
    command: "codex",
    packages: ["@openai/codex"],
    version: "0.169.0",
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
  },
  {
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
    askerOf: ({ system }) =>
      /Codebase Investigator/.test(system) ? "sub" : /CLI agent/.test(system) ? "main" : "aside",
    tools: () => ({
      shell: (command, status) => use("run_shell_command", { command, description: "Run a command" }, status),
      read: (file_path, status) => use("read_file", { file_path }, status),
      subagent: (prompt) => use("invoke_agent", { agent_name: "codebase_investigator", prompt }),
      lastWord: (SummaryOfFindings) => ({
        tools: [use("complete_task", { report: { SummaryOfFindings, ExplorationTrace: [], RelevantLocations: [] } })],
      }),
    }),
  },
  {
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
    askerOf: ({ system, tools }) =>
      tools.length === 0 ? "aside" : /a terminal assistant/.test(system) ? "main" : "sub",
    tools: ({ project }) => ({
      shell: (command, status) => use("bash", { command, description: "Run a command" }, status),
      read: (file, status) => use("view", { path: join(project, file) }, status),
      subagent: (prompt) =>
        use("task", { agent_type: "explore", name: "helper", description: "Do a part", prompt, mode: "sync" }),
    }),
  },
  {
    ...OPENCODE_LIKE,
    source: "opencode",
    command: "opencode",
    packages: ["opencode-ai", "@opencode-ai/plugin"],
    version: "1.18.33",
    file: "opencode-{platform}/bin/opencode",
    environment: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    }),
    settings: ({ url }) => ({ ".config/opencode/opencode.json": openCodeSettings(url) }),
    // it installs this package there at its first start
    packagesAt: ".config/opencode",
  },
  {
    ...OPENCODE_LIKE,
    source: "kilo",
    command: "kilo",
    packages: ["@kilocode/cli"],
    version: "7.7.7",
    file: "@kilocode/cli-{platform}/bin/kilo",
    environment: () => ({
      KILO_DISABLE_AUTOUPDATE: "1",
      KILO_DISABLE_MODELS_FETCH: "1",
      KILO_DISABLE_LSP_DOWNLOAD: "1",
      KILO_DISABLE_SESSION_INGEST: "1",
      KILO_DISABLE_SHARE: "1",
      KILO_TELEMETRY_LEVEL: "off",
    }),
    settings: ({ url }) => ({ ".config/kilo/kilo.json": openCodeSettings(url) }),
  },
  {
    source: "pi",
    command: "pi",
    packages: ["@mariozechner/pi-coding-agent"],
    version: "0.73.1",
    api: openaiChat,
    model: "scripted/coder",
    exitCodeIs: "error",
    // it has no figure of it
    reportsLess: { reasoning: true },
    cannot: { subagent: "subagents are an extension; test/agents/pi/plugin.test.ts has helpers" },
    environment: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
    settings: ({ url }) => ({
      ".pi/agent/models.json": {
        providers: {
          scripted: {
            baseUrl: `${url}/v1`,
            api: "openai-completions",
            apiKey: "none",
            compat: { supportsDeveloperRole: false, supportsReasoningEffort: false },
            models: [{ id: "coder", name: "Coder", input: ["text"], contextWindow: 200_000, maxTokens: 32_000 }],
          },
        },
      },
      ".pi/agent/settings.json": { enableInstallTelemetry: false, quietStartup: true },
    }),
    arguments: ({ prompt, continues }, model) => [
      ...(continues ? ["--continue"] : []),
      ...["--model", model, "--print", prompt],
    ],
    askerOf: ({ tools }) => (tools.length > 0 ? "main" : "aside"),
    tools: () => ({
      shell: (command, status) => use("bash", { command }, status),
      read: (path, status) => use("read", { path }, status),
      subagent: (task) => use("subagent", { agent: "helper", task }),
    }),
  },
  {
    source: "cline",
    command: "cline",
    packages: ["cline"],
    version: "3.0.65",
    api: openaiChat,
    model: "coder",
    exitCodeIs: "error",
    reportsLess: { reasoning: true },
    cannot: { resume: "it goes on with a session in a terminal only" },
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
    askerOf: ({ system }) => (system.includes(CLINE_HELPER) ? "sub" : "main"),
    tools: ({ project }) => ({
      shell: (command, status) => use("run_commands", { commands: [command] }, status),
      read: (file, status) => use("read_files", { files: [{ path: join(project, file) }] }, status),
      subagent: (task) => use("spawn_agent", { systemPrompt: CLINE_HELPER, task }),
    }),
  },
  {
    source: "goose",
    command: "goose",
    packages: ["@aaif/goose-binary-{platform}"],
    version: "1.52.0",
    file: "@aaif/goose-binary-{platform}/bin/goose",
    api: openaiChat,
    model: "acme-coder-1",
    exitCodeIs: "error",
    reportsLess: { usageOfKilledCalls: true, reasoning: true },
    environment: () => ({ SCRIPTED_KEY: "none", GOOSE_DISABLE_KEYRING: "1" }),
    settings: ({ url, model }) => ({
      ".config/goose/config.yaml": `GOOSE_PROVIDER: scripted
GOOSE_MODEL: ${model}
GOOSE_MODE: auto
GOOSE_TELEMETRY_ENABLED: false
GOOSE_DISABLE_KEYRING: true
extensions:
${["developer", "summon"].map(gooseExtension).join("")}`,
      ".config/goose/custom_providers/scripted.json": {
        name: "scripted",
        engine: "openai",
        display_name: "Scripted",
        description: "scripted",
        api_key_env: "SCRIPTED_KEY",
        base_url: `${url}/v1/chat/completions`,
        models: [{ name: model, context_limit: 128_000 }],
        supports_streaming: true,
      },
    }),
    arguments: ({ prompt, continues }, model) => [
      ...["run", ...(continues ? ["--resume"] : []), "--output-format", "stream-json", "--model", model],
      ...["--text", prompt],
    ],
    askerOf: ({ system, tools }) =>
      /specialized subagent/.test(system.slice(0, 300)) ? "sub" : tools.length > 0 ? "main" : "aside",
    tools: () => ({
      shell: (command, status) => use("shell", { command }, status),
      subagent: (instructions) => use("delegate", { instructions }),
    }),
  },
];

/** Why an agent is not included. */
export const NO_PROGRAM: Readonly<Record<string, string>> = {
  crush: "its npm package downloads the program from elsewhere",
  cursor: "its program talks to its maker's servers alone and wants an account",
  kiro: "its program talks to its maker's servers alone and wants an account",
};
