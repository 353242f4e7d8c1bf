import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

/** The id of the model in the settings; requests to the provider have another name. */
const MODEL = "custom:acme-0";

export const droid: Program = {
  source: "droid",
  command: "droid",
  packages: ["@factory/cli-{platform}"],
  version: "0.225.2",
  file: "@factory/cli-{platform}/bin/droid",
  api: openaiChat,
  model: MODEL,
  exitCodeIs: "error",
  reportsLess: { usageOfCalls: "nothing", reasoning: true },
  cannot: { resume: "it asks its vendor's server for the session, which needs an account" },
  environment: () => ({
    FACTORY_DROID_AUTO_UPDATE_ENABLED: "false",
    FACTORY_DISABLE_KEYRING: "1",
    // Only the user's own models: it then needs no account
    FACTORY_AIRGAP_ENABLED: "true",
  }),
  settings: ({ url }) => ({
    ".factory/settings.json": {
      customModels: [
        {
          id: MODEL,
          index: 0,
          model: "acme-coder-1",
          displayName: "Acme",
          baseUrl: `${url}/v1`,
          apiKey: "none",
          provider: "generic-chat-completion-api",
          maxOutputTokens: 8192,
        },
      ],
      model: MODEL,
      cloudSessionSync: false,
      enableDroidShield: false,
    },
  }),
  arguments: ({ prompt }, model) => ["exec", "--skip-permissions-unsafe", "--model", model, prompt],
  extensions: {
    settings: ({ name, ...server }) => ({
      ".factory/mcp.json": { mcpServers: { [name]: { type: "stdio", ...server } } },
    }),
    skillsIn: ".factory/skills",
    loads: (skill) => use("Skill", { skill }),
    calls: (server, tool, input, status) => use(`${server}___${tool}`, input, status),
  },
  askerOf: ({ body, tools }) =>
    tools.length === 0 ? "aside" : JSON.stringify(body).includes("# Task Tool Invocation") ? "sub" : "main",
  tools: ({ project }) => ({
    shell: (command, status) => use("Execute", { summary: "Run a small command", command }, status),
    read: (file, status) => use("Read", { file_path: join(project, file) }, status),
    subagent: (prompt) => use("Task", { subagent_type: "worker", description: "Do a part", prompt, await: true }),
  }),
};
