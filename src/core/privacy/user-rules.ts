import type { Finder } from "./redact.ts";

/** A user's rule that the RE2 engine rejects. */
export class RuleError extends Error {
  readonly code = "E_REDACTION";
}

/**
 * Compiles the user's own rules with RE2, which needs linear time for any pattern. The whole match of a rule is redacted. The
 * engine is loaded only if there are rules.
 *
 * @param rules patterns by rule name; the marker contains this name
 * @throws RuleError that names the rule, never its pattern, which can contain the secret
 */
export async function userRuleFinders(rules: Readonly<Record<string, string>>): Promise<readonly Finder[]> {
  const entries = Object.entries(rules);
  if (entries.length === 0) return [];
  const { RE2JS } = await import("re2js");
  return entries.map(([id, pattern]) => {
    try {
      const compiled = RE2JS.compile(pattern);
      return {
        id,
        *find(text: string) {
          const matcher = compiled.matcher(text);
          while (matcher.find()) yield [matcher.start(), matcher.end()] as const;
        },
      };
    } catch (error) {
      throw new RuleError(
        `redaction.rules.${id}: RE2 refuses the pattern; nothing is collected or exported until this is fixed`,
        {
          cause: error,
        },
      );
    }
  });
}
