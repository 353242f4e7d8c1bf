// Slow: only `npm run test:all` runs it. An administrator's machine with two users, with the built program;
// agents/managed.test.ts has the files.
//
// A machine of an administrator, as root in a mount namespace: /etc, /usr/local and /root are copies that end with the test.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installPackage } from "../support/installed-package.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

/** Mounts and other users need root, as in CI. */
const isRoot = process.geteuid?.() === 0 && process.platform === "linux";

let folder: string;
beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), "openhook-managed-"));
  chmodSync(folder, 0o755);
});
afterAll(() => removeFolder(folder));

const { version: OLD }: { version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const NEW = "999.0.0";
const AT = "/usr/local/lib/openhook-otel";

/** Two versions of the package as npx has them in its cache, and two users. */
function prepare(): void {
  installPackage(join(folder, "old"));
  installPackage(join(folder, "new"), NEW);
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
cd "$1"; version=$3
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir -p /mnt/etc /mnt/ework /mnt/usr /mnt/uwork
mount -t overlay -o lowerdir=/etc,upperdir=/mnt/etc,workdir=/mnt/ework overlay /etc
mount -t overlay -o lowerdir=/usr/local,upperdir=/mnt/usr,workdir=/mnt/uwork overlay /usr/local
mkdir -p /mnt/bin; cp "$(readlink -f "$2")" /mnt/bin/node
mount -t tmpfs -o mode=700 tmpfs /root
mkdir -p /root/.nvm/bin /root/.npm/_npx /usr/local/bin; cp /mnt/bin/node /root/.nvm/bin/node
cp -r old new /root/.npm/_npx; chown -R 0:0 /root/.npm; chmod 755 /usr/local /usr/local/bin /usr/local/lib
rm -f /usr/local/bin/node; cp /mnt/bin/node /usr/local/bin/node; node=/usr/local/bin/node
old=/root/.npm/_npx/old/node_modules/openhook-otel/dist/openhook-otel.cjs
new=/root/.npm/_npx/new/node_modules/openhook-otel/dist/openhook-otel.cjs
at=/usr/local/lib/openhook-otel; program=$at/$version/dist/openhook-otel.cjs
as() { # name uid: as this user, with nothing of root's environment
  who=$1 uid=$2; shift 2
  setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i HOME="$PWD/$who" PATH=/usr/bin:/bin "$@"
}
say() { echo "## $1"; }
mkdir -p /etc/codex /etc/gemini-cli /etc/openhook-otel
printf 'allowed_sandbox_modes = ["read-only"] # ours\\n' > /etc/codex/requirements.toml
printf '{ "ui": { "theme": "corporate" } }\\n' > /etc/gemini-cli/settings.json
printf '{ "allowManagedHooksOnly": true }\\n' > before.json
mkdir -p /etc/claude-code; cp before.json /etc/claude-code/managed-settings.json
echo '{ "capture": "none", "locked": ["capture"] }' > /etc/openhook-otel/config.json
cp /etc/codex/requirements.toml codex.before; cp /etc/gemini-cli/settings.json gemini.before
users=old/node_modules/openhook-otel/dist/openhook-otel.cjs # as a user has installed it
say blocked; as ada 61101 sh -c 'mkdir -p ~/.claude && cd ~ && '"$node $PWD/$users enable claude-code; $node $PWD/$users status" || true
say notroot; as ada 61101 "$node" "$users" enable --managed 2>&1 || true
say notroot-disable; as ada 61101 "$node" "$users" disable --managed 2>&1 || true
find /etc /usr/local -printf '%y %m %u %p\\n' | sort > places.before
say dryrun; as ada 61101 "$node" "$users" enable --managed --dry-run
find /etc /usr/local -printf '%y %m %u %p\\n' | sort | cmp - places.before
say print; as ada 61101 "$node" "$users" enable --managed --print
say nvm; /root/.nvm/bin/node "$old" enable --managed 2>&1 || true
chmod 777 /usr/local/lib
say open; "$node" "$old" enable --managed 2>&1 || true
chmod 755 /usr/local/lib; ls -A "$at" /etc/cursor 2>&1 || true
mkdir /etc/qwen-code; printf '\\377\\376{\\000}\\000' > /etc/qwen-code/settings.json
say utf16; "$node" "$old" enable --managed 2>&1 || true; ls -A "$at" 2>&1 || true; rm -r /etc/qwen-code
say enable; (umask 077; "$node" "$old" enable --managed)
mkdir -m 700 "$at/$version/node_modules/.compile-cache" # as Node keeps compiled code when root runs it
say again; "$node" "$old" enable --managed
rmdir "$at/$version/node_modules/.compile-cache"
rm -r /root/.npm/_npx/old
say claude; cat /etc/claude-code/managed-settings.d/openhook-otel.json
say codex; cat /etc/codex/requirements.toml
say modes; stat -c '%a %u %n' $at/hook $at/hook.conf /etc/claude-code/managed-settings.d/openhook-otel.json /etc/cursor/hooks.json
find $at /etc/cursor /etc/claude-code ! -user 0 -o -perm /022 -o ! -perm -004 -o -type d ! -perm -005
line="h=$at/hook;[ ! -x \\"\\$h\\" ]||exec \\"\\$h\\" claude-code"
session() { # name uid session: its events
  for event in SessionStart UserPromptSubmit SessionEnd; do
    printf '{"session_id":"%s","hook_event_name":"%s","cwd":"/tmp","prompt":"s3cret of %s","source":"startup","reason":"other"}' "$3" "$event" "$1" |
      as "$1" "$2" OPENHOOK_OTEL_HOME="$PWD/elsewhere" OPENHOOK_OTEL_DRAIN=off sh -c "$line"
  done
}
for user in "ada 61101" "bea 61102"; do
  set -- $user
  session "$1" "$2" "of-$1"
  say "drain-$1"; as "$1" "$2" "$node" "$program" drain --json
  say "sessions-$1"; as "$1" "$2" "$node" "$program" sessions --json
  say "set-$1"; as "$1" "$2" "$node" "$program" config set capture full 2>&1 || true
  say "status-$1"; as "$1" "$2" "$node" "$program" status || true
  say "doctor-$1"; as "$1" "$2" "$node" "$program" doctor --json || true
done
say elsewhere; ls elsewhere 2>/dev/null || echo none
mv $at/hook hook.away
say broken; as ada 61101 "$node" "$program" doctor --json || true; as ada 61101 "$node" "$program" status || true
mv hook.away $at/hook
chmod o+w $at/hook
say writable; as ada 61101 "$node" "$program" doctor --json || true

say update; as bea 61102 sh -c 'echo $$; exec "$@"' sh "$node" "$program" view --print-url > viewing &
until grep -q http viewing; do sleep 0.1; done
(for n in 1 2 3 4 5 6 7 8; do session bea 61102 "during-$n"; done) & sessions=$!
"$node" "$new" enable --managed; wait $sessions
say updated; cat $at/hook.conf; stat -c '%a %u %n' $at/hook; as ada 61101 "$node" "$program" doctor --json || true
touch -d '2 hours ago' "$at/$version" $at/999.0.0
"$node" "$new" enable --managed > log
say running; ls -A $at
kill "$(head -n 1 viewing)"; wait
touch -d '2 hours ago' $at/999.0.0; "$node" "$new" enable --managed > log
say removed; ls -A $at
program=$at/999.0.0/dist/openhook-otel.cjs
say drain-during; as bea 61102 "$node" "$program" drain --json
say doctor-root; "$node" "$program" doctor --json || true
chmod 700 $at/999.0.0
say private; as ada 61101 "$node" "$users" doctor --json || true
"$node" "$new" enable --managed > log
say repaired; cat $at/hook.conf; "$node" $PWD/$users enable --managed > log
say downgraded; cat $at/hook.conf; as ada 61101 "$node" "$users" doctor --json || true

cp -a $at at.copy
echo mine > $at/administrators.txt
say one; "$node" "$new" disable --managed codex
say disable-dryrun; as ada 61101 "$node" "$users" disable --managed cursor --dry-run
say disable; "$node" "$new" disable --managed
say left; cmp /etc/codex/requirements.toml codex.before; cmp /etc/gemini-cli/settings.json gemini.before; cmp /etc/claude-code/managed-settings.json before.json
ls -A $at
say places; rm -r $at; find /etc /usr/local -printf '%y %m %u %p\\n' | sort | diff places.before - || true
cp -a at.copy $at
say leftover; as ada 61101 "$node" "$users" doctor --json || true; as ada 61101 "$node" "$users" uninstall --yes || true
say leftover-root; "$node" "$new" doctor --json || true
say last; "$node" "$new" disable --managed; ls -A /usr/local/lib | grep openhook || true
say gone; echo '{}' | as bea 61102 sh -c "$line"; echo "exit $?"
say data; as bea 61102 "$node" "$users" sessions --json
`;

const playedThrough = (): void => {
  prepare();
  const out = execFileSync("unshare", ["-m", "sh", join(folder, "steps.sh"), folder, process.execPath, OLD], {
    encoding: "utf8",
    timeout: 300_000,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" },
  });
  const step = (name: string): string => out.split(`## ${name}\n`)[1]?.split(/^## /m)[0] ?? "";

  // Before: the user's hooks are registered, and policy keeps them from running
  expect(step("blocked")).toMatch(/users' hooks are switched off by "allowManagedHooksOnly".*enable --managed/);
  expect(step("blocked").replace(/\s+/g, " ")).toMatch(/Claude Code is not collected: users' hooks are switched off/);
  expect(step("notroot")).toMatch(/run it as root \(sudo\), or add --print or --dry-run$/m);
  expect(step("notroot-disable")).toMatch(/run it as root \(sudo\), or add --dry-run$/m);
  expect(step("print")).toMatch(/^==> \/etc\/cursor\/hooks\.json$/m);
  expect(step("print")).not.toContain("allowed_sandbox_modes");
  expect(step("print")).toContain(`program='${AT}/${OLD}/dist/openhook-otel.cjs'`);
  expect(step("print")).toMatch(/^# \/usr\/local\/lib\/openhook-otel\/hook: a copy of .*hook\.sh; mode 755$/m);
  expect(step("dryrun")).toMatch(/^\+\+\+ \/etc\/codex\/requirements\.toml$/m);
  expect(step("dryrun")).toMatch(/^ allowed_sandbox_modes = \["read-only"\] # ours\n\+# begin openhook-otel/m);
  expect(step("dryrun")).toContain(`Dry run: nothing was written. The hook program would be ${AT}/hook\n`);

  // What users could not run, or could replace, is refused before anything is written
  expect(step("nvm")).toMatch(
    /hooks would start \/root\/\.nvm\/bin\/node, but they cannot enter \/root; .*: \/usr\/local\/bin\/node \S+ enable --managed$/m,
  );
  expect(step("open")).toMatch(/users other than root can write its folder \/usr\/local\/lib: chmod 755/);
  expect(step("open")).toMatch(/cannot access '\/usr\/local\/lib\/openhook-otel'/);
  expect(step("open")).not.toContain("hooks.json");

  // A settings file that an edit would damage
  expect(step("utf16")).toMatch(
    /\/etc\/qwen-code\/settings\.json is UTF-16, as Windows PowerShell's > writes it; save it/,
  );
  expect(step("utf16")).toMatch(/cannot access '\/usr\/local\/lib\/openhook-otel'/);

  expect(step("enable").match(/: enabled for all users in/g)).toHaveLength(8);
  expect(step("enable")).toContain(`All users' hooks now use the copy of this program in ${AT}/${OLD}\n`);
  expect(step("again").match(/already enabled for all users/g)).toHaveLength(8);
  expect(step("again")).not.toContain("now use the copy");
  expect(step("again")).toContain(`All users' hooks use the copy of this program in ${AT}/${OLD}\n`);
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
    expect(step(`doctor-${name}`)).toContain(
      `${AT}/hook, for all users, records an event and starts drains with ${AT}/${OLD}/dist/openhook-otel.cjs`,
    );
  }
  expect(step("broken")).toMatch(
    /registered for all users, but \S+hook is missing or cannot be executed; ask the admin/,
  );
  expect(step("broken")).toMatch(/Codex is not collected: it is registered for all users, but/);
  // A repository's variable does not move the state
  expect(step("elsewhere")).toBe("none\n");

  expect(step("writable")).toContain(`hooks for all users use ${AT}/hook, but users other than root can write it`);

  // An update while hooks, and a process of the old version, run
  expect(step("update")).toContain(`All users' hooks now use the copy of this program in ${AT}/${NEW}\n`);
  expect(step("updated")).toContain(`program='${AT}/${NEW}/dist/openhook-otel.cjs'`);
  expect(step("updated")).toMatch(/^755 0 \S+hook$/m);
  expect(step("updated")).toContain(
    `hooks for all users use ${NEW} (${AT}/${NEW}/dist/openhook-otel.cjs), and this is`,
  );
  expect(step("updated")).toContain(`hooks for all users do not use ${AT}/${OLD}`);
  expect(step("running").split("\n")).toContain(OLD);
  expect(step("removed").trim().split("\n").sort()).toEqual([NEW, "folders.json", "hook", "hook.conf"]);
  expect(JSON.parse(step("drain-during"))).toMatchObject({ events: 24, problems: [] });
  expect(step("doctor-root")).toContain(`${AT}/hook, for all users, records an event`);
  expect(step("private")).toMatch(/is missing, or you cannot use it; ask the administrator to run enable --managed/);
  expect(step("repaired")).toMatch(/program='\S+\/999\.0\.0-[0-9a-f]{8}\/dist\/openhook-otel\.cjs'/);
  expect(step("downgraded")).toContain(`program='${AT}/${OLD}/dist/openhook-otel.cjs'`);
  expect(step("downgraded")).toContain(`${AT}/hook, for all users, records an event`);

  expect(step("one")).toMatch(/^The hook program stays for .*Claude Code/m);
  expect(step("disable").match(/no longer enabled for all users/g)).toHaveLength(7);
  expect(step("disable")).toContain("The hook program for all users is removed. What users have collected stays.");
  expect(step("disable-dryrun")).toMatch(/^--- \/etc\/cursor\/hooks\.json$/m);
  expect(step("disable-dryrun")).toContain("Dry run: nothing was written.\n");
  expect(step("left")).toBe("administrators.txt\n");
  // No file and no folder is left that was not there before
  expect(step("places")).toBe("");
  expect(step("leftover")).toMatch(/has the hook program for all users, but no agent is enabled for all users/);
  expect(step("leftover")).toContain("ask the administrator to run disable --managed");
  expect(step("leftover")).toMatch(/^What serves all users stays \(\/usr\/local\/lib\/openhook-otel\): as root,/m);
  expect(step("leftover-root")).toMatch(/no agent is enabled for all users/);
  expect(step("last")).toBe(
    "No agent was enabled for all users.\nThe hook program for all users is removed. What users have collected stays.\n",
  );
  expect(step("gone")).toBe("exit 0\n");
  expect(step("data")).toContain("of-bea");
};

const refused = (): void => {
  expect(() =>
    execFileSync(process.execPath, [PROGRAM, "enable", "--managed"], { encoding: "utf8", stdio: "pipe" }),
  ).toThrow(/run it as root/);
};

if (isRoot)
  test(
    "hooks of two users are collected from a copy, also during an update; policy holds; nothing is left",
    playedThrough,
  );
else test("without root, --managed is refused before anything is written", refused);
