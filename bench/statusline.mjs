// node bench/statusline.mjs [--runs N] [--check]
// What a status line costs an agent each time it is drawn: our program, `sh -c cat` and a bare node, in turn.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { machineLine } from "./lib/machine.mjs";

const GOAL_MS = 30;
const WARM_UP_RUNS = 3;
const root = dirname(dirname(fileURLToPath(import.meta.url)));

const { values } = parseArgs({
  options: { runs: { type: "string", default: "200" }, check: { type: "boolean", default: false } },
});
process.exitCode = bench(Math.max(1, Number(values.runs) || 200));

function bench(runs) {
  const home = mkdtempSync(join(tmpdir(), "openhook-bench-"));
  const program = join(home, "statusline");
  const nowS = Math.floor(Date.now() / 1000);
  mkdirSync(join(home, "state"));
  copyFileSync(join(root, "src", "show", "statusline", "statusline.sh"), program);
  chmodSync(program, 0o755);
  writeFileSync(join(home, "hook.conf"), `state='${join(home, "state")}'\n`);
  const sessions = Array.from({ length: 20 }, (_, n) => `session claude-code/${n} $0.42\n`).join("");
  const figures = `at ${nowS} 09:00\nuntil ${nowS + 86_400}\ntoday $3.20\nlatest claude-code $0.42\n${sessions}`;
  writeFileSync(join(home, "state", "statusline.txt"), `openhook-otel-statusline 1\n${figures}end\n`);
  const limit = (seconds) => ({ used_percentage: 23.5, resets_at: nowS + seconds });
  const input = JSON.stringify({
    session_id: "19",
    transcript_path: "x".repeat(1_000),
    model: { id: "claude-opus-4-8", display_name: "Opus 4.8" },
    cost: { total_cost_usd: 0.42 },
    context_window: { used_percentage: 8 },
    rate_limits: { five_hour: limit(8_000), seven_day: limit(300_000) },
  });
  const commands = {
    "sh -c cat": ["sh", "-c", "cat >/dev/null"],
    "our status line": ["sh", "-c", `[ ! -x ${program} ]||exec ${program} claude-code`],
    "our status line in tmux": ["sh", "-c", `exec ${program}`],
    "node -e 0": [process.execPath, "-e", "0"],
  };
  const durationsMs = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let n = 0; n < WARM_UP_RUNS + runs; n += 1) {
    for (const [name, [file, ...args]] of Object.entries(commands)) {
      const startMs = performance.now();
      const { status, stdout } = spawnSync(file, args, { input, encoding: "utf8" });
      durationsMs[name].push(performance.now() - startMs);
      const isRight = !name.startsWith("our") || stdout.includes("$3.20 today");
      if (status !== 0 || !isRight) throw new Error(`${name} printed ${JSON.stringify(stdout)}, exit ${status}`);
    }
  }
  rmSync(home, { recursive: true, force: true });
  const at = (name, share) =>
    durationsMs[name]
      .slice(WARM_UP_RUNS)
      .toSorted((a, b) => a - b)
      .at(Math.floor(share * (runs - 1)));
  console.log(machineLine());
  console.log(`${runs} runs each, in turn; ${input.length} bytes on stdin; start to exit\n`);
  for (const name of Object.keys(commands)) {
    const ratio = at(name, 0.5) / at("sh -c cat", 0.5);
    const [median, p95] = [0.5, 0.95].map((share) => `${at(name, share).toFixed(2)} ms`.padStart(9));
    console.log(`${name.padEnd(24)} median ${median}  p95 ${p95}  ${ratio.toFixed(2)} x sh`);
  }
  const worst = at("our status line", 0.95);
  console.log(`\n${worst <= GOAL_MS ? "met" : "MISSED"}: 95 % of status lines: at most ${GOAL_MS} ms`);
  return values.check && worst > GOAL_MS ? 1 : 0;
}
