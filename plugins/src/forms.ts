import type { HookCommand } from "#core/model/agent.ts";
import type { Installer } from "#core/model/installer.ts";
import { managedFolderOf } from "#setup/registration/managed-places.ts";
import { posixArgs, posixLine } from "#setup/registration/posix-line.ts";

/** A package that registers our hooks with an agent, in the agent's form. */
export interface Plugin {
  readonly source: string;
  readonly name: string;
  readonly folder: string;
  /** The marketplace file that lists it. @default installed by its path */
  readonly marketplace?: "claude" | "codex";
  readonly manifest: { readonly path: string; readonly more?: Readonly<Record<string, unknown>> };
  readonly hooks: { readonly path: string; of(installer: Installer): unknown };
}

/** Agents whose form of plugin is documented; plugins/README.md names each page and the day it was read. */
export const PLUGINS: readonly Plugin[] = [
  {
    source: "claude-code",
    name: "openhook-otel",
    folder: "claude-code",
    marketplace: "claude",
    manifest: { path: ".claude-plugin/plugin.json" },
    hooks: { path: "hooks/hooks.json", of: managed },
  },
  {
    source: "copilot",
    name: "openhook-otel-copilot",
    folder: "copilot",
    marketplace: "claude",
    manifest: { path: "plugin.json", more: { hooks: "hooks.json" } },
    hooks: { path: "hooks.json", of: managed },
  },
  {
    source: "codex",
    name: "openhook-otel",
    folder: "codex",
    marketplace: "codex",
    manifest: { path: ".codex-plugin/plugin.json", more: { hooks: "./hooks/hooks.json" } },
    hooks: { path: "hooks/hooks.json", of: ofUser },
  },
  {
    source: "gemini-cli",
    name: "openhook-otel",
    folder: "gemini-cli",
    manifest: { path: "gemini-extension.json" },
    hooks: { path: "hooks/hooks.json", of: managed },
  },
  {
    source: "cursor",
    name: "openhook-otel",
    folder: "cursor",
    manifest: { path: ".cursor-plugin/plugin.json" },
    hooks: { path: "hooks/hooks.json", of: managed },
  },
];

// --- internal ---

/** The user's hook program, otherwise that of all users, on Linux or macOS, in any shell. A missing program exits with 0. */
const command: HookCommand = (options) =>
  [
    "~/.local/share/openhook-otel/hook",
    "/usr/local/lib/openhook-otel/hook",
    "'/Library/Application Support/openhook-otel/hook'",
  ]
    .map((program) => posixLine(program, posixArgs(options), {}))
    .join(";");

/** The hooks of a file for all users: only those that every version knows. */
function managed({ managed: of }: Installer): unknown {
  if (of === undefined) throw new Error("no hooks for all users");
  return JSON.parse(of.add(undefined, command, { platform: "linux", programFolder: managedFolderOf("linux") }));
}

/** The hooks of a file in a user's home. */
function ofUser(installer: Installer): unknown {
  const files = ["/home/dev/.codex/config.toml", "/home/dev/.codex/hooks.json"].map((path) => ({
    path,
    text: undefined,
  }));
  const target = { home: "/home/dev", project: "/home/dev", env: {} };
  const added = installer.add(files, { scope: "user", target, command, version: undefined });
  const { hooks } = JSON.parse(added.find(({ path }) => path.endsWith("hooks.json"))?.text ?? "{}") as {
    hooks: unknown;
  };
  return { hooks };
}
