import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unwrap } from "#commands/unwrap.ts";
import { wrap } from "#commands/wrap.ts";
import { saveBackup } from "#config/backup.ts";
import { type Places, placesOf } from "#config/places.ts";
import { until } from "../intake/intakes.ts";
import { contextAt } from "../support/context.ts";
import { removeFolder } from "../support/remove.ts";

let root: string;
let home: string;
let places: Places;
let usr: string;
let local: string;
let own: string;
beforeEach(() => {
  root = mkdtempSync(join(realpathSync(tmpdir()), "openhook wrap's "));
  home = join(root, "home");
  usr = join(root, "usr", "bin");
  local = join(home, ".local", "bin");
  own = join(home, ".local", "share", "openhook-otel", "bin");
  places = placesOf({ env: {}, home, platform: "linux" });
  mkdirSync(home, { recursive: true });
  for (const name of ["gh", "aws", "kubectl", "docker"]) program(usr, name);
});
// the wrapper's last event may still be in flight
afterEach(() => removeFolder(root));

const program = (directory: string, name: string, text = `#!/bin/sh\necho real ${name} "$@"\n`): string => {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
};

const contextWith = (path: readonly string[] = [local, usr]) =>
  contextAt(places, { env: { PATH: [...path, "/usr/bin", "/bin"].join(":"), HOME: home } });
const OPTIONS = { dryRun: false, hookSource: resolve("src/collect/intake/hook.sh") };

const wrapped = async (names: readonly string[], options: object = {}, path?: readonly string[]) => {
  const { context, out } = contextWith(path);
  const code = await wrap(names, { ...OPTIONS, ...options }, context);
  expect(code).toBe(0);
  return out();
};
const unwrapped = async (names: readonly string[], dryRun = false, path?: readonly string[]) => {
  const { context, out } = contextWith(path);
  expect(await unwrap(names, { dryRun }, context)).toBe(0);
  return out();
};
const refusal = async (action: Promise<unknown>) =>
  action.then(
    () => expect.unreachable("it was not refused"),
    (error: { code: string; exitCode: number; message: string }) => error,
  );

/** Everything below the home, with modes, bytes and link targets; without the state directory, which may stay. */
const everything = (): Readonly<Record<string, string>> => {
  const found: Record<string, string> = {};
  const walk = (directory: string) => {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      if (path === places.stateDir) continue;
      const file = lstatSync(path);
      const content = file.isSymbolicLink() ? readlinkSync(path) : file.isDirectory() ? "" : readFileSync(path, "hex");
      found[relative(home, path)] = `${file.mode.toString(8)} ${content}`;
      if (file.isDirectory()) walk(path);
    }
  };
  walk(home);
  return found;
};

const shell = (command: string, path: readonly string[]) => {
  const env = { PATH: [...path, "/usr/bin", "/bin"].join(":"), HOME: home, OPENHOOK_OTEL_DRAIN: "off" };
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], { env, encoding: "utf8" });
  return { status, stdout, stderr };
};

describe("wrap", () => {
  test("creates the wrapper in a directory of the user that PATH has before the program", async () => {
    expect(await wrapped(["gh", "aws"])).toBe(
      `gh: wrapped in ${join(local, "gh")}, before ${join(usr, "gh")}\naws: wrapped in ${join(local, "aws")}, before ${join(usr, "aws")}\n`,
    );
    expect(shell("gh pr list", [local, usr])).toEqual({ status: 0, stdout: "real gh pr list\n", stderr: "" });
    await until(() => (readdirSync(places.inboxDir).length === 2 ? true : undefined));
    const wrapper = readFileSync(join(local, "gh"), "utf8");
    expect(wrapper).toMatch(/^w_hook="\$\{HOME:-\$w_home\}\/\.local\/share\/openhook-otel\/hook"/m);
    // For a PATH without them; the apostrophe of the folder is quoted
    for (const name of ["aws", "gh"]) expect(wrapper.replaceAll("'\\''", "'")).toContain(`${name}=${join(usr, name)}`);
  });

  test("a second run changes nothing and reports it", async () => {
    await wrapped(["gh"]);
    const before = everything();
    expect(await wrapped(["gh", "gh"])).toBe(
      `gh: already wrapped in ${join(local, "gh")}, before ${join(usr, "gh")}\n`,
    );
    expect(everything()).toEqual(before);
  });

  test("without such a directory it uses ours, and explains how to add it to PATH", async () => {
    const said = await wrapped(["gh"], {}, [usr, local]);
    expect(said).toContain(`gh: wrapped in ${join(own, "gh")}, before ${join(usr, "gh")}\n`);
    expect(said).toContain(`because PATH finds ${join(usr, "gh")} first`);
    expect(said).toContain('export PATH="$HOME/.local/share/openhook-otel/bin:$PATH"');
    // once PATH contains it, there is nothing to report, and the list shows the same
    for (const names of [["gh"], []]) {
      expect(await wrapped(names, {}, [own, usr])).toBe(
        `gh: already wrapped in ${join(own, "gh")}, before ${join(usr, "gh")}\n`,
      );
    }
    expect(shell("gh x", [own, usr]).stdout).toBe("real gh x\n");
    expect(await wrapped([], {}, [usr])).toContain("It is not used yet");
  });

  test("handles the program itself, or another file, in the user's directory", async () => {
    const foreign = program(local, "gh", "#!/bin/sh\necho mine\n");
    expect(await wrapped(["gh"])).toContain(`gh: wrapped in ${join(own, "gh")}, before ${foreign}\n`);
    expect(readFileSync(foreign, "utf8")).toBe("#!/bin/sh\necho mine\n");
    // the same directory under another name
    symlinkSync(local, join(home, "bin"));
    program(local, "aws");
    expect(await wrapped(["aws"], {}, [join(home, "bin"), usr])).toContain(`aws: wrapped in ${join(own, "aws")}`);
    // a file that is not a program still occupies its name
    writeFileSync(join(local, "docker"), "notes");
    expect(await wrapped(["docker"])).toContain(`docker: wrapped in ${join(own, "docker")}`);
    symlinkSync("/nonexistent", join(local, "kubectl"));
    expect(await wrapped(["kubectl"])).toContain(`kubectl: wrapped in ${join(own, "kubectl")}`);
  });

  test("uses --directory, but never overwrites a file", async () => {
    const directory = join(root, "opt", "wrappers");
    expect(await wrapped(["gh"], { directory }, [directory, usr])).toBe(
      `gh: wrapped in ${join(directory, "gh")}, before ${join(usr, "gh")}\n`,
    );
    program(directory, "aws", "mine");
    const occupied = await refusal(wrap(["kubectl", "aws"], { ...OPTIONS, directory }, contextWith().context));
    expect(occupied).toMatchObject({
      code: "E_OCCUPIED",
      exitCode: 1,
      message: expect.stringContaining("--directory"),
    });
    expect(readFileSync(join(directory, "aws"), "utf8")).toBe("mine");
    // all or nothing
    expect(existsSync(join(directory, "kubectl"))).toBe(false);
    const twice = await refusal(wrap(["gh"], { ...OPTIONS, directory: local }, contextWith([directory, usr]).context));
    expect(twice).toMatchObject({ code: "E_WRAPPED", exitCode: 2 });
  });

  test("refuses what it cannot wrap, with a remedy", async () => {
    const on = (name: string) => refusal(wrap([name], OPTIONS, contextWith().context));
    expect(await on("absent")).toMatchObject({ exitCode: 1, message: expect.stringContaining("install it first") });
    for (const name of ["/usr/bin/gh", "../gh", "", "-x", "g h", "a'b", "openhook-otel"]) {
      expect((await on(name)).exitCode, name).toBe(2);
    }
    const windows = { ...contextWith().context, platform: "win32" as const };
    expect(await refusal(wrap(["gh"], OPTIONS, windows))).toMatchObject({ exitCode: 2 });
    expect(everything()).toEqual({});
  });

  test("a dry run reports the location and writes nothing", async () => {
    expect(await wrapped(["gh"], { dryRun: true })).toBe(
      `gh: would be wrapped in ${join(local, "gh")}, before ${join(usr, "gh")}\nDry run: nothing was written.\n`,
    );
    expect(await wrapped(["gh"], { dryRun: true }, [usr])).toContain("export PATH=");
    expect(everything()).toEqual({});
    expect(existsSync(places.stateDir)).toBe(false);
  });

  test("lists wrapped programs, even if the program is gone", async () => {
    expect(await wrapped([])).toBe("No program is wrapped. Wrap one with openhook-otel wrap gh\n");
    await wrapped(["gh", "aws"]);
    unlinkSync(join(usr, "aws"));
    expect(await wrapped([])).toBe(
      `aws: wrapped in ${join(local, "aws")}, but the program is not in PATH\ngh: already wrapped in ${join(local, "gh")}, before ${join(usr, "gh")}\n`,
    );
  });

  test("repairs a wrapper program that is damaged or from another version", async () => {
    await wrapped(["gh", "aws"]);
    const path = realpathSync(join(local, "gh"));
    const before = readFileSync(path);
    writeFileSync(path, "#!/bin/sh\n# openhook-otel wrapper\nbroken");
    chmodSync(path, 0o644);
    await wrapped(["aws"]);
    expect(readFileSync(path)).toEqual(before);
    expect(lstatSync(path).mode & 0o777).toBe(0o755);
    rmSync(path);
    expect(shell("gh x", [local, usr]).stdout).toBe("real gh x\n");
    await wrapped(["gh"]);
    expect(readFileSync(path)).toEqual(before);
  });

  test("finds the hook in a moved state directory", async () => {
    const moved = join(root, "it's moved");
    places = placesOf({ env: { OPENHOOK_OTEL_HOME: moved }, home, platform: "linux" });
    await wrapped(["gh"]);
    expect(shell("gh x", [local, usr])).toEqual({ status: 0, stdout: "real gh x\n", stderr: "" });
    await until(() => (readdirSync(join(moved, "inbox")).length === 2 ? true : undefined));
  });
});

describe("unwrap", () => {
  test("restores the previous state byte for byte", async () => {
    program(join(home, "tools"), "keep", "mine");
    // collected data stays, and so do the folders that user programs commonly share
    for (const folder of ["share", "state"]) mkdirSync(join(home, ".local", folder), { recursive: true });
    for (const path of [[local, usr], [usr], [join(home, "bin"), usr]]) {
      const before = everything();
      await wrapped(["gh", "aws"], {}, path);
      await wrapped(["docker"], {}, path);
      expect(await unwrapped(["gh"], false, path)).toMatch(/^gh: unwrapped, .*gh removed\n$/);
      expect(shell("gh x; aws y", path).stdout).toBe("real gh x\nreal aws y\n");
      await unwrapped([], false, path);
      expect(everything()).toEqual(before);
      expect(existsSync(places.backupDir)).toBe(false);
    }
  });

  test("finds wrappers without records, including copies, and touches nothing else", async () => {
    await wrapped(["gh"]);
    const copies = join(root, "copies");
    program(copies, "gh", readFileSync(join(local, "gh"), "utf8"));
    rmSync(places.backupDir, { recursive: true });
    const path = [copies, local, usr];
    expect(await unwrapped(["gh"], false, path)).toBe(
      `gh: unwrapped, ${join(copies, "gh")} removed\ngh: unwrapped, ${join(local, "gh")} removed\n`,
    );
    expect(readFileSync(join(usr, "gh"), "utf8")).toContain("real gh");
    expect(await unwrapped(["gh", "aws"], false, path)).toBe("gh: not wrapped\naws: not wrapped\n");
    expect(await unwrapped([])).toBe("No program is wrapped.\n");
  });

  test("keeps a file that the user put in its place", async () => {
    await wrapped(["gh"]);
    unlinkSync(join(local, "gh"));
    program(local, "gh", "mine");
    expect(await unwrapped([])).toBe(`gh: nothing of ours is at ${join(local, "gh")}\n`);
    expect(readFileSync(join(local, "gh"), "utf8")).toBe("mine");
    expect(await unwrapped([])).toBe("No program is wrapped.\n");
  });

  test("removes the hook program with the last wrapper, unless an agent is enabled", async () => {
    const record = { path: join(home, "settings.json"), afterSha256: "x", at: "t", agent: "a", scope: "user" as const };
    await saveBackup(places.backupDir, record, undefined);
    await wrapped(["gh"]);
    await unwrapped(["gh"]);
    expect(existsSync(places.hookPath)).toBe(true);
    expect(readdirSync(join(places.hookPath, "..")).sort()).toEqual(["hook", "hook.conf", "hook.sh"]);
  });

  test("a dry run removes nothing", async () => {
    await wrapped(["gh"]);
    const before = everything();
    expect(await unwrapped([], true)).toContain(`gh: would be unwrapped, ${join(local, "gh")} removed\nDry run`);
    expect(everything()).toEqual(before);
  });
});
