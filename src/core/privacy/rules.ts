import { ASSIGNED } from "./rules/assigned.ts";
import { PREFIXED } from "./rules/prefixed.ts";
import type { Rule } from "./rules/rule.ts";
import { STRUCTURED } from "./rules/structured.ts";

export { EMAIL_RULE, HOME_RULES } from "./rules/people.ts";
export { type Rule, re2 } from "./rules/rule.ts";

/** All rules for secrets. If several match the same text, the marker contains the id of the first one. */
export const SECRET_RULES: readonly Rule[] = [...PREFIXED, ...STRUCTURED, ...ASSIGNED];
