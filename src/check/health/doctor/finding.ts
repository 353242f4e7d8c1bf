/** The result of one check, with the remedy if it failed. */
export interface Finding {
  /** What was checked, in a word; for an agent its title. */
  readonly area: string;
  /** `broken`: only the user can fix it, or events are lost until then; `remark`: worth knowing. */
  readonly level: "ok" | "remark" | "broken";
  readonly text: string;
  /** The remedy. */
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

/** Problems that `status` prints too, as findings. Each line contains its remedy. */
export const broken = (area: string, lines: readonly string[]): readonly Finding[] =>
  lines.map((text) => ({ area, level: "broken", text }));
