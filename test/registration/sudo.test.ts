import { chownSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { placesOf } from "../../src/config/places.ts";
import { refuseSudo } from "../../src/registration/sudo.ts";

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

it.skipIf(process.platform === "win32")("sudo in the home of whoever called it is refused, nothing else", async () => {
  const sudo = { SUDO_UID: String(owner) };
  await expect(asked(0, sudo)).rejects.toThrow(
    `belongs to user ${owner}, who could not use files that root creates there`,
  );
  await expect(asked(0, {})).resolves.toBeUndefined();
  await expect(asked(owner, sudo)).resolves.toBeUndefined();
  await expect(asked(0, { SUDO_UID: String(owner + 1) })).resolves.toBeUndefined();
});
