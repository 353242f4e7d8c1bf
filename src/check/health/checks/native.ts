import type { Examined } from "../facts/examined.ts";
import { type Finding, inArea } from "../finding.ts";

/** What the agents' own OpenTelemetry doubles, and where it goes otherwise. */
export const nativeFindings = ({ facts }: Pick<Examined, "facts">): readonly Finding[] =>
  facts.native_exporters.map(({ title, text, todo }) => {
    const { ok, remark } = inArea(title);
    return todo === null ? ok(text) : remark(text, todo, `${title} ${text}; ${todo}`);
  });
