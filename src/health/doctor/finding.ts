/** One thing that was looked at, with what to do where it is not as it should be. */
export interface Finding {
  /** What was looked at: a word for the left column; of an agent its title. */
  readonly area: string;
  /** `broken`: only the user can mend it, or events are lost until it is; `remark`: worth knowing. */
  readonly level: "ok" | "remark" | "broken";
  readonly text: string;
  readonly todo?: string;
}

/** The findings of one area. */
export const inArea = (area: string) => ({
  ok: (text: string): Finding => ({ area, level: "ok", text }),
  remark: (text: string, todo?: string): Finding => ({
    area,
    level: "remark",
    text,
    ...(todo !== undefined && { todo }),
  }),
  broken: (text: string, todo?: string): Finding => ({
    area,
    level: "broken",
    text,
    ...(todo !== undefined && { todo }),
  }),
});

/** A line of `status`, whose advice follows its first colon or semicolon already. */
export const broken = (area: string, lines: readonly string[]): readonly Finding[] =>
  lines.map((text) => ({ area, level: "broken", text }));
