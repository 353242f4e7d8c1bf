// Slow: only `npm run test:all` runs it. A umask without the owner's rights, with the built program as an ordinary user.
//
// A umask of 777 takes the owner's rights as well. Root would not notice, so as root the program runs as another user.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ensureBuilt, Machine, PROGRAM } from "../support/program.ts";

let machine: Machine;
beforeEach(async () => {
  await ensureBuilt();
  machine = new Machine();
});
afterEach(() => machine.remove());

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const closed = (args: readonly string[]) => {
  const asUser = process.getuid?.() === 0 ? ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"] : [];
  if (asUser.length > 0) spawnSync("chown", ["-R", "1000:1000", machine.home]);
  const command = [...asUser, process.execPath, PROGRAM, ...args].map(quoted).join(" ");
  return spawnSync("sh", ["-c", `umask 777; exec ${command}`], { env: machine.env, encoding: "utf8", cwd: "/" });
};
const modeOf = (path: string): number => statSync(path).mode & 0o777;

it.skipIf(process.platform === "win32")(
  "with umask 777 the hook is enabled, drains run, and files stay private",
  () => {
    for (const args of [["enable", "claude-code", "-y"], ["drain"], ["drain"], ["status"]]) {
      expect(closed(args)).toMatchObject({ status: 0, stderr: "" });
    }
    expect(modeOf(machine.places.stateDir)).toBe(0o700);
    expect(modeOf(machine.places.storePath)).toBe(0o600);
  },
);

it.skipIf(process.platform === "win32")("a program that `run` starts keeps the umask", () => {
  expect(closed(["run", "--", "sh", "-c", "umask"]).stdout).toMatch(/^0?777\n/);
});

it.skipIf(process.platform === "win32")(
  "a folder that is closed to its owner is named, with the command that opens it",
  () => {
    const folder = dirname(machine.places.stateDir);
    mkdirSync(join(folder), { recursive: true });
    chmodSync(folder, 0);
    expect(closed(["drain"]).stderr).toContain(`its owner's rights are missing: chmod u+rwx ${JSON.stringify(folder)}`);
    chmodSync(folder, 0o700);
  },
);
