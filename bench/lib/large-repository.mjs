import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The history is this long, and agents have worked in all of it but the first days. */
const DAYS = 90;
const FIRST_AGENT_DAY = 5;
/** How many commits of the default branch are made before an agent's branch is merged. */
const REVIEW = 20;
const FILE_LINES = 40;
const OWN_LINES = 30;
const DAY_S = 86_400;

/** What becomes of each ten commits of agents: `open` is on another branch, `gone` on none any more. */
const KINDS = ["direct", "direct", "direct", "direct", "rebased", "rebased", "squashed", "reverted", "open", "gone"];
const FATES = {
  direct: "merged",
  rebased: "merged",
  squashed: "merged",
  reverted: "reverted",
  open: "open",
  gone: "gone",
};

/**
 * Makes a repository with a long history, through `git fast-import`.
 *
 * @param {string} folder created
 * @param {object} size
 * @param {number} size.commits of the default branch
 * @param {number} size.files
 * @param {number} size.agentCommits
 * @returns {Promise<readonly { id: string, fate: string, path: string, lines: number, timeMs: number }[]>} the agents' commits, and
 *          what became of them; `path` is a file that the agent edited, `lines` what it wrote there
 */
export async function makeLargeRepository(folder, { commits, files, agentCommits }) {
  mkdirSync(folder, { recursive: true });
  const git = (...args) => execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" });
  git("init", "-q", "-b", "main");
  const marks = join(folder, ".git", "bench-marks");
  const importer = spawn("git", ["-C", folder, "fast-import", "--quiet", `--export-marks=${marks}`], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  const ended = once(importer, "close");
  const stream = new Stream(importer.stdin);
  const agents = await writeHistory(stream, { commits, files, agentCommits });
  importer.stdin.end();
  const [code] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  const ids = new Map(
    readFileSync(marks, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.slice(1).split(" ")),
  );
  const deleted = agents.filter(({ kind }) => !["direct", "squashed", "open"].includes(kind));
  const lines = deleted.map(({ number }) => `delete refs/heads/agent-${number}\n`);
  execFileSync("git", ["-C", folder, "update-ref", "--stdin"], { input: lines.join("") });
  git("pack-refs", "--all");
  git("reset", "-q", "--hard");
  return agents.map(({ mark, kind, ...one }) => ({ ...one, id: ids.get(String(mark)), fate: FATES[kind] }));
}

// --- internal ---

async function writeHistory(stream, { commits, files, agentCommits }) {
  const nowS = Math.floor(Date.now() / 1000);
  const timeOf = (commit) => nowS - DAYS * DAY_S + Math.floor((commit * DAYS * DAY_S) / commits);
  const all = Array.from({ length: files }, (_, file) => ({ path: nameOf(file), text: textOf(file, 0) }));
  await stream.commit({ ref: "main", time: timeOf(0), files: all });
  const first = Math.ceil((commits * FIRST_AGENT_DAY) / DAYS);
  const step = Math.floor((commits - first - 2 * REVIEW) / agentCommits);
  const agents = [];
  /** What is merged later, by the number of the commit on the default branch. */
  const later = new Map();
  const plan = (at, ...planned) => later.set(at, [...(later.get(at) ?? []), ...planned]);
  for (let commit = 1; commit < commits; commit++) {
    const time = timeOf(commit);
    const [next] = later.get(commit) ?? [];
    const number = agents.length;
    const isAgents = next === undefined && number < agentCommits && commit >= first + number * step;
    if (next !== undefined) {
      await stream.commit({ ref: "main", ...next, time });
      const rest = later.get(commit).slice(1);
      if (rest.length > 0) plan(commit + 1, ...rest);
    } else if (isAgents) agents.push(await agentCommit(stream, { number, commit, time, plan }));
    else {
      const changed = [0, 1].map((one) => (commit * 7_919 + one * 104_729) % files);
      await stream.commit({
        ref: "main",
        time,
        files: changed.map((file) => ({ path: nameOf(file), text: textOf(file, commit) })),
      });
    }
  }
  return agents;
}

/** One commit of an agent, in a new file, and its later commits. */
async function agentCommit(stream, { number, commit, time, plan }) {
  const kind = KINDS[number % KINDS.length];
  const path = `src/agents/part-${number}.js`;
  const text = Array.from({ length: OWN_LINES }, (_, line) => `export const value${number}_${line} = ${line};\n`).join(
    "",
  );
  const made = { files: [{ path, text }], authored: time };
  const isOnMain = kind === "direct" || kind === "reverted";
  const ref = isOnMain ? "main" : `agent-${number}`;
  const mark = await stream.commit({ ref, from: stream.tip, time, ...made });
  if (kind === "rebased") plan(commit + REVIEW, made);
  if (kind === "reverted") plan(commit + REVIEW, { files: [{ path }] });
  if (kind === "squashed") {
    const more = { path: `src/agents/tests/part-${number}.js`, text: `test(${number});\n` };
    await stream.commit({ ref, time: time + 60, files: [more] });
    plan(commit + REVIEW, { files: [...made.files, more] });
  }
  return { number, mark, kind, path, lines: OWN_LINES, timeMs: time * 1000 };
}

/** A stream of `git fast-import`. */
class Stream {
  /** Mark of the default branch's newest commit. */
  tip;
  #output;
  #marks = 0;

  constructor(output) {
    this.#output = output;
  }

  /** @returns the commit's mark */
  async commit({ ref, from, time, authored = time, files }) {
    const mark = ++this.#marks;
    const message = `Change ${mark}\n\nMore text in the message of change ${mark}, as people write it.\n`;
    const parts = [
      `commit refs/heads/${ref}\nmark :${mark}\n`,
      `author Dev <dev@example.com> ${authored} +0000\ncommitter Dev <dev@example.com> ${time} +0000\n`,
      dataOf(message),
      ref !== "main" && from !== undefined ? `from :${from}\n` : "",
      ...files.map(({ path, text }) =>
        text === undefined ? `D ${path}\n` : `M 100644 inline ${path}\n${dataOf(text)}`,
      ),
    ];
    if (!this.#output.write(parts.join(""))) await once(this.#output, "drain");
    if (ref === "main") this.tip = mark;
    return mark;
  }
}

const dataOf = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;

const nameOf = (file) => `src/m${file % 100}/d${Math.floor(file / 100) % 20}/f${file}.js`;

/** A file of which one line is different in each version. */
const textOf = (file, version) =>
  Array.from({ length: FILE_LINES }, (_, line) =>
    line === version % FILE_LINES ? `line ${line} of ${file}, version ${version}\n` : `line ${line} of ${file}\n`,
  ).join("");
