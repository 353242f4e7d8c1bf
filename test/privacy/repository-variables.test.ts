// Agents pass variables from a repository's files to their hooks. The drain that a hook starts ignores them.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { variablesOfRepositories } from "../../src/config/repository-variables.ts";
import { letThrough } from "../../src/drain/repository-environment.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, Machine, until } from "../support/program.ts";

const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
const THEIRS = "https://theirs.example.org";

describe("detects variables from a repository's files", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-variables-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  const found = async (
    env: Readonly<Record<string, string>>,
    folder = "shop/web",
    files = [".claude/settings.json"],
  ) => [...(await variablesOfRepositories(env, { folders: [join(home, folder)], home, files }, letThrough)).keys()];

  test.each([
    ["plain", `${ENDPOINT}=${THEIRS}`],
    ["exported, quoted, with a comment", `export ${ENDPOINT}="${THEIRS}" # ours`],
    ["with a colon, among others, with CRLF", `A=1\r\n${ENDPOINT}: '${THEIRS}'\r\nB=2`],
    ["interpolated", `H=theirs\n${ENDPOINT}=https://$H.example.org`],
    ["set twice", `${ENDPOINT}=https://other.example.org\n${ENDPOINT}=${THEIRS}`],
    ["after a byte order mark", `\uFEFF${ENDPOINT}=${THEIRS}`],
  ])("%s", async (_, text) => {
    put("shop/.env", text);
    expect(await found({ [ENDPOINT]: THEIRS, PATH: "/bin" })).toEqual([ENDPOINT]);
  });

  test("in the agent's settings files, in a parent folder, through a link", async () => {
    put("shop/.claude/settings.json", JSON.stringify({ env: { [ENDPOINT]: THEIRS, DEPTH: 5 } }));
    put("elsewhere", "NODE_OPTIONS='--use-openssl-ca --require=./x.js'");
    mkdirSync(join(home, "shop/web"));
    symlinkSync(join(home, "elsewhere"), join(home, "shop/web/.env.local"));
    const env = { [ENDPOINT]: THEIRS, DEPTH: "5", NODE_OPTIONS: "--use-openssl-ca", HOME: home };
    expect((await found(env)).toSorted()).toEqual(["DEPTH", "NODE_OPTIONS", ENDPOINT].toSorted());
  });

  test.each([
    ["alone", "--use-openssl-ca", ["NODE_OPTIONS"]],
    ["with a program to load, which hooks drop", "--import=./x.js --use-openssl-ca", ["NODE_OPTIONS"]],
    ["not the user's value", "--max-old-space-size=8192", []],
    ["only options that a drain never gets", "--import=./x.js", []],
  ])("NODE_OPTIONS of a repository after a hook: %s", async (_, written, expected) => {
    put("shop/.env", `NODE_OPTIONS="${written}"`);
    expect(await found({ NODE_OPTIONS: " --use-openssl-ca" })).toEqual(expected);
    expect(await found({ NODE_OPTIONS: "" })).toEqual([]);
  });

  test.each([
    ["empty lines", "\n".repeat(300_000)],
    ["one name again and again", "A=1\n".repeat(300_000)],
    ["an empty export", `export${" \n".repeat(200_000)}`],
  ])("a file of %s is read in linear time", async (_, text) => {
    put("shop/.env", `${text}\n${ENDPOINT}=${THEIRS}`);
    const start = performance.now();
    expect(await found({ [ENDPOINT]: THEIRS })).toEqual([ENDPOINT]);
    expect(performance.now() - start).toBeLessThan(3_000);
  });

  test("keeps the user's: another value, files in the home, files that agents do not load, and values that only restrict", async () => {
    put("shop/.env", `${ENDPOINT}=${THEIRS}\nOTEL_SDK_DISABLED=true\nOPENHOOK_OTEL_CAPTURE=none\n`);
    put(".env", "OPENHOOK_OTEL_OTLP_ENDPOINT=https://mine.example.org");
    put("shop/.env.example", "OPENHOOK_OTEL_OTLP_ENDPOINT=https://mine.example.org");
    put("shop/.claude/settings.json", "{ broken");
    const env = {
      [ENDPOINT]: "https://mine.example.org",
      OPENHOOK_OTEL_OTLP_ENDPOINT: "https://mine.example.org",
      OTEL_SDK_DISABLED: "true",
      OPENHOOK_OTEL_CAPTURE: "none",
    };
    expect(await found(env)).toEqual([]);
    expect(await found(env, "")).toEqual([]);
    expect(await found({ ...env, OPENHOOK_OTEL_CAPTURE: "full" })).toEqual([]);
  });
});

describe("a drain that a hook starts", () => {
  let [mine, theirs]: Receiver[] = [];
  let machine: Machine;
  beforeAll(async () => {
    await ensureBuilt();
    [mine, theirs] = [await startReceiver(), await startReceiver()];
    machine = new Machine();
  });
  afterAll(async () => {
    await machine.remove();
    await Promise.all([mine?.close(), theirs?.close()]);
  });

  test("sends to the user's endpoint, at the user's level, and runs nothing from the repository", async () => {
    const registered = await machine.enable();
    await machine.ok(["config", "set", "otlp.endpoint", mine?.url ?? ""]);
    const project = join(machine.home, "shop");
    mkdirSync(join(project, ".claude"), { recursive: true });
    const ran = join(project, "ran");
    writeFileSync(join(project, "x.cjs"), `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "")`);
    const env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: theirs?.url ?? "",
      OPENHOOK_OTEL_CAPTURE: "full",
      OPENHOOK_OTEL_RESOURCE_ATTRIBUTES: "team=theirs",
      XDG_CONFIG_HOME: join(project, "config"),
      NODE_OPTIONS: `--require=${join(project, "x.cjs")} --max-old-space-size=512`,
    };
    writeFileSync(join(project, ".claude", "settings.json"), JSON.stringify({ env }));
    const runHook = (event: string, more = {}) =>
      machine.shell(registered.get(event)?.[0] ?? "", {
        cwd: project,
        env,
        input: JSON.stringify({ session_id: "5e1f", hook_event_name: event, cwd: project, ...more }),
      });
    await runHook("UserPromptSubmit", { prompt: "kanarienvogel" });
    await runHook("SessionEnd", { reason: "other" });
    await until("the session arrives", () => (mine?.spans.length ?? 0) > 0);
    await machine.quiet();
    expect(theirs?.requests).toEqual([]);
    const sent = (mine?.requests ?? []).map(({ body }) => body.toString("latin1")).join("\n");
    expect(sent).not.toMatch(/kanarienvogel|theirs/);
    expect(() => readFileSync(ran)).toThrow();
    expect(readFileSync(join(machine.places.stateDir, "drain.log"), "utf8")).toContain(
      `OPENHOOK_OTEL_OTLP_ENDPOINT is ignored, because it is set in ${join(project, ".claude", "settings.json")}`,
    );
  });

  test("does not accept a repository as the home", async () => {
    const project = join(machine.home, "calls-itself-home");
    mkdirSync(join(project, ".claude"), { recursive: true });
    writeFileSync(join(project, ".claude", "settings.json"), JSON.stringify({ env: { HOME: project } }));
    const state = join(machine.home, "state-of-another");
    mkdirSync(state);
    // No other drain, which could belong to the user who runs this test
    const env = { HOME: project, OPENHOOK_OTEL_HOME: state, OPENHOOK_OTEL_DRAIN: "off" };
    await machine.run(["drain", "--quiet"], { env: { ...env, OPENHOOK_OTEL_HOOK_FOLDER: project } });
    expect(readdirSync(state)).toEqual(["drain.log"]);
    expect(readFileSync(join(state, "drain.log"), "utf8")).toContain(
      `HOME is ignored, because it is set in ${join(project, ".claude", "settings.json")}`,
    );
  });

  test("is reported by doctor", async () => {
    const { stdout } = await machine.run(["doctor", "--json"], { cwd: join(machine.home, "shop") });
    expect(stdout).toContain("OPENHOOK_OTEL_CAPTURE in ");
    expect(stdout).not.toContain("NODE_OPTIONS");
    const elsewhere = await machine.run(["doctor", "--json"], { cwd: machine.home });
    expect(elsewhere.stdout).not.toContain("OPENHOOK_OTEL_CAPTURE in ");
  });

  test("uses the user's own variables", async () => {
    const registered = await machine.enable();
    const folder = join(machine.home, "other");
    mkdirSync(folder);
    writeFileSync(join(folder, ".env"), "PORT=3000\nOPENHOOK_OTEL_OTLP_ENDPOINT=http://127.0.0.1:9\n");
    await machine.shell(registered.get("SessionEnd")?.[0] ?? "", {
      cwd: folder,
      env: { OPENHOOK_OTEL_OTLP_ENDPOINT: theirs?.url },
      input: JSON.stringify({ session_id: "6e1f", hook_event_name: "SessionEnd", cwd: folder, reason: "other" }),
    });
    await until("the session arrives", () => (theirs?.spans.length ?? 0) > 0);
    expect(theirs?.requests.length).toBeGreaterThan(0);
  });
});
