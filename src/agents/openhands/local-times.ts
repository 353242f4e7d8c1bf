// Event files have local times without a zone (`datetime.now().isoformat()` in openhands/sdk/event/base.py, read 2026-11-26). The zone
// is that of the machine that wrote the file, which can be another one, or have moved since. A file is written once, as soon as its
// event happened, so its modification time shows the offset, also of the hour that a change from summer time repeats. Copied files show
// none; then the zone is this machine's.

/** A time in an event file, and when the file was written. */
interface Written {
  readonly text: string;
  readonly writtenMs: number;
  /** False for events whose files follow later: after hooks have run, or with the last of several parallel calls. */
  readonly isImmediate: boolean;
}

/** Converts the times of consecutive files. */
export class LocalTimes {
  /** What is added to a time that was read as UTC; absent while no file has shown it. */
  offsetMs: number | undefined;

  constructor(offsetMs: number | undefined) {
    this.offsetMs = offsetMs;
  }

  /** In milliseconds since the epoch, in the given order; `undefined` for what is no time. */
  convert(all: readonly Written[]): readonly (number | undefined)[] {
    const shown = all.map((one) => (one.isImmediate ? shownOffset(one) : undefined));
    const immediate = all.filter(({ text, isImmediate }) => isImmediate && asUtc(text) !== undefined).length;
    // The times of one in 450 copied files fit by chance
    const areOriginals = shown.filter((offset) => offset !== undefined).length * 2 >= immediate && immediate > 0;
    if (areOriginals) this.offsetMs = shown.find((offset) => offset !== undefined) ?? this.offsetMs;
    return all.map(({ text }, i) => {
      if (ZONED.test(text)) return numberOf(Date.parse(text));
      const ms = asUtc(text);
      if (ms === undefined) return undefined;
      if (areOriginals) this.offsetMs = shown[i] ?? this.offsetMs;
      return this.offsetMs === undefined ? inThisZone(ms) : ms + this.offsetMs;
    });
  }
}

// --- internal ---

const LOCAL = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,3})?\d*$/;
const ZONED = /(?:Z|[+-]\d\d:?\d\d)$/;

/** All zones differ from UTC by whole quarters of an hour, up to 14 hours. */
const QUARTER_MS = 15 * 60_000;
const MAX_OFFSET_MS = 14 * 3_600_000;
/** Longest time between an event and the end of writing its file, and how coarse a file system's times are. */
const WRITTEN_WITHIN_MS = 2_000;
const COARSE_MS = 20;

function asUtc(text: string): number | undefined {
  const [, seconds, fraction = ""] = LOCAL.exec(text) ?? [];
  return seconds === undefined ? undefined : numberOf(Date.parse(`${seconds}${fraction}Z`));
}

function shownOffset({ text, writtenMs }: Written): number | undefined {
  const ms = asUtc(text);
  if (ms === undefined) return undefined;
  const apartMs = writtenMs - ms;
  const offsetMs = Math.floor((apartMs + COARSE_MS) / QUARTER_MS) * QUARTER_MS;
  const isFitting = apartMs - offsetMs <= WRITTEN_WITHIN_MS && Math.abs(offsetMs) <= MAX_OFFSET_MS;
  return isFitting ? offsetMs : undefined;
}

/** The time at which this machine's clock shows the same hour and minute. */
function inThisZone(ms: number): number {
  const utc = new Date(ms);
  return new Date(
    utc.getUTCFullYear(),
    utc.getUTCMonth(),
    utc.getUTCDate(),
    utc.getUTCHours(),
    utc.getUTCMinutes(),
    utc.getUTCSeconds(),
    utc.getUTCMilliseconds(),
  ).getTime();
}

const numberOf = (ms: number): number | undefined => (Number.isFinite(ms) ? ms : undefined);
