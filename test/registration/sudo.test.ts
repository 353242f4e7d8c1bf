import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ensurePrivateState } from "#collect/drain/open.ts";
import { placesOf } from "#config/places.ts";
import { refuseSudo } from "#setup/registration/sudo.ts";
import { ensureBuilt, Machine, PROGRAM } from "../support/program.ts";

let home: string;
let owner: number;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-sudo-"));
  if (process.getuid?.() === 0) chownSync(home, 1000, 1000);
  owner = statSync(home).uid;
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

const asked = (uid: number, env: Readonly<Record<string, string>>): Promise<void> => {
  vi.spyOn(process, "getuid").mockReturnValue(uid);
  return refuseSudo({ env, places: placesOf({ env: {}, home, platform: "linux" }), platform: "linux" });
};

it.skipIf(process.platform === "win32")("sudo in the home of the calling user is refused, nothing else", async () => {
  const sudo = { SUDO_UID: String(owner) };
  await expect(asked(0, sudo)).rejects.toThrow(
    `belongs to user ${owner}, who could not use files that root creates there`,
  );
  await expect(asked(0, {})).resolves.toBeUndefined();
  await expect(asked(owner, sudo)).resolves.toBeUndefined();
  await expect(asked(0, { SUDO_UID: String(owner + 1) })).resolves.toBeUndefined();
});

it.skipIf(process.platform === "win32")(
  "a drain that sudo made root does not write into the user's state",
  async () => {
    vi.spyOn(process, "getuid").mockReturnValue(0);
    const places = placesOf({ env: {}, home, platform: "linux" });
    const drain = { places, platform: "linux" as const, log: () => {} };
    await expect(ensurePrivateState({ ...drain, sudoUid: owner })).rejects.toThrow(
      /sudo.*belongs to user.*without sudo/,
    );
    expect(existsSync(places.stateDir)).toBe(false);
    await ensurePrivateState(drain);
    expect(existsSync(places.inboxDir)).toBe(true);
  },
);

it.skipIf(process.getuid?.() !== 0)(
  "what another user left in the state directory is reported in a few lines, with the remedy",
  async () => {
    const machine = new Machine();
    const { home, places } = machine;
    const asUser = (args: readonly string[]) =>
      spawnSync("setpriv", ["--reuid=1000", "--regid=1000", "--clear-groups", process.execPath, PROGRAM, ...args], {
        env: { ...machine.env, OPENHOOK_OTEL_DRAIN: "off" },
        encoding: "utf8",
        cwd: "/",
      });
    try {
      await ensureBuilt();
      chmodSync(home, 0o755);
      mkdirSync(places.inboxDir, { recursive: true, mode: 0o700 });
      spawnSync("chown", ["-R", "1000:1000", home]);
      for (let n = 0; n < 20; n++) writeFileSync(join(places.inboxDir, `1-2-${n}.evt`), "x", { mode: 0o600 });
      const { stdout } = asUser(["drain"]);
      expect(stdout.trim().split("\n").length).toBeLessThan(10);
      const remedy = `sudo chown -R 1000 ${JSON.stringify(places.stateDir)}`;
      expect(stdout).toContain(
        `20 of these files belong to user 0, as which an agent ran (sudo, a container); make them yours: ${remedy}`,
      );
      expect(asUser(["doctor"]).stdout.replaceAll(/\s+/g, " ")).toContain("20 events of user 0 cannot be read");

      for (const name of ["drain.lock", "store.db"]) chownSync(join(places.stateDir, name), 0, 0);
      chmodSync(join(places.stateDir, "drain.lock"), 0o600);
      expect(asUser(["drain"]).stderr).toContain(`drain.lock" belongs to user 0, not to you: ${remedy}`);
    } finally {
      await machine.remove();
    }
  },
);
