import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { systemProgram } from "#kit/system-program.ts";
import { asObject } from "../shared/payload/json.ts";
import { parseDocument, plainOf } from "../shared/settings/jsonc.ts";

type Json = Readonly<Record<string, unknown>>;

/** A policy of Claude Code that the system itself has. */
export interface SystemPolicy {
  /** The key of the registry, or the file. */
  readonly path: string;
  /** `undefined`: there is a policy, but it could not be read. */
  readonly settings: Json | undefined;
  /** The user can write it, not only an administrator. */
  readonly isUsers: boolean;
}

export interface SystemPolicies {
  /** Only an administrator can write it; it replaces the administrator's files. */
  readonly administrator: SystemPolicy | undefined;
  /** The user can write it; it counts only if no other source has a policy. */
  readonly user: SystemPolicy | undefined;
}

/** Runs one of the system's programs, and gives what it prints. @throws if it fails */
type Run = (program: string, args: readonly string[]) => Promise<string>;

/**
 * The policies that Claude Code reads from Windows' registry (value `Settings`, a JSON text) and macOS' managed preferences. Linux
 * has none. https://code.claude.com/docs/en/managed-settings, read 2026-11-27; the paths are also in its program (2.1.250, 2.1.275).
 */
export async function systemPolicies(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
  run: Run = outputOf,
  isFile: (path: string) => boolean = existsSync,
): Promise<SystemPolicies> {
  if (platform === "win32") {
    const reg = systemProgram("reg.exe", env);
    const [administrator, user] = await Promise.all(["HKLM", "HKCU"].map((hive) => inRegistry(hive, reg, run)));
    return { administrator, user };
  }
  if (platform === "darwin") return { administrator: await inPreferences(run, isFile), user: undefined };
  return { administrator: undefined, user: undefined };
}

// --- internal ---

const POLICIES = "SOFTWARE\\Policies";
const PREFERENCES = "/Library/Managed Preferences";
const PLIST = "com.anthropic.claudecode.plist";
const RUN_MS = 5000;
const MAX_BYTES = 4 * 1024 * 1024;

/** reg.exe ends with the same code if a key is missing and if it cannot be read; the list of the key above tells them apart. */
async function inRegistry(hive: string, reg: string, run: Run): Promise<SystemPolicy | undefined> {
  const keys = await run(reg, ["query", `${hive}\\${POLICIES}`]).catch(() => "");
  if (!/\\Policies\\ClaudeCode\s*$/im.test(keys)) return undefined;
  const path = `${hive}\\${POLICIES}\\ClaudeCode`;
  const text = await run(reg, ["query", path, "/v", "Settings"]).catch(() => "");
  const value = /^\s+Settings\s+REG_(?:EXPAND_)?SZ\s+(\S[\s\S]*)$/im.exec(text)?.[1];
  return { path, settings: value === undefined ? undefined : settingsIn(value), isUsers: hive === "HKCU" };
}

/** A file of preferences is binary; plutil is macOS' own program for it. The user's file is read instead of the machine's. */
async function inPreferences(run: Run, isFile: (path: string) => boolean): Promise<SystemPolicy | undefined> {
  const paths = [`${PREFERENCES}/${userInfo().username}/${PLIST}`, `${PREFERENCES}/${PLIST}`];
  const path = paths.find(isFile);
  if (path === undefined) return undefined;
  const text = await run("/usr/bin/plutil", ["-convert", "json", "-o", "-", "--", path]).catch(() => "");
  return { path, settings: settingsIn(text), isUsers: false };
}

function settingsIn(text: string): Json | undefined {
  try {
    return asObject(plainOf(parseDocument(text)));
  } catch {
    return undefined;
  }
}

const outputOf: Run = (program, args) =>
  new Promise((done, fail) => {
    const options = { encoding: "utf8", timeout: RUN_MS, maxBuffer: MAX_BYTES, windowsHide: true } as const;
    execFile(program, [...args], options, (error, stdout) =>
      error === null ? done(stdout) : fail(error),
    ).stdin?.end();
  });
