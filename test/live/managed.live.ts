import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureBuilt, ROOT } from "../support/program.ts";
import { compare } from "./compare.ts";
import { install } from "./install.ts";
import type { Machine } from "./machine.ts";
import { ManagedMachine } from "./managed-machine.ts";
import { PROGRAMS } from "./programs.ts";
import { SCENARIOS } from "./scenarios.ts";

// Machines whose administrator forbids users' hooks, with the real programs, as two ordinary users

const CACHE = resolve(process.env["OPENHOOK_LIVE_CACHE"] ?? join(ROOT, "node_modules", ".cache", "openhook-live"));
const UIDS = [61_201, 61_202];

/** The administrator's file that forbids users' hooks. */
const POLICIES: Readonly<Record<string, readonly [path: string, text: string]>> = {
  "claude-code": ["/etc/claude-code/managed-settings.json", '{ "allowManagedHooksOnly": true }\n'],
  codex: ["/etc/codex/requirements.toml", "allow_managed_hooks_only = true\n"],
};

const isRoot = process.geteuid?.() === 0 && process.platform === "linux";
if (!isRoot) test.skip("not covered here: managed machines need root and Linux", () => {});

describe.skipIf(!isRoot).each(Object.entries(POLICIES))("%s", (source, policy) => {
  let managed: ManagedMachine;
  beforeAll(async () => {
    await ensureBuilt();
    managed = new ManagedMachine();
    managed.put(...policy);
  });
  afterAll(() => managed?.remove());

  /** @param printed a part of what `enable` prints */
  const playedBy = (uid: number, printed: string): Promise<void> => {
    const program = PROGRAMS.find((one) => one.source === source);
    const scenario = SCENARIOS["basic"];
    if (program === undefined || scenario === undefined) throw new Error(`${source} cannot be played`);
    const installed = install(program, CACHE);
    const register = async (machine: Machine): Promise<void> => {
      expect(await machine.openhook("enable", source)).toContain(printed);
    };
    return compare({ program, name: "basic", scenario, installed }, register, managed.userWith(uid, installed));
  };

  test("a user's hooks do not run, and enable says why", async () => {
    const played = playedBy(UIDS[0] ?? 0, "users' hooks are switched off by");
    await expect(played).rejects.toThrow(/sessions: \+?0/);
  });

  test("with enable --managed, sessions of two users are collected exactly", async () => {
    expect(managed.openhook("enable", "--managed", source)).toContain(": enabled for all users in /etc/");
    for (const uid of UIDS) await playedBy(uid, "enabled");
  });
});
