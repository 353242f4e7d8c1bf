// Slow: only `npm run test:all` runs it. Input from a terminal.
//
// Whatever the store, the inbox, the quarantine or the configuration contains: no command prints a control character other than
// its own.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { ensureBuilt, Machine } from "../support/program.ts";
import { InputWorld } from "./input-world.ts";
import { record } from "./record.ts";

/** Control characters of all kinds, between letters that show that a command printed the text. */
const EVIL = "E\u001b[31mV\u001b]0;IL\u0007\u009b2J\u0000\u0008\r\u007f\u202eLIVE\u2066";
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

let world: InputWorld;
let machine: Machine;
beforeAll(async () => {
  await ensureBuilt();
  machine = new Machine();
  world = new InputWorld(machine.home);
  plantPayloads();
  await machine.run(["drain"]);
  plantStore();
  plantFiles();
});
afterAll(() => machine.remove());

test("no command prints a planted control character", async () => {
  const runs = COMMANDS.map(async (args) => ({ args, ...(await machine.run(args, { input: INPUT })) }));
  const finished = await Promise.all(runs);
  let shown = 0;
  for (const { args, stdout, stderr } of finished) {
    expect(controlIn(stdout), `stdout of ${args.join(" ")}`).toBeUndefined();
    expect(controlIn(stderr), `stderr of ${args.join(" ")}`).toBeUndefined();
    if (`${stdout}${stderr}`.includes("LIVE")) shown++;
  }
  // These commands run last, because they change the store and the inbox
  for (const args of [["drain"], ["drain", "--json", "--end-idle"], ["replay"], ["status"]]) {
    const { stdout, stderr } = await machine.run(args);
    expect(controlIn(`${stdout}${stderr}`), args.join(" ")).toBeUndefined();
  }
  const log = readFileSync(join(machine.places.stateDir, "drain.log"), "utf8");
  expect(controlIn(log), "drain.log").toBeUndefined();
  // The mark was in enough outputs, so the commands did print what was planted
  expect(shown).toBeGreaterThan(5);
  record({
    area: "input",
    fault: "terminal escapes planted in store, inbox, quarantine and configuration",
    runs: COMMANDS.length + 4,
    lost: 0,
  });
});

// --- internal ---

const COMMANDS: readonly (readonly string[])[] = [
  ["sessions"],
  ["sessions", "--json"],
  ["show"],
  ["show", "--json"],
  ["show", "--envelopes"],
  ["show", EVIL.replaceAll("\0", "")],
  ["status"],
  ["status", "--json"],
  ["doctor"],
  ["doctor", "--json"],
  ["config"],
  ["config", "show", "--json"],
  ["config", "get", EVIL.replaceAll("\0", "")],
  ["config", "set", "otlp.endpoint", `http://127.0.0.1:1/${EVIL.replaceAll("\0", "")}`],
  ["replay", "--dry-run"],
  ["convert"],
  ["convert", "--validate"],
  ["convert", EVIL.replaceAll("\0", "")],
];

const INPUT = `${JSON.stringify({ openhook: "0.1", id: EVIL, type: EVIL, source: EVIL, session_id: EVIL, time: EVIL })}\n{${EVIL}\n`;

const controlIn = (text: string): string | undefined => {
  const found = CONTROL.exec(text);
  return found === null ? undefined : JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 10));
};

function plantPayloads(): void {
  const base = { session_id: EVIL, cwd: `/home/${EVIL}`, transcript_path: `/tmp/${EVIL}.jsonl`, model: EVIL };
  for (const [event, more] of [
    ["SessionStart", { source: EVIL }],
    ["UserPromptSubmit", { prompt: EVIL, prompt_id: EVIL }],
    ["PreToolUse", { tool_name: EVIL, tool_use_id: EVIL, tool_input: { command: EVIL } }],
    ["PostToolUse", { tool_name: EVIL, tool_use_id: EVIL, tool_response: EVIL }],
    [EVIL, {}],
  ] as const) {
    world.put("claude-code", event, JSON.stringify({ ...base, hook_event_name: event, ...more }));
  }
  world.put(EVIL, EVIL, EVIL);
}

/** Bypasses all checks, as if an older version or another program had written it. */
function plantStore(): void {
  const db = openDatabase(machine.places.storePath);
  const texts: readonly (readonly [string, readonly string[]])[] = [
    ["sessions", ["session_id", "cwd", "transcript_path", "agent_version", "branch"]],
    ["segments", ["native_reason", "start_origin"]],
    ["turns", ["key"]],
    ["tool_calls", ["call_id", "name"]],
  ];
  for (const [table, columns] of texts) {
    for (const column of columns)
      db.prepare(`UPDATE OR IGNORE ${table} SET ${column} = ?`).run(EVIL.replaceAll("\0", ""));
  }
  for (const [table, column] of [
    ["events", "body"],
    ["tool_calls", "body"],
    ["spans", "record"],
  ] as const) {
    const evil = JSON.stringify(EVIL).slice(1, -1);
    db.prepare(`UPDATE ${table} SET ${column} = replace(replace(${column}, 'claude-code', ?), 'Tool', ?)`).run(
      evil,
      evil,
    );
  }
  const repository = JSON.stringify({ name: EVIL, branch: EVIL, url: EVIL });
  db.prepare("UPDATE sessions SET repository = ?").run(repository);
  const note = db.prepare("SELECT value FROM meta WHERE key = 'last_drain'").get()?.["value"];
  const drained = { ...JSON.parse(String(note)), problems: [EVIL] };
  const write = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
  write.run("last_drain", JSON.stringify(drained));
  for (const key of ["traces.last_reason", "metrics.last_reason"]) write.run(key, EVIL.replaceAll("\0", ""));
  db.close();
}

function plantFiles(): void {
  const { quarantineDir, inboxDir, configPath, stateDir } = machine.places;
  const name = EVIL.replaceAll("\0", "").replaceAll("/", "");
  writeFileSync(join(quarantineDir, `${name}.evt`), EVIL);
  writeFileSync(
    join(quarantineDir, `${name}.evt.reason`),
    JSON.stringify({ reason: EVIL, source: EVIL, event: EVIL, at: EVIL }),
  );
  writeFileSync(join(inboxDir, `${name}.evt`), `openhook-inbox 1\n${EVIL}\n\n`);
  writeFileSync(join(inboxDir, name), EVIL);
  world.put(EVIL, EVIL, JSON.stringify({ hook_event_name: "Stop", session_id: EVIL, transcript_path: `/tmp/${EVIL}` }));
  writeFileSync(join(stateDir, "drain.log"), "");
  mkdirSync(dirname(configPath), { recursive: true });
  writeFileSync(
    configPath,
    JSON.stringify({ [EVIL]: 1, otlp: { [EVIL]: EVIL }, resource: { attributes: { a: EVIL } } }),
  );
}
