import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import { disable } from "#commands/disable.ts";
import { enable } from "#commands/enable.ts";
import { disableMcp, enableMcp } from "#commands/mcp-register.ts";
import { disableNative, enableNative } from "#commands/native.ts";
import { uninstall } from "#commands/uninstall.ts";
import { placesOf } from "#config/places.ts";
import { contextAt } from "../support/context.ts";
import fc from "../support/properties.ts";
import { ROOT } from "../support/replay.ts";
import { runs } from "../support/whole.ts";

const agents = { list: allAgents, find: findAgent };
const hookSource = join(ROOT, "src", "collect", "intake", "hook.sh");

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-mcp-"));
  writeFileSync(join(home, "openhook-otel.cjs"), "");
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const at = (path: string): string => join(home, ...path.split("/"));
const read = (path: string): string | undefined => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined);
const write = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};

function world() {
  const { context, out } = contextAt(placesOf({ env: {}, home, platform: "linux" }), {
    programPath: join(home, "openhook-otel.cjs"),
  });
  const plain = { dryRun: false };
  return {
    out,
    places: context.places,
    on: (name: string) => enableMcp([name], plain, context, agents),
    off: (name: string) => disableMcp([name], plain, context, agents),
    native: (name: string) => enableNative([name], plain, context, agents),
    nativeOff: (name: string) => disableNative([name], plain, context, agents),
    hooks: (name: string) => enable([name], { scope: "user", yes: true, dryRun: false, hookSource }, context, agents),
    disable: (name: string) => disable([name], { scope: "user", yes: true, dryRun: false }, context, agents),
    uninstall: () => uninstall({ purge: false, yes: true, dryRun: false }, context, agents),
  };
}

const JSON_TEXTS = [
  "{}",
  '{"a":1}',
  '{\r\n\t"a": [1,2], // mine\r\n}\r\n',
  '{\n  "mcpServers": {},\n  "mcp": {}\n}\n',
  '{\n  "mcpServers": {\n    "shop": { "command": "node" }\n  },\n  "mcp": { "shop": {} }\n}\n',
  '{"mcpServers":{"openhook-otel":{"command":"npx","args":["openhook-otel","mcp"]}}}',
];
const TOML_TEXTS = [
  "",
  'model = "x"',
  'model = "x"\r\n\r\n[a]\r\nb = 1\r\n',
  '[mcp_servers.shop]\ncommand = "node" # mine\n\n[mcp_servers.shop.env]\nA = "1"\n',
  "[mcp_servers]\nshop = { command = 'node' }\n",
  'mcp_servers.shop.command = "node"\n[z]\ny = 1\n',
  '[mcp_servers.openhook-otel]\ncommand = "npx"\nargs = ["openhook-otel", "mcp"]\n',
];

const FILES: Readonly<Record<string, readonly [path: string, texts: readonly string[]]>> = {
  "claude-code": [".claude.json", JSON_TEXTS],
  codex: [".codex/config.toml", TOML_TEXTS],
  copilot: [".copilot/mcp-config.json", JSON_TEXTS],
  cursor: [".cursor/mcp.json", JSON_TEXTS],
  "gemini-cli": [".gemini/settings.json", JSON_TEXTS],
  opencode: [".config/opencode/opencode.json", JSON_TEXTS],
  "qwen-code": [".qwen/settings.json", JSON_TEXTS],
};

describe.each(Object.entries(FILES))("enable --mcp of %s", (name, [path, texts]) => {
  test("and disable --mcp restore the settings byte for byte", async () => {
    for (const text of [undefined, ...texts]) {
      rmSync(at(path), { force: true });
      if (text !== undefined) write(path, text);
      const { on, off, places } = world();
      expect(await on(name)).toBe(0);
      const once = read(path);
      expect(once).toContain(places.hookConfPath);
      expect(await on(name)).toBe(0);
      expect(read(path)).toBe(once);
      expect(await off(name)).toBe(0);
      expect([text, read(path)]).toEqual([text, text]);
    }
  });

  test("keeps what was added meanwhile", async () => {
    for (const text of texts) {
      const isToml = path.endsWith(".toml");
      const added = (to: string) =>
        isToml ? `mine = true\n${to}` : to.replace("{", '{"mine":true,').replace(",}", "}");
      write(path, text);
      const { on, off } = world();
      expect(await on(name)).toBe(0);
      write(path, added(read(path) ?? ""));
      expect(await off(name)).toBe(0);
      // An object that became empty can keep its line break
      const plain = (to = "") => (isToml ? to : to.replaceAll(/\s/g, ""));
      expect(plain(read(path))).toBe(plain(added(text)));
    }
  });
});

test("with hooks and --native, in any order, disable restores everything byte for byte", async () => {
  const names = ["codex", "gemini-cli", "qwen-code"] as const;
  const STEPS = ["on", "off", "hooks", "native", "nativeOff"] as const;
  const cases = fc.record({
    name: fc.constantFrom(...names),
    text: fc.nat(),
    steps: fc.array(fc.constantFrom(...STEPS), { minLength: 2, maxLength: 6 }),
    isAll: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ name, text, steps, isAll }) => {
      const [path, texts] = FILES[name] ?? ["", []];
      const before = texts.slice(0, -1)[text % (texts.length - 1)] ?? "";
      write(path, before);
      const made = world();
      for (const step of steps) expect(await made[step](name)).toBe(0);
      if (isAll) await made.uninstall();
      else await made.disable(name);
      // If one of several was removed first, an object that became empty can have a line break more
      const plain = (text = "") => (steps.some((step) => step.endsWith("ff")) ? text.replace(/^\{\}\n$/, "{}") : text);
      expect(plain(read(path))).toBe(plain(before));
    }),
    { numRuns: runs(60) },
  );
});

test("refuses agents without a place for it, and settings that it cannot edit", async () => {
  await expect(world().on("vibe")).rejects.toThrow("docs/mcp.md");
  write(".codex/config.toml", 'mcp_servers = { shop = { command = "node" } }\n');
  await expect(world().on("codex")).rejects.toThrow("config.toml");
  expect(read(".codex/config.toml")).toBe('mcp_servers = { shop = { command = "node" } }\n');
});

test("uninstall removes it from agents without hooks", async () => {
  const { on, uninstall: all, out } = world();
  write(".cursor/mcp.json", "{}\n");
  await on("cursor");
  expect(await all()).toBe(0);
  expect(out()).toContain("the MCP server in the settings of Cursor");
  expect(read(".cursor/mcp.json")).toBe("{}\n");
});
