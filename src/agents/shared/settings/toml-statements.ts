import { SettingsError } from "./settings.ts";
import { type Statement, TomlError } from "./toml.ts";
import { readToml } from "./toml-reader.ts";

/** The statements of a text. @throws SettingsError with the position of a syntax error */
export function statementsOf(text: string): readonly Statement[] {
  try {
    return readToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new SettingsError(`not valid TOML: ${error.message}`, ADVICE, error.line, error.column, { cause: error });
  }
}

/** The line break that a text uses. */
export const eolOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? "\n";

// --- internal ---

const ADVICE = "correct it by hand and run the command again";
