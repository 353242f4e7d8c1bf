// A machine of an administrator, as root in its own mount namespace: /etc and /usr/local are copies that end with the test.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { copyProgram } from "../support/program-copy.ts";
import { removeFolder } from "../support/remove.ts";

/** Mounts and other users need root, as in CI. */
const isRoot = process.geteuid?.() === 0 && process.platform === "linux";
let folder: string;
beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), "openhook-managed-"));
  chmodSync(folder, 0o755);
}, 120_000);
afterAll(() => removeFolder(folder));

/** The program installed for all users, and two users with homes of their own. */
function prepare(): void {
  copyProgram(folder);
  for (const name of ["etc", "etc-work", "usr", "usr-work"]) mkdirSync(join(folder, name));
  for (const [name, uid] of USERS) {
    const home = join(folder, name);
    mkdirSync(home, { mode: 0o700 });
    execFileSync("chown", [`${uid}:${uid}`, home]);
  }
  writeFileSync(join(folder, "steps.sh"), STEPS, { mode: 0o755 });
}

const USERS = [
  ["ada", 61_101],
  ["bea", 61_102],
] as const;

/** Prints one line of JSON or text per step, after `## name`. */
const STEPS = `set -eu
cd "$1"; node=$2
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir -p /mnt/etc /mnt/ework /mnt/usr /mnt/uwork
mount -t overlay -o lowerdir=/etc,upperdir=/mnt/etc,workdir=/mnt/ework overlay /etc
mount -t overlay -o lowerdir=/usr/local,upperdir=/mnt/usr,workdir=/mnt/uwork overlay /usr/local
mkdir -p /usr/local/lib/openhook-test /etc/openhook-otel
cp -r lib/. /usr/local/lib/openhook-test/
chown -R 0:0 /usr/local/lib/openhook-test; chmod -R go+rX-w /usr/local/lib/openhook-test
cp "$(readlink -f "$node")" /usr/local/lib/openhook-test/node; node=/usr/local/lib/openhook-test/node
program=/usr/local/lib/openhook-test/openhook-otel/dist/openhook-otel.cjs
find /etc /usr/local/lib -newer steps.sh -type f | sort > before
as() { # name uid: as this user, with nothing of root's environment
  who=$1 uid=$2; shift 2
  setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i HOME="$PWD/$who" PATH=/usr/bin:/bin "$@"
}
say() { echo "## $1"; }
mkdir -p /etc/codex /etc/gemini-cli
printf 'allowed_sandbox_modes = ["read-only"] # ours\\n' > /etc/codex/requirements.toml
printf '{ "ui": { "theme": "corporate" } }\\n' > /etc/gemini-cli/settings.json
printf '{ "allowManagedHooksOnly": true }\\n' > before.json
mkdir -p /etc/claude-code; cp before.json /etc/claude-code/managed-settings.json
echo '{ "capture": "none", "locked": ["capture"] }' > /etc/openhook-otel/config.json
cp /etc/codex/requirements.toml codex.before; cp /etc/gemini-cli/settings.json gemini.before
say blocked; as ada 61101 sh -c 'mkdir -p ~/.claude && cd ~ && '"$node $program enable claude-code; $node $program status" || true
say notroot; as ada 61101 "$node" "$program" enable --managed 2>&1 || true
say print; as ada 61101 "$node" "$program" enable --managed --print
say enable; "$node" "$program" enable --managed
say again; "$node" "$program" enable --managed
say claude; cat /etc/claude-code/managed-settings.d/openhook-otel.json
say codex; cat /etc/codex/requirements.toml
say modes; stat -c '%a %u %n' /usr/local/lib/openhook-otel/hook /usr/local/lib/openhook-otel/hook.conf /etc/claude-code/managed-settings.d/openhook-otel.json /etc/cursor/hooks.json
line='h=/usr/local/lib/openhook-otel/hook;[ ! -x "$h" ]||exec "$h" claude-code'
for user in "ada 61101" "bea 61102"; do
  set -- $user
  for event in SessionStart UserPromptSubmit SessionEnd; do
    printf '{"session_id":"of-%s","hook_event_name":"%s","cwd":"/tmp","prompt":"s3cret of %s","source":"startup","reason":"other"}' "$1" "$event" "$1" |
      as "$1" "$2" OPENHOOK_OTEL_HOME="$PWD/elsewhere" OPENHOOK_OTEL_DRAIN=off sh -c "$line"
  done
  say "drain-$1"; as "$1" "$2" "$node" "$program" drain --json
  say "sessions-$1"; as "$1" "$2" "$node" "$program" sessions --json
  say "set-$1"; as "$1" "$2" "$node" "$program" config set capture full 2>&1 || true
  say "status-$1"; as "$1" "$2" "$node" "$program" status || true
  say "doctor-$1"; as "$1" "$2" "$node" "$program" doctor --json || true
done
say elsewhere; ls elsewhere 2>/dev/null || echo none
mv /usr/local/lib/openhook-otel/hook hook.away
say broken; as ada 61101 "$node" "$program" doctor --json || true; as ada 61101 "$node" "$program" status || true
mv hook.away /usr/local/lib/openhook-otel/hook
say disable; "$node" "$program" disable --managed
say left; cmp /etc/codex/requirements.toml codex.before; cmp /etc/gemini-cli/settings.json gemini.before; cmp /etc/claude-code/managed-settings.json before.json
ls /etc/claude-code/managed-settings.d /etc/cursor /usr/local/lib/openhook-otel 2>&1 || true
say gone; echo '{}' | as bea 61102 sh -c "$line"; echo "exit $?"
`;

const playedThrough = (): void => {
  prepare();
  const out = execFileSync("unshare", ["-m", "sh", join(folder, "steps.sh"), folder, process.execPath], {
    encoding: "utf8",
    timeout: 120_000,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" },
  });
  const step = (name: string): string => out.split(`## ${name}\n`)[1]?.split(/^## /m)[0] ?? "";

  // Before: the user's hooks are registered, and policy keeps them from running
  expect(step("blocked")).toMatch(/users' hooks are switched off by "allowManagedHooksOnly".*enable --managed/);
  expect(step("blocked").replace(/\s+/g, " ")).toMatch(/Claude Code is not collected: users' hooks are switched off/);
  expect(step("notroot")).toMatch(/run it as root \(sudo\), or add --print/);
  expect(step("print")).toMatch(/^==> \/etc\/cursor\/hooks\.json$/m);
  expect(step("print")).not.toContain("allowed_sandbox_modes");

  expect(step("enable").trim().split("\n")).toHaveLength(7);
  expect(step("again").match(/already enabled for all users/g)).toHaveLength(7);
  expect(Object.keys(JSON.parse(step("claude")).hooks)).toContain("PostToolUseFailure");
  expect(step("codex")).toMatch(/^allowed_sandbox_modes = .* # ours\n# begin openhook-otel/);
  expect(step("modes")).toMatch(
    /^755 0 \S+hook\n644 0 \S+hook\.conf\n644 0 \S+openhook-otel\.json\n644 0 \S+hooks\.json\n$/,
  );

  for (const [name] of USERS) {
    expect(JSON.parse(step(`drain-${name}`))).toMatchObject({ events: 3, problems: [] });
    const sessions = step(`sessions-${name}`);
    expect(sessions).toContain(`of-${name}`);
    for (const [other] of USERS.filter(([one]) => one !== name)) expect(sessions).not.toContain(`of-${other}`);
    expect(step(`set-${name}`)).toMatch(/capture is locked by this machine's administrator in \/etc\/openhook-otel/);
    expect(step(`status-${name}`)).toContain(
      "Claude Code: enabled for all users in /etc/claude-code/managed-settings.d",
    );
    expect(step(`doctor-${name}`)).toContain("registered for all users in /etc/codex/requirements.toml");
    expect(step(`doctor-${name}`)).not.toContain("switched off by");
    expect(step(`doctor-${name}`)).toContain("/etc/openhook-otel/config.json locks capture");
    expect(step(`doctor-${name}`)).toContain("/usr/local/lib/openhook-otel/hook, for all users, starts drains with");
  }
  expect(step("broken")).toMatch(
    /registered for all users, but \S+hook is missing or cannot be executed; ask the admin/,
  );
  expect(step("broken")).toMatch(/Codex is not collected: it is registered for all users, but/);
  // A repository's variable does not move the state
  expect(step("elsewhere")).toBe("none\n");

  expect(step("disable").match(/no longer enabled for all users/g)).toHaveLength(7);
  expect(step("left")).not.toMatch(/openhook-otel\.json|hooks\.json|hook\.conf/);
  expect(step("gone")).toBe("exit 0\n");
};

const refused = (): void => {
  expect(() =>
    execFileSync(process.execPath, [PROGRAM, "enable", "--managed"], { encoding: "utf8", stdio: "pipe" }),
  ).toThrow(/run it as root/);
};

if (isRoot)
  test("hooks of two users are collected, each in its own store; policy holds; nothing is left", playedThrough);
else test("without root, --managed is refused before anything is written", refused);
