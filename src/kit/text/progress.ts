import type { Output } from "../safe-output.ts";
import { shownLines } from "./ascii.ts";
import { duration, megabytes } from "./figures.ts";
import { clip, type Screen, terminalOf } from "./terminal.ts";

/** Progress of an import. */
interface ReadProgress {
  readonly sessions: number;
  readonly ofSessions: number;
  readonly bytes: number;
  readonly ofBytes: number;
}

/** A progress bar on stderr, redrawn in place. Writes nothing when stderr is no terminal. */
export class ProgressLine {
  readonly #context: Pick<Screen, "env"> & { readonly stderr: Output };
  #startMs: number | undefined;
  #isShown = false;

  constructor(context: Pick<Screen, "env"> & { readonly stderr: Output }) {
    this.#context = context;
  }

  /** Sessions and bytes read, speed and time left. */
  readonly show = ({ sessions, ofSessions, bytes, ofBytes }: ReadProgress): void => {
    if (ofSessions === 0) return;
    const share = ofBytes === 0 ? sessions / ofSessions : bytes / ofBytes;
    // Not from the start on: the user may have been asked first whether to import
    this.#startMs ??= performance.now();
    const tookMs = performance.now() - this.#startMs;
    // At first, the speed says nothing: files are found, and code is compiled
    const left = tookMs >= 1000 && share > 0 && share < 1 ? `  ${duration((tookMs / share) * (1 - share))} left` : "";
    const speed = tookMs > 0 && bytes > 0 ? `  ${megabytes((bytes / tookMs) * 1000)}/s` : "";
    this.line(share, `${sessions} of ${ofSessions} sessions  ${megabytes(bytes)}${speed}${left}`);
  };

  /** @param share done, from 0 to 1 */
  line(share: number, text: string): void {
    const { stderr, env } = this.#context;
    // A dumb terminal cannot return to the start of a line
    if (stderr.isTTY !== true || stderr.rewrite === undefined || env["TERM"] === "dumb") return;
    const { columns } = terminalOf({ stdout: stderr, env });
    const filled = Math.round(Math.min(1, share) * BAR_COLUMNS);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR_COLUMNS - filled)}`;
    const shown = `${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${text}`;
    for (const line of shownLines([clip(shown, columns - 1)], { env })) stderr.rewrite(line);
    this.#isShown = true;
  }

  clear(): void {
    this.#startMs = undefined;
    if (!this.#isShown) return;
    this.#context.stderr.rewrite?.("");
    this.#isShown = false;
  }
}

// --- internal ---

const BAR_COLUMNS = 24;
