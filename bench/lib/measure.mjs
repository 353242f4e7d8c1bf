import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const GNU_TIME = "/usr/bin/time";
/** In milliseconds, unlike GNU time; of the command and all that it waited for. */
const TIMED = "TIMEFORMAT='%3R %3U %3S'; time \"$@\" 2>&3";

/**
 * Runs a command to its end.
 *
 * @param {readonly string[]} command
 * @param {object} options
 * @param {NodeJS.ProcessEnv} options.env
 * @param {string} [options.cwd]
 * @returns {Promise<{ wallMs: number, cpuMs: number, peakKib: number | undefined, stdout: string }>} processor time of all its
 *          processes, user and system; the largest resident memory that one of them had, by the kernel's own count, where
 *          GNU time is installed
 * @throws when it fails, with what it said
 */
export async function measure(command, { env, cwd }) {
  const folder = mkdtempSync(join(tmpdir(), "openhook-measured-"));
  try {
    const peakFile = join(folder, "peak");
    // Between us and the command: a process that is forked from a large one begins with the large one's peak
    const counted = hasGnuTime ? [GNU_TIME, "-f", "%M", "-o", peakFile, ...command] : command;
    const { code, stdout, stderr, said } = await run(["bash", "-c", TIMED, "bash", ...counted], { env, cwd });
    if (code !== 0) {
      throw new Error(`${command.join(" ")} ended with ${code}: ${`${said}${stdout}`.trim().slice(-2_000)}`);
    }
    const [wall, user, system] = stderr.trim().split("\n").at(-1).split(" ").map(Number);
    const peakKib = hasGnuTime ? Number(readFileSync(peakFile, "utf8").trim().split("\n").at(-1)) : undefined;
    return { wallMs: wall * 1000, cpuMs: (user + system) * 1000, peakKib, stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// --- internal ---

const hasGnuTime = process.platform === "linux" && existsSync(GNU_TIME);

function run([file, ...args], { env, cwd }) {
  return new Promise((done, fail) => {
    const child = spawn(file, args, { env, cwd, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    const texts = child.stdio.slice(1).map((stream) => {
      const pieces = [];
      stream.on("data", (piece) => pieces.push(piece));
      return pieces;
    });
    child.on("error", fail);
    child.on("close", (code, signal) => {
      const [stdout, stderr, said] = texts.map((pieces) => Buffer.concat(pieces).toString());
      done({ code: code ?? signal, stdout, stderr, said });
    });
  });
}
