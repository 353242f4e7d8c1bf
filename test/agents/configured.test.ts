// What users have added to agents: MCP servers and skills, read from files as their vendors document them.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import fc from "../support/properties.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "openhook-configured-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const home = (): string => join(root, "home");
const project = (): string => join(root, "shop");

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Names with their files, relative to the root. */
async function found(source: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const configured = (await (await findAgent(source))?.configured?.())?.default;
  const names = (await configured?.find({ home: home(), project: project(), env })) ?? [];
  return names.map(({ kind, name, file }) => `${kind} ${name} ${file.slice(root.length + 1).replaceAll("\\", "/")}`);
}

const SERVERS = (...names: readonly string[]): string =>
  JSON.stringify({ other: 1, mcpServers: Object.fromEntries(names.map((name) => [name, { command: "x" }])) });

describe("MCP servers, as tool calls name them", () => {
  test("Claude Code: of the user, of the project, and of the user in this project", async () => {
    const state = {
      mcpServers: { "my docs": {} },
      projects: { [project()]: { mcpServers: { local: {} } }, "/x": { mcpServers: { y: {} } } },
    };
    write("home/.claude.json", JSON.stringify(state));
    write("shop/.mcp.json", SERVERS("shop"));
    expect(await found("claude-code")).toEqual([
      "mcp my_docs home/.claude.json",
      "mcp local home/.claude.json",
      "mcp shop shop/.mcp.json",
    ]);
    write("moved/.claude.json", SERVERS("elsewhere"));
    expect(await found("claude-code", { CLAUDE_CONFIG_DIR: join(root, "moved") })).toEqual([
      "mcp elsewhere moved/.claude.json",
      "mcp shop shop/.mcp.json",
    ]);
  });

  test("Codex: tables and dotted keys, without those that are off", async () => {
    const text = `model = "x"\n[mcp_servers.acme-shop]\ncommand = "x"\n[mcp_servers.acme-shop.env]\nA = "b"
[mcp_servers."off"]\ncommand = "y"\nenabled = false\n[other.mcp_servers.no]\n`;
    write("home/.codex/config.toml", text);
    write("shop/.codex/config.toml", 'mcp_servers = { docs = { command = "z" } }\n');
    expect(await found("codex")).toEqual(["mcp acme_shop home/.codex/config.toml", "mcp docs shop/.codex/config.toml"]);
  });

  test.each([
    ["gemini-cli", ".gemini/settings.json", "my docs"],
    ["qwen-code", ".qwen/settings.json", "my_docs"],
  ])("%s: settings with comments", async (source, path, name) => {
    write(`home/${path}`, `\ufeff{ // mine\n "mcpServers": { "my docs": {}, }, }`);
    write(`shop/${path}`, SERVERS("shop"));
    expect(await found(source)).toEqual([`mcp ${name} home/${path}`, `mcp shop shop/${path}`]);
  });

  test("Copilot", async () => {
    write("home/.copilot/mcp-config.json", SERVERS("shop"));
    write("shop/.mcp.json", SERVERS("docs"));
    expect(await found("copilot")).toEqual(["mcp shop home/.copilot/mcp-config.json", "mcp docs shop/.mcp.json"]);
  });

  test("OpenCode: without those that are off", async () => {
    write("home/.config/opencode/opencode.jsonc", '{ "mcp": { "shop": {}, "off": { "enabled": false } } } // end');
    write("shop/opencode.json", '{ "mcp": { "docs": {} } }');
    expect(await found("opencode")).toEqual([
      "mcp shop home/.config/opencode/opencode.jsonc",
      "mcp docs shop/opencode.json",
    ]);
  });
});

test.each([
  ["claude-code", [".claude"]],
  ["codex", [".codex", ".agents"]],
  ["gemini-cli", [".gemini", ".agents"]],
  ["qwen-code", [".qwen"]],
  ["copilot", [".copilot"]],
  ["opencode", [".config/opencode", ".claude", ".agents"]],
])("skills of %s: folders with a SKILL.md", async (source, folders) => {
  for (const folder of folders) {
    write(`home/${folder}/skills/audit/SKILL.md`, "x");
    write(`home/${folder}/skills/draft/notes.md`, "x");
    write(`home/${folder}/skills/README.md`, "x");
  }
  expect(await found(source)).toEqual(folders.map((folder) => `skill audit home/${folder}/skills/audit/SKILL.md`));
});

test("a file that is no settings file has no names, whatever it contains", async () => {
  const sources = (await allAgents()).filter(({ configured }) => configured !== undefined).map(({ source }) => source);
  expect(sources).toEqual(
    expect.arrayContaining(["claude-code", "codex", "copilot", "gemini-cli", "opencode", "qwen-code"]),
  );
  const paths = [
    ".claude.json",
    ".codex/config.toml",
    ".copilot/mcp-config.json",
    ".gemini/settings.json",
    ".qwen/settings.json",
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.constantFrom("", "[[[", '{"mcpServers":[1]}', "mcp_servers = 1", '{"mcpServers":null}'),
      ),
      async (text) => {
        for (const path of paths) write(`home/${path}`, text);
        for (const source of sources) expect(await found(source)).toBeInstanceOf(Array);
      },
    ),
    { numRuns: 30 },
  );
});

test.skipIf(process.platform === "win32")("a device is not read, a link to a file is", async () => {
  mkdirSync(home(), { recursive: true });
  symlinkSync("/dev/zero", join(home(), ".claude.json"));
  write("shared.json", SERVERS("shop"));
  mkdirSync(project(), { recursive: true });
  symlinkSync(join(root, "shared.json"), join(project(), ".mcp.json"));
  expect(await found("claude-code")).toEqual(["mcp shop shop/.mcp.json"]);
});
