import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const GNU_TIME = "/usr/bin/time";
/** To the millisecond, unlike GNU time; includes the children that the command waited for. */
const TIMED = "TIMEFORMAT='%3R %3U %3S'; time \"$@\" 2>&3";

/**
 * Runs a command to its end.
 *
 * @param {readonly string[]} command
 * @param {object} options
 * @param {NodeJS.ProcessEnv} options.env
 * @param {string} [options.cwd]
 * @returns {Promise<{ wallMs: number, cpuMs: number, peakKib: number | undefined, stdout: string }>} user and system time of
 *          all its processes; the largest peak resident memory of one of them, if GNU time is installed
 * @throws with its output if it fails
 */
export async function measure(command, { env, cwd }) {
  const folder = mkdtempSync(join(tmpdir(), "openhook-measured-"));
  try {
    const peakFile = join(folder, "peak");
    // GNU time as the parent, because a process forked from a large one starts with that one's peak
    const counted = hasGnuTime ? [GNU_TIME, "-f", "%M", "-o", peakFile, ...command] : command;
    const { code, stdout, stderr, commandStderr } = await run(["bash", "-c", TIMED, "bash", ...counted], { env, cwd });
    if (code !== 0) {
      throw new Error(`${command.join(" ")} ended with ${code}: ${`${commandStderr}${stdout}`.trim().slice(-2_000)}`);
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
      const [stdout, stderr, commandStderr] = texts.map((pieces) => Buffer.concat(pieces).toString());
      done({ code: code ?? signal, stdout, stderr, commandStderr });
    });
  });
}
