/** The result of one check, as `doctor` prints it, with the remedy if it failed. */
export interface Finding {
  /** What was checked, in a word; for an agent its title. */
  readonly area: string;
  /** `broken`: only the user can fix it, or events are lost until then; `remark`: worth knowing. */
  readonly level: "ok" | "remark" | "broken";
  readonly text: string;
  /** The remedy. */
  readonly todo?: string | undefined;
  /** The line of `status` for it, with the remedy; `undefined`: `status` does not print it. */
  readonly inStatus?: string | undefined;
}

/** A result that only `status` prints. */
export interface StatusLine {
  readonly level: "remark" | "broken";
  readonly inStatus: string;
}

export type Result = Finding | StatusLine;

/** The findings of one area. */
export const inArea = (area: string) => ({
  ok: (text: string): Finding => ({ area, level: "ok", text }),
  remark: (text: string, todo?: string, inStatus?: string): Finding => ({
    area,
    level: "remark",
    text,
    todo,
    inStatus,
  }),
  broken: (text: string, todo?: string, inStatus?: string): Finding => ({
    area,
    level: "broken",
    text,
    todo,
    inStatus,
  }),
});

/** A finding whose text contains the remedy, so that `status` prints it as it is. */
export const alsoInStatus = (finding: Finding): Finding => ({ ...finding, inStatus: finding.text });

export const onlyInStatus = (level: StatusLine["level"], inStatus: string): StatusLine => ({ level, inStatus });
