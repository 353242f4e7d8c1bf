import { nameRedactor } from "./names.ts";
import { type Redact, redactorOf } from "./redact.ts";
import { userRuleFinders } from "./user-rules.ts";

/** The redactors for everything that is sent, stored or shown. */
export interface Protection {
  /** For everything that is sent or stored: secrets, and personal data according to the settings. */
  readonly redact: Redact;
  /** `redact` for everything that is not content: it also removes user names and account numbers. */
  readonly redactName: Redact;
  /** Secrets only: for the log, where paths must stay readable, and for values that the user set. */
  readonly redactSecrets: Redact;
}

export interface RedactionSettings {
  readonly emails: boolean;
  readonly homeDirectories: boolean;
  readonly rules: Readonly<Record<string, string>>;
}

/**
 * @param home of this user, absolute
 * @throws RuleError if a user's rule is invalid; the caller must then send nothing
 */
export async function protectionOf(settings: RedactionSettings, home: string): Promise<Protection> {
  const own = await userRuleFinders(settings.rules);
  const redact = redactorOf({ emails: settings.emails, homeDirectories: settings.homeDirectories, home, own });
  return {
    redact,
    redactName: nameRedactor(redact, settings.homeDirectories),
    redactSecrets: redactorOf({ emails: false, homeDirectories: false, own }),
  };
}
