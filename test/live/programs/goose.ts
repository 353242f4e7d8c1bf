import { openaiChat } from "../apis/openai-chat.ts";
import { type Program, use } from "./program.ts";

const gooseExtension = (name: string): string => `  ${name}:
    enabled: true
    type: platform
    name: ${name}
    bundled: true
    timeout: 300
`;

export const goose: Program = {
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
  extensions: {
    settings: ({ name, command, args }) => ({
      ".config/goose/config.yaml": `${gooseExtension("skills")}  ${name}:
    enabled: true
    type: stdio
    name: ${name}
    cmd: ${command}
    args: ${JSON.stringify(args)}
    timeout: 300
`,
    }),
    skillsIn: ".config/goose/skills",
    loads: (name) => use("load_skill", { name }),
    calls: (server, tool, input, status) => use(`${server}__${tool}`, input, status),
    namesServers: false,
  },
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
};
