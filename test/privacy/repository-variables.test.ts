// Finds the variables that a repository's files name, which the drain of a hook then ignores.
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { namedByRepositories, ownVariablesIn, readRecordedVariables, recordVariables } from "#config/variables.ts";

const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
const THEIRS = "https://theirs.example.org";

const SECOND = "OTEL_EXPORTER_OTLP_HEADERS";
const MIB = 1 << 20;

describe("finds the variables that a repository's files name", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-variables-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const put = (path: string, text: string | Buffer): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  const places = (folder: string) => ({ folders: [join(home, folder)], home, files: [] });
  const found = async (folder = "shop/web") => [
    ...(await namedByRepositories([ENDPOINT, SECOND, "HOME"], places(folder))).keys(),
  ];
  const json = (name: string): string => `{"env":{"${name}":"${THEIRS}"}}`;
  const escapedName = [...ENDPOINT].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join("");

  test.each([
    ["plain", ".env", `${ENDPOINT}=${THEIRS}`],
    ["exported, quoted, with a comment", ".env", `export ${ENDPOINT}="${THEIRS}" # ours`],
    ["with a colon, among others, with CRLF", ".env", `A=1\r\n${ENDPOINT}: '${THEIRS}'\r\nB=2`],
    ["the value on the next line", ".env", `${ENDPOINT}=\n'${THEIRS}'\n`],
    ["interpolated", ".env", `H=theirs\n${ENDPOINT}=https://$H.example.org`],
    ["after a byte order mark", ".env", `\uFEFF${ENDPOINT}=${THEIRS}`],
    ["of one of several development containers", ".devcontainer/web/devcontainer.json", json(ENDPOINT)],
    ["of a tool in the folder of settings", ".config/mise/config.toml", `[env]\n${ENDPOINT} = "${THEIRS}"`],
    ["of mise", "mise/config.toml", `[env]\n${ENDPOINT} = "${THEIRS}"`],
    ["in UTF-16", ".env.local", Buffer.from(`${ENDPOINT}=${THEIRS}`, "utf16le")],
    ["in the environment of a mode", ".env.staging.local", `${ENDPOINT}=${THEIRS}`],
    ["behind 17 MiB", ".env", `#${"x".repeat(17 * MIB)}\n${ENDPOINT}=${THEIRS}`],
    ["across two chunks", ".env", `#${"x".repeat(MIB - 10)}\n${ENDPOINT}=${THEIRS}`],
    ["an agent's settings", ".claude/settings.json", json(ENDPOINT)],
    ["with a comment and a trailing comma", ".claude/settings.local.json", `// hi\n{"env":{"${ENDPOINT}":"x",}}`],
    [
      "deeply nested",
      ".claude/settings.json",
      `{"x":${"[".repeat(30_000)}${"]".repeat(30_000)},${json(ENDPOINT).slice(1)}`,
    ],
    ["cut off", ".claude/settings.json", json(ENDPOINT).slice(0, -9)],
    ["with escaped letters", ".claude/settings.json", json(escapedName)],
    ["with escaped letters, across two chunks", ".claude/settings.json", " ".repeat(MIB - 100) + json(escapedName)],
    ["another agent's settings", ".codex/config.toml", `[shell_environment_policy]\nset = { ${ENDPOINT} = "x" }`],
    ["the editor's terminal", ".vscode/settings.json", `{"terminal.integrated.env.linux":{"${ENDPOINT}":"x"}}`],
    ["a workspace of the editor", "shop.code-workspace", json(ENDPOINT)],
    ["a tool that sets variables", ".envrc", `export ${ENDPOINT}=${THEIRS}`],
  ])("%s", async (_, file, text) => {
    put(`shop/${file}`, text);
    expect(await found()).toEqual([ENDPOINT]);
    expect(await found("elsewhere")).toEqual([]);
  });

  test("in a folder far above, and through links", async () => {
    put("shop/.env", `${ENDPOINT}=${THEIRS}`);
    expect(await found(join("shop", ...Array.from({ length: 70 }, () => "d")))).toEqual([ENDPOINT]);
    put("elsewhere/more.env", `${SECOND}=a=b`);
    mkdirSync(join(home, "shop/web"));
    symlinkSync(join(home, "elsewhere/more.env"), join(home, "shop/web/.env.local"));
    expect(await found()).toEqual([ENDPOINT, SECOND]);
    put("settings/settings.json", json("HOME"));
    symlinkSync(join(home, "settings"), join(home, "shop/.claude"));
    expect(await found("shop")).toEqual([ENDPOINT, "HOME"]);
  });

  test("a pipe and a file that is too large count as naming every variable", async () => {
    mkdirSync(join(home, "shop"));
    execFileSync("mkfifo", [join(home, "shop", ".env")]);
    expect(await found()).toEqual([ENDPOINT, SECOND, "HOME"]);
    rmSync(join(home, "shop", ".env"));
    put("shop/.env", "");
    truncateSync(join(home, "shop", ".env"), 2 ** 40);
    expect(await found()).toEqual([ENDPOINT, SECOND, "HOME"]);
  });

  test.runIf(process.platform === "linux")("nothing of the system is read", async () => {
    mkdirSync(join(home, "shop/.claude"), { recursive: true });
    symlinkSync("/proc/self/pagemap", join(home, "shop/.env"));
    expect(await found()).toEqual([ENDPOINT, SECOND, "HOME"]);
    rmSync(join(home, "shop/.env"));
    symlinkSync("/dev", join(home, "shop/.devices"));
    symlinkSync(".env", join(home, "shop/.env"));
    expect(await found()).toEqual([]);
  });

  test("leaves out longer names, files in the home, folders, and files that no agent loads", async () => {
    put("shop/.env", `MY_${ENDPOINT}=x\n${SECOND}S=x\nJAVA_HOME=/usr\n`);
    put("shop/README.md", ENDPOINT);
    put("shop/.git/config", ENDPOINT);
    put("shop/.env.d/deeper/.env", ENDPOINT);
    put(".env", ENDPOINT);
    expect(await found()).toEqual([]);
    expect(await found("")).toEqual([]);
  });

  test("leaves out registration files, whose commands use variables and set none", async () => {
    put("shop/.openhook.json", `{"hooks":[{"command":"echo $HOME \${${ENDPOINT}}"}]}`);
    expect(await found("shop")).toEqual([]);
    put("shop/.other.json", "$HOME");
    expect(await found("shop")).toEqual(["HOME"]);
  });

  test("reports our own variables in every environment", async () => {
    put("shop/.env", "OPENHOOK_OTEL_CAPTURE=full\nPORT=1\n");
    expect([...(await ownVariablesIn(places("shop")))]).toEqual([
      ["OPENHOOK_OTEL_CAPTURE", join(home, "shop", ".env")],
    ]);
  });
});

describe("the record of the user's variables", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "openhook-variables-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("recognises values, contains none of them, and keeps names that are not set later", async () => {
    await recordVariables({ [SECOND]: "authorization=secret", HOME: "/home/dev", EDITOR: "vi" }, folder);
    await recordVariables({ [ENDPOINT]: "https://mine.example.org", [SECOND]: undefined }, folder);
    const isRecorded = await readRecordedVariables(folder);
    expect(isRecorded(SECOND, "authorization=secret")).toBe(true);
    expect(isRecorded(ENDPOINT, "https://mine.example.org")).toBe(true);
    expect(isRecorded(ENDPOINT, THEIRS)).toBe(false);
    expect(isRecorded("EDITOR", "vi")).toBe(false);
    const text = readFileSync(join(folder, "variables.json"), "utf8");
    expect(text).not.toMatch(/secret|mine/);
    expect(statSync(join(folder, "variables.json")).mode & 0o777).toBe(0o600);
  });

  test.each(["", "null", "[", '{"HOME":5}'])("a damaged record recognises nothing: %s", async (text) => {
    writeFileSync(join(folder, "variables.json"), text);
    expect((await readRecordedVariables(folder))("HOME", "/home/dev")).toBe(false);
  });
});
