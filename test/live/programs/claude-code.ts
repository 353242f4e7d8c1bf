import { join } from "node:path";
import { anthropic } from "../apis/anthropic.ts";
import { type Program, use } from "./program.ts";

/** A key in the right format; the settings approve its last characters. */
const CLAUDE_KEY = "sk-ant-scripted-key-of-no-use";

export const claudeCode: Program = {
  source: "claude-code",
  command: "claude",
  packages: ["@anthropic-ai/claude-code"],
  version: "2.1.332",
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
    ...["--print", prompt, "--model", model, "--allowedTools=Bash,Read,Agent,Skill,mcp__acme-shop"],
    ...(continues ? ["--continue"] : []),
  ],
  extensions: {
    settings: ({ name, ...server }) => ({ ".claude.json": { mcpServers: { [name]: server } } }),
    skillsIn: ".claude/skills",
    loads: (skill) => use("Skill", { skill }),
    calls: (server, tool, input, status) => use(`mcp__${server}__${tool}`, input, status),
  },
  askerOf: ({ headers, tools }) =>
    headers["x-claude-code-agent-id"] !== undefined ? "sub" : tools.length > 0 ? "main" : "aside",
  tools: ({ project }) => ({
    shell: (command, status) => use("Bash", { command, description: "Run a command" }, status),
    read: (file, status) => use("Read", { file_path: join(project, file) }, status),
    subagent: (prompt) =>
      use("Agent", { description: "Do a part", prompt, subagent_type: "general-purpose", run_in_background: false }),
  }),
};
