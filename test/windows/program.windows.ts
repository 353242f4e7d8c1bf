import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cmd, filesIn, NODE, newProfile, onDisk, otel, run, runAll, runDuring } from "./lab.ts";

test("the demo's figures are exact, and nothing of it is left, although a hook is installed", () => {
  const { env, folder, state } = newProfile("demo");
  // The installed hook's record of its folder must not lead the demo's events there
  expect(run(otel(["enable", "claude-code"], { env })).code).toBe(0);
  const { code, stdout, stderr } = run(otel(["demo"], { env, ms: 220_000 }));
  expect(stderr).toBe("");
  expect(stdout).toContain("metric streams, each with the value that the store has: exact");
  expect(code).toBe(0);
  expect(readdirSync(join(folder, "AppData", "Local", "Temp")).filter((name) => name.includes("openhook"))).toEqual([]);
  expect(readdirSync(join(state, "inbox"))).toEqual([]);
});

describe("hooks", () => {
  test("fifteen at once with three drains: every event is stored once", () => {
    const { env, state } = newProfile("parallel");
    const [enabled] = runAll([otel(["enable", "claude-code"], { env })]);
    expect(enabled?.code).toBe(0);
    const hook = (n: number) => {
      const payload = { session_id: `s${n % 3}`, hook_event_name: "UserPromptSubmit", prompt: `${n}`, cwd: "C:\\work" };
      const argv = [NODE, `${env.LOCALAPPDATA}\\openhook-otel\\hook.cjs`, "--source", "claude-code", "--drain", "no"];
      // A byte order mark and Windows' line ends, as some agents send them
      return { argv, env, stdin: `\ufeff${JSON.stringify(payload)}\r\n` };
    };
    const drains = Array.from({ length: 3 }, () => otel(["drain"], { env }));
    const results = runAll([...Array.from({ length: 15 }, (_, n) => hook(n)), ...drains], true);
    expect(results.map(({ code }) => code)).toEqual(results.map(() => 0));
    const [, listed] = runAll([otel(["drain"], { env }), otel(["status", "--json"], { env })]);
    const status = JSON.parse(listed?.stdout ?? "");
    expect(status.inbox).toMatchObject({ waiting: 0, claimed: 0, quarantined: 0 });
    expect(status.store.sessions).toBe(3);
    expect(readdirSync(join(state, "quarantine"))).toEqual([]);
  });
});

test("an agent without session ids has one session, although each hook has another shell above it", () => {
  const { env } = newProfile("kiro");
  expect(run(otel(["enable", "claude-code"], { env })).code).toBe(0);
  const hook = "node C:/Users/kiro/AppData/Local/openhook-otel/hook.cjs --source kiro --drain no --event agent";
  const events = ["agentSpawn", "userPromptSubmit", "preToolUse", "stop"].map((hook_event_name) => {
    const payload = { hook_event_name, cwd: "C:\\work", prompt: "Hello", tool_name: "fs_read" };
    return cmd(`${hook} ;exit 0 #openhook-otel& exit 0`, { env, stdin: JSON.stringify(payload) });
  });
  const results = runAll([...events, otel(["drain"], { env }), otel(["status", "--json"], { env })]);
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, ""]));
  expect(JSON.parse(results.at(-1)?.stdout ?? "").store.sessions).toBe(1);
});

describe("a damaged store", () => {
  test("is set aside in the drain that finds it", () => {
    const { env, state } = storeWithDamage("damaged");
    const { code, stdout } = run(otel(["drain"], { env }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/is damaged: .*; it was set aside/);
    expect(stdout).toContain("the damaged store is now");
    expect(readdirSync(state).filter((name) => /^store\.db\.damaged-.*Z$/.test(name))).toHaveLength(1);
  });

  test("is set aside by the next drain if another program has it open", () => {
    const { env, state } = storeWithDamage("held");
    const [first] = runDuring(holder(`${env.LOCALAPPDATA}\\openhook-otel\\store.db`), /held/, [
      otel(["drain"], { env }),
    ]);
    expect(first?.stderr).toContain(
      "another program has it open, so it could not be set aside: the next drain does that",
    );
    expect(first?.code).toBe(1);
    expect(readdirSync(state)).toContain("store.db.damage");
    const second = run(otel(["drain"], { env }));
    expect(second.stdout).toContain("the damaged store is now");
    expect(readdirSync(state)).not.toContain("store.db.damage");
  });
});

test("a settings file that another program has open is reported and stays as it is", () => {
  const { env, folder } = newProfile("settings");
  const path = "C:\\Users\\settings\\.claude\\settings.json";
  expect(run(cmd("mkdir C:\\Users\\settings\\.claude", { env })).code).toBe(0);
  const file = join(folder, ".claude", "settings.json");
  writeFileSync(file, "{}\r\n");
  const [held] = runDuring(holder(path), /held/, [otel(["enable", "claude-code"], { env })]);
  expect(held?.code).toBe(1);
  expect(held?.stderr).toContain("another program has it open");
  expect(readFileSync(file, "latin1")).toBe("{}\r\n");
  expect(run(otel(["enable", "claude-code"], { env })).code).toBe(0);
  expect(run(otel(["disable", "claude-code"], { env })).code).toBe(0);
  expect(readFileSync(file, "latin1")).toBe("{}\r\n");
});

test("programs of the current folder are not started", () => {
  const { env } = newProfile("hostile");
  const folder = "C:\\work\\hostile";
  const marker = onDisk("work", "started.txt");
  run(cmd(`rmdir /s /q ${folder} & mkdir ${folder} & del C:\\work\\started.txt`, { env }));
  for (const name of ["claude", "codex", "gemini", "copilot", "qwen", "reg", "taskkill"]) {
    writeFileSync(
      onDisk("work", "hostile", `${name}.cmd`),
      "@echo started %0> C:\\work\\started.txt\r\n@echo 1.0.0\r\n",
    );
  }
  // The trap works
  run(cmd("claude --version", { env, cwd: folder }));
  expect(readFileSync(marker, "latin1")).toContain("started");
  run(cmd("del C:\\work\\started.txt", { env }));
  const all = runAll(
    [["enable", "claude-code", "codex"], ["doctor"], ["drain"], ["import"]].map((args) =>
      otel(args, { env, cwd: folder }),
    ),
  );
  expect(all.map(({ stderr }) => stderr)).toEqual(["", "", "", ""]);
  expect(readdirSync(onDisk("work"))).not.toContain("started.txt");
});

test("the page answers", () => {
  const { env } = newProfile("view");
  // The first answer sets a cookie and redirects
  const request = `fetch("{ready}", { redirect: "manual" }).then(async (first) => {
    const [cookie] = first.headers.get("set-cookie").split(";");
    const page = await fetch(new URL(first.headers.get("location"), "{ready}"), { headers: { cookie } });
    console.log(page.status, (await page.text()).slice(0, 15));
  })`;
  const [page] = runDuring(otel(["view", "--print-url"], { env }), /(http:\S+)/, [
    { argv: [NODE, "-e", request], env },
  ]);
  expect(page?.stdout).toMatch(/^200 <!doctype html>/i);
});

test("an update replaces the hook program, enabling again changes nothing, disabling removes it", () => {
  const { env, state } = newProfile("update");
  expect(run(otel(["enable", "claude-code"], { env })).code).toBe(0);
  const installed = filesIn(state);
  const hook = join(state, "hook.cjs");
  const again = run(otel(["enable", "claude-code"], { env }));
  expect(again.stdout).toContain("already enabled");
  expect(filesIn(state)).toEqual(installed);
  writeFileSync(hook, "// an older version\n");
  const doctor = run(otel(["doctor", "--fix"], { env }));
  expect(doctor.stdout).toContain("reinstalled the hook program");
  expect(filesIn(state)["hook.cjs"]).toBe(installed["hook.cjs"]);
  expect(run(otel(["disable", "claude-code"], { env })).code).toBe(0);
  expect(Object.keys(filesIn(state))).not.toContain("hook.cjs");
});

// --- internal ---

/** Keeps a file open as SQLite does, so that it cannot be renamed. */
const holder = (path: string) => ({
  argv: [
    NODE,
    "-e",
    "const L=require('C:/work/app/node_modules/libsql');const d=new L(process.argv[1],{});" +
      "try{d.prepare('SELECT 1 FROM sqlite_schema').all()}catch{}console.log('held');setInterval(()=>d,1e3)",
    path,
  ],
});

/** A store whose middle pages are overwritten. */
function storeWithDamage(name: string) {
  const profile = newProfile(name);
  expect(run(otel(["drain"], { env: profile.env })).code).toBe(0);
  const path = join(profile.state, "store.db");
  const bytes = readFileSync(path);
  bytes.fill(0x5a, Math.floor(bytes.length * 0.4), Math.floor(bytes.length * 0.6));
  writeFileSync(path, bytes);
  return profile;
}
