/**
 * A command line for a message, which users can type as printed.
 *
 * @param args command and options, e.g. `config set otlp.endpoint <url>`
 * @returns the same after the program's name: `openhook-otel` if PATH leads to this program, otherwise for example
 *   `node dist/openhook-otel.cjs`
 */
export const suggest = (args: string): string => `${ownName()} ${args}`;

/** As `suggest`, for text that is pasted somewhere else: the program's path is absolute. */
export const suggestAnywhere = (args: string): string => `${resolveName(true)} ${args}`;

/** How this program was started, e.g. `openhook-otel` or `node dist/openhook-otel.cjs`. */
export function ownName(): string {
  name ??= resolveName(false);
  return name;
}

/**
 * Sets how the program's name is found. Called once at the start; evaluated for the first suggestion.
 *
 * @param resolve gets whether the name has to work in every folder
 */
export function setProgramName(resolve: (isAnywhere: boolean) => string): void {
  resolveName = resolve;
  name = undefined;
}

// --- internal ---

let resolveName = (_isAnywhere: boolean): string => "openhook-otel";
let name: string | undefined;
