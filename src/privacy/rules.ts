import { ASSIGNED } from "./rules/assigned.ts";
import { FORMED } from "./rules/formed.ts";
import { ISSUED } from "./rules/issued.ts";
import type { Rule } from "./rules/rule.ts";

export { EMAIL_RULE, HOME_RULES } from "./rules/people.ts";
export { type Rule, re2 } from "./rules/rule.ts";

/** All rules for secrets. Where several match the same text, the first one names the marker. */
export const SECRET_RULES: readonly Rule[] = [...ISSUED, ...FORMED, ...ASSIGNED];
