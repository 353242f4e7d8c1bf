import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { writeLongSession } from "./session.mjs";

const DAY_MS = 86_400_000;
const DAYS = 14;
/** Sessions of so many days in a row are on one branch. */
const DAYS_PER_BRANCH = 4;

const REPOSITORIES = [
  {
    name: "acme-shop",
    branches: ["SHOP-12-cart-total", "SHOP-19-vouchers", "SHOP-23-search", "SHOP-31-checkout-on-phones"],
  },
  { name: "payments-api", branches: ["PAY-7-refunds", "PAY-9-retries", "PAY-14-idempotency", "PAY-16-statements"] },
  { name: "data-pipeline", branches: ["late-events", "backfill", "schema-checks", "cheaper-storage"] },
];

/**
 * Writes two weeks of made-up sessions in three repositories, up to now: agents commit on branches, most branches become
 * a pull request, and the older ones are merged.
 *
 * @param {string} home
 * @param {number} nowMs
 */
export function writeTwoWeeks(home, nowMs) {
  for (const [i, { name, branches }] of REPOSITORIES.entries()) {
    const cwd = join(home, name);
    makeRepository(cwd, nowMs - (DAYS + 1) * DAY_MS);
    for (let day = DAYS - 1; day >= 0; day--) {
      const seed = 1 + i * DAYS + day;
      const nth = Math.floor(day / DAYS_PER_BRANCH);
      const branch = branches[nth] ?? "main";
      const startMs = nowMs - day * DAY_MS - 1_800_000;
      const isFirst = run(cwd, startMs, "git", "rev-parse", "-q", "--verify", branch).status !== 0;
      git(cwd, startMs, "switch", "-q", ...(isFirst ? ["-c", branch, "main"] : [branch]));
      const commands = [
        ...(seed % 3 === 0 ? [] : [commit(cwd, `part-${day}.ts`)]),
        ...(day % DAYS_PER_BRANCH === 0 && seed % 5 !== 0
          ? [pullRequest(`https://git.example/acme/${name}/pull/${40 + 4 * i + nth}`)]
          : []),
      ];
      const spans = 60 + ((seed * 97) % (200 + i * 130));
      writeLongSession(home, { spans, cwd, branch, ...prompts(seed), ...times(seed, startMs), seed, commands });
      if (day % DAYS_PER_BRANCH === 0 && nth > 0) merge(cwd, startMs + 1_200_000, branch);
    }
  }
}

/**
 * Writes two sessions that are open. @returns the hook calls that were made of them: one is in the middle of a tool
 * call, and one waits for its user
 */
export function writeOpenSessions(home, nowMs) {
  return REPOSITORIES.slice(0, 2).flatMap(({ name, branches: [branch] }, i) => {
    const seed = 100 + i;
    const cwd = join(home, name);
    const session = { cwd, branch, ...prompts(seed), ...times(seed, nowMs - 120_000), seed };
    const { sessionId, transcript, endMs } = writeLongSession(home, { ...session, spans: 60 + 20 * i });
    const call = (event, more, timeMs) => ({
      event,
      stdin: { session_id: sessionId, transcript_path: transcript, cwd, hook_event_name: event, ...more },
      received_at: new Date(timeMs).toISOString(),
    });
    if (i === 1) return [call("Stop", {}, endMs)];
    const tool = { tool_name: "Bash", tool_use_id: `toolu_${seed}`, tool_input: { command: "npm test" } };
    return [
      call("UserPromptSubmit", { prompt: "Now the tests" }, nowMs - 25_000),
      call("PreToolUse", tool, nowMs - 12_000),
    ];
  });
}

// --- internal ---

const prompts = (seed) => ({
  prompt: PROMPTS[seed % PROMPTS.length] ?? "",
  more: MORE_PROMPTS.map((_, i) => MORE_PROMPTS[(seed + i) % MORE_PROMPTS.length] ?? ""),
});

const times = (seed, startMs) => ({ sessionId: idOf(seed), startMs, stepMs: 100 });

const PROMPTS = [
  "Why is the total wrong when two vouchers apply?",
  "Add a test for events that arrive late",
  "Make the retries wait longer each time",
  "Split the checkout into smaller components",
  "Find out why the build takes so long",
];

const MORE_PROMPTS = [
  "Now add a test for it",
  "That is better, but keep the old name in the response",
  "Run all the tests and mend what fails",
  "Why did that fail?",
  "Commit it",
  "Also handle an empty list",
];

/** Ids that differ in the first digits, as those of real sessions do. */
const idOf = (seed) =>
  `${(Math.imul(seed, 2_654_435_761) >>> 0).toString(16).padStart(8, "0")}-5eed-4000-8000-000000000000`;

const commit = (cwd, file) => ({
  command: `git commit -m 'A part of it'`,
  output: (timeMs) => {
    for (let line = 0; line < 40; line++)
      appendFileSync(join(cwd, file), `export const line${line} = ${timeMs + line};\n`);
    git(cwd, timeMs, "add", file);
    return git(cwd, timeMs, "commit", "-m", "A part of it");
  },
});

const pullRequest = (url) => ({ command: "gh pr create --fill", output: () => `${url}\n` });

function makeRepository(cwd, timeMs) {
  if (existsSync(cwd)) throw new Error(`${cwd} exists`);
  mkdirSync(cwd, { recursive: true });
  git(cwd, timeMs, "init", "-q", "-b", "main");
  git(cwd, timeMs, "remote", "add", "origin", `https://git.example/acme/${basename(cwd)}.git`);
  git(cwd, timeMs, "commit", "-q", "--allow-empty", "-m", "first");
  git(cwd, timeMs, "update-ref", "refs/remotes/origin/main", "main");
}

/** Merges a branch, as the server of the repository does. */
function merge(cwd, timeMs, branch) {
  git(cwd, timeMs, "switch", "-q", "main");
  git(cwd, timeMs, "merge", "-q", "--no-ff", "-m", "merge", branch);
  git(cwd, timeMs, "update-ref", "refs/remotes/origin/main", "main");
}

function git(cwd, timeMs, ...args) {
  const { status, stdout, stderr } = run(cwd, timeMs, "git", ...args);
  if (status !== 0) throw new Error(`git ${args.join(" ")} exited with ${status}: ${stderr}`);
  return stdout;
}

function run(cwd, timeMs, program, ...args) {
  const date = `@${Math.floor(timeMs / 1000)} +0000`;
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Dev",
    GIT_AUTHOR_EMAIL: "dev@example.com",
    GIT_COMMITTER_NAME: "Dev",
    GIT_COMMITTER_EMAIL: "dev@example.com",
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
  return spawnSync(program, args, { cwd, env, encoding: "utf8" });
}
