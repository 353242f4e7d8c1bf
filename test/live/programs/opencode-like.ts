import { join } from "node:path";
import { openaiChat } from "../apis/openai-chat.ts";
import { type Extensions, type Program, use } from "./program.ts";

const OPENCODE_MODEL = { limit: { context: 200_000, output: 8192 } };

/** OpenCode, and programs that are built from its code. */
export const OPENCODE_LIKE = {
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

export const openCodeSettings = (url: string) => ({
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

/** @param name of the settings file and its folder */
export const openCodeExtensions = (name: string): Extensions => ({
  settings: ({ name: server, command, args }) => ({
    [`.config/${name}/${name}.json`]: { mcp: { [server]: { type: "local", command: [command, ...args] } } },
    // It lists the files of a skill with ripgrep, which it downloads if there is none
    "bin/rg": "#!/bin/sh\nexit 0\n",
  }),
  skillsIn: `.config/${name}/skills`,
  loads: (skill) => use("skill", { name: skill }),
  calls: (server, tool, input, status) => use(`${server}_${tool}`, input, status),
  namesServers: false,
});
