import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

export const pi: Program = {
  source: "pi",
  command: "pi",
  packages: ["@earendil-works/pi-coding-agent"],
  version: "1.6.0",
  node: "22.19.0",
  api: openaiChat,
  model: "scripted/coder",
  exitCodeIs: "error",
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
  // Its model reads skills with the tool that reads files
  extensions: {
    settings: ({ name, ...server }) => ({
      ".pi/agent/mcp.json": { mcpServers: { [name]: { ...server, exposure: "direct" } } },
    }),
    skillsIn: ".pi/agent/skills",
    // Hyphens of a server's name become underscores
    calls(server, tool, input, status) {
      const mcpServer = server.replaceAll("-", "_");
      return { ...use(`mcp__${mcpServer}__${tool}`, input, status), mcpServer };
    },
  },
  askerOf: ({ tools }) => (tools.length > 0 ? "main" : "aside"),
  tools: () => ({
    shell: (command, status) => use("bash", { command }, status),
    read: (path, status) => use("read", { path }, status),
    subagent: (task) => use("subagent", { agent: "helper", task }),
  }),
};
