import { ownFinders } from "./own.ts";
import { type Redact, redactorOf } from "./redact.ts";

/** Redacts what leaves the machine, and what is shown on it. */
export interface Protection {
  /** For everything that is sent or stored: secrets, and personal data as the settings say. */
  readonly redact: Redact;
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
 * @throws RuleError if a user's rule cannot be used: nothing is sent without it
 */
export async function protectionOf(settings: RedactionSettings, home: string): Promise<Protection> {
  const own = await ownFinders(settings.rules);
  return {
    redact: redactorOf({ emails: settings.emails, homeDirectories: settings.homeDirectories, home, own }),
    redactSecrets: redactorOf({ emails: false, homeDirectories: false, own }),
  };
}
