// Slow: only `npm run test:all` runs it. The compose files, parsed and compared; collector-config/*.test.ts check their parts.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type StackOptions, stack } from "#commands/stack.ts";
import { type Places, placesOf } from "#config/places.ts";
import { COMPOSE_FILE, STACK_ENDPOINT } from "#setup/stack/text.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt } from "../support/program.ts";

const PACKAGE = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

let root: string;
let places: Places;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(realpathSync(tmpdir()), "openhook-stack-"));
  places = placesOf({ env: {}, home: join(root, "home"), platform: "linux" });
  mkdirSync(places.home, { recursive: true });
  folder = join(dirname(places.configPath), "stack");
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));

const DEFAULTS: StackOptions = { print: false, dryRun: false, yes: true, force: false, undo: false };

async function run(options: Partial<StackOptions> = {}, env: Readonly<Record<string, string>> = {}, from = PACKAGE) {
  const { context, out, err } = contextAt(places, { env });
  const code = await stack({ ...DEFAULTS, ...options }, context, from);
  return { code, out: out(), err: err() };
}

const settings = (): Readonly<Record<string, unknown>> =>
  existsSync(places.configPath) ? JSON.parse(readFileSync(places.configPath, "utf8")) : {};
const set = (value: object): void => {
  mkdirSync(dirname(places.configPath), { recursive: true });
  writeFileSync(places.configPath, JSON.stringify(value));
};
const filesIn = (path: string): readonly string[] =>
  existsSync(path)
    ? readdirSync(path, { recursive: true, encoding: "utf8" })
        .filter((name) => statSync(join(path, name)).isFile())
        .sort()
    : [];

/** A package with other files, as the next version is. */
function packageWith(changes: Readonly<Record<string, string>>): string {
  const copy = join(root, "package");
  for (const name of filesIn(folder).filter((path) => !path.startsWith("."))) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    writeFileSync(join(copy, name), readFileSync(join(folder, name)));
  }
  for (const [name, text] of Object.entries(changes)) writeFileSync(join(copy, name), text);
  return copy;
}

describe("stack", () => {
  test("writes everything that compose.yaml mounts, sets the endpoint and prints how to start it", async () => {
    const { code, out } = await run();
    expect(code).toBe(0);
    const compose = readFileSync(join(folder, COMPOSE_FILE), "utf8");
    const mounted = [...compose.matchAll(/- (\.\.?\/\S+?):\//g)].map(([, path]) =>
      join(folder, "collector-config", path ?? ""),
    );
    expect(mounted.length).toBeGreaterThanOrEqual(8);
    for (const path of mounted) expect(existsSync(path), path).toBe(true);
    expect(filesIn(folder)).toContain(join("dashboards", "team-overview.json"));
    expect(settings()).toMatchObject({ otlp: { endpoint: STACK_ENDPOINT } });
    expect(out).toContain(
      `docker compose --file ${join(".config", "openhook-otel", "stack", COMPOSE_FILE)} up --detach --wait`,
    );
  });

  test("containers can read the files", async () => {
    await run();
    for (const name of filesIn(folder)) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o644);
    expect(statSync(join(folder, "dashboards", "rules")).mode & 0o777).toBe(0o755);
  });

  test("a second run changes nothing", async () => {
    await run();
    const before = filesIn(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]);
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toContain("is up to date");
    expect(
      filesIn(folder)
        .filter((name) => !name.startsWith("."))
        .map((name) => [name, statSync(join(folder, name)).mtimeMs]),
    ).toEqual(before.filter(([name]) => !String(name).startsWith(".")));
  });

  test("--undo removes everything and restores the previous setting", async () => {
    set({ otlp: { endpoint: "https://otel.example.com" } });
    await run();
    const { code, out } = await run({ undo: true });
    expect(code).toBe(0);
    expect(existsSync(folder)).toBe(false);
    expect(settings()).toMatchObject({ otlp: { endpoint: "https://otel.example.com" } });
    expect(out).toContain("down --volumes");
  });

  test("--undo after a second run restores the setting from before the first", async () => {
    set({ otlp: { endpoint: "https://otel.example.com" } });
    await run();
    await run();
    await run({ undo: true });
    expect(settings()).toMatchObject({ otlp: { endpoint: "https://otel.example.com" } });
  });

  test("--undo unsets what was unset before, and keeps changed files and the user's files", async () => {
    await run();
    writeFileSync(join(folder, "notes.txt"), "mine");
    writeFileSync(join(folder, COMPOSE_FILE), "services: {}\n");
    const { out } = await run({ undo: true });
    expect(out).toContain(`kept, because you changed it: ${COMPOSE_FILE}`);
    expect(filesIn(folder)).toEqual([COMPOSE_FILE, "notes.txt"]);
    expect(settings()["otlp"] ?? {}).toEqual({});
  });

  test("--undo restores the file's value even if a variable overrides it", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://agents.example:4318" };
    set({ otlp: { endpoint: "https://otel.example.com" } });
    await run({}, env);
    expect(settings()).toMatchObject({ otlp: { endpoint: STACK_ENDPOINT } });
    await run({ undo: true }, env);
    expect(settings()).toMatchObject({ otlp: { endpoint: "https://otel.example.com" } });
  });

  test("--undo keeps an address that the user set later", async () => {
    await run();
    set({ otlp: { endpoint: "https://otel.example.com" } });
    await run({ undo: true });
    expect(settings()).toEqual({ otlp: { endpoint: "https://otel.example.com" } });
  });

  test("--undo without a stack reports it", async () => {
    const { code, out } = await run({ undo: true });
    expect({ code, out }).toEqual({
      code: 0,
      out: `Nothing to undo: openhook-otel has written no stack to ${folder}\n`,
    });
  });

  test("keeps and lists files that the user changed; --force overwrites them", async () => {
    await run();
    const path = join(folder, COMPOSE_FILE);
    const shipped = readFileSync(path, "utf8");
    writeFileSync(path, `${shipped}# mine\n`);
    expect((await run()).out).toContain(`kept, because you changed it: ${COMPOSE_FILE}`);
    expect(readFileSync(path, "utf8")).toContain("# mine");
    await run({ force: true });
    expect(readFileSync(path, "utf8")).toBe(shipped);
  });

  test("a new version replaces and lists unchanged files", async () => {
    await run();
    const next = packageWith({ [COMPOSE_FILE]: "services: {}\n" });
    const { out } = await run({}, {}, next);
    expect(out).toContain(`replaced in ${folder}: ${COMPOSE_FILE}`);
    expect(readFileSync(join(folder, COMPOSE_FILE), "utf8")).toBe("services: {}\n");
  });

  test("a new version of a changed file is only written with --force; otherwise nothing is written", async () => {
    await run();
    const next = packageWith({ [COMPOSE_FILE]: "services: {}\n", [join("dashboards", "team-overview.json")]: "{}\n" });
    writeFileSync(join(folder, COMPOSE_FILE), "# mine\n");
    await expect(run({}, {}, next)).rejects.toMatchObject({
      code: "E_CHANGED",
      message: expect.stringContaining("--force"),
    });
    expect(readFileSync(join(folder, "dashboards", "team-overview.json"), "utf8")).not.toBe("{}\n");
    await run({ force: true }, {}, next);
    expect(readFileSync(join(folder, COMPOSE_FILE), "utf8")).toBe("services: {}\n");
  });

  test("a changed budgets file does not block a new version", async () => {
    await run();
    const budgets = join("dashboards", "rules", "budgets.yaml");
    const next = packageWith({ [budgets]: "groups: []\n" });
    writeFileSync(join(folder, budgets), "# mine\n");
    expect((await run({}, {}, next)).out).toContain(`kept, because you changed it: ${budgets}`);
    expect(readFileSync(join(folder, budgets), "utf8")).toBe("# mine\n");
  });

  test("removes a dashboard that is no longer shipped", async () => {
    await run();
    const next = packageWith({});
    rmSync(join(next, "dashboards", "cost-and-tokens.json"));
    await run({}, {}, next);
    expect(existsSync(join(folder, "dashboards", "cost-and-tokens.json"))).toBe(false);
  });

  test("does not overwrite files that it did not write", async () => {
    mkdirSync(join(folder, "collector-config"), { recursive: true });
    writeFileSync(join(folder, COMPOSE_FILE), "services: {}\n");
    await expect(run()).rejects.toMatchObject({ code: "E_CHANGED", message: expect.stringContaining(COMPOSE_FILE) });
    expect(filesIn(folder)).toEqual([COMPOSE_FILE]);
    expect(settings()).toEqual({});
  });

  test("without a terminal nothing changes without --yes", async () => {
    await expect(run({ yes: false })).rejects.toMatchObject({
      code: "E_CONFIRM",
      message: expect.stringContaining("--yes"),
    });
    expect(filesIn(folder)).toEqual([]);
    expect(settings()).toEqual({});
  });

  test("--dry-run writes nothing and lists everything", async () => {
    set({ otlp: { endpoint: "https://otel.example.com" } });
    const { code, out } = await run({ dryRun: true, yes: false });
    expect(code).toBe(0);
    expect(out).toContain(`would write ${join(folder, COMPOSE_FILE)}`);
    expect(out).toContain(`would set otlp.endpoint to ${STACK_ENDPOINT} (now https://otel.example.com)`);
    expect(filesIn(folder)).toEqual([]);
    await run();
    expect((await run({ undo: true, dryRun: true })).out).toContain("otlp.endpoint would be https://otel.example.com");
    expect(existsSync(join(folder, COMPOSE_FILE))).toBe(true);
  });

  test("--directory uses another folder", async () => {
    const { out } = await run({ directory: join(root, "my stack") });
    expect(out).toContain(`--file "${join(root, "my stack", COMPOSE_FILE)}"`);
    expect(existsSync(join(root, "my stack", COMPOSE_FILE))).toBe(true);
    expect(existsSync(folder)).toBe(false);
  });

  test("reports an environment variable with another address", async () => {
    const { err } = await run({}, { OPENHOOK_OTEL_OTLP_ENDPOINT: "https://otel.example.com" });
    expect(err).toContain("OPENHOOK_OTEL_OTLP_ENDPOINT overrides otlp.endpoint");
  });

  test("reports a damaged record, and never removes files outside its folder", async () => {
    await run();
    const victim = join(root, "home", "victim");
    writeFileSync(victim, "");
    for (const text of [
      "{",
      JSON.stringify({ files: { "../../../victim": "x" } }),
      JSON.stringify({ files: { [victim]: "x" } }),
    ]) {
      writeFileSync(join(folder, ".openhook-otel-stack.json"), text);
      await expect(run({ undo: true, force: true })).rejects.toMatchObject({ code: "E_RECORD" });
    }
    expect(existsSync(victim)).toBe(true);
  });

  test("an installation without the files fails with a remedy", async () => {
    await expect(run({}, {}, root)).rejects.toMatchObject({
      code: "E_INSTALLATION",
      message: expect.stringContaining("install"),
    });
  });
});

describe("stack, from the package as npm packs it", () => {
  let installed: string;
  beforeAll(async () => {
    await ensureBuilt();
    installed = mkdtempSync(join(realpathSync(tmpdir()), "openhook-packed-"));
    const pack = ["pack", "--ignore-scripts", "--silent", "--pack-destination", installed];
    execFileSync("npm", pack, { cwd: PACKAGE, stdio: ["ignore", "pipe", "ignore"] });
    const [archive] = readdirSync(installed);
    execFileSync("tar", ["-xzf", archive ?? ""], { cwd: installed });
  });
  afterAll(() => rmSync(installed, { recursive: true, force: true, maxRetries: 10 }));

  const program = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(installed, "package", "dist", "openhook-otel.cjs"), "stack", ...args], {
      encoding: "utf8",
      cwd: root,
      env: { PATH: process.env["PATH"], HOME: places.home },
    });

  test("finds its files wherever it is installed", () => {
    const { status, stdout, stderr } = program("--yes");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("docker compose --file");
    expect(filesIn(folder)).toEqual(
      expect.arrayContaining([
        COMPOSE_FILE,
        join("dashboards", "rules", "alerts.yaml"),
        join("dashboards", "session-explorer.json"),
      ]),
    );
  });

  test("--print prints compose.yaml and nothing else", () => {
    const { status, stdout } = program("--print");
    expect(status).toBe(0);
    expect(stdout).toBe(readFileSync(join(PACKAGE, COMPOSE_FILE), "utf8"));
    expect(filesIn(folder)).toEqual([]);
  });
});
