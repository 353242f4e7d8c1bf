/**
 * A model's name for display, without its date or version of the day: `claude-sonnet-4-5` for `claude-sonnet-4-5-20250929`. Only for
 * people: JSON, CSV and filters have the full name, and pages show it under the pointer.
 *
 * @returns the name itself if it has no date, or nothing else would be left
 */
export const shortModel = (name: string): string => name.replace(DATE, "") || name;

// --- internal ---

/** `-20250929`, `@20250929`, `-2025-09-29`, also before Bedrock's `-v1:0`. */
const DATE = /[-@](?:20\d{6}|20\d\d-\d\d-\d\d)(?:-v\d+(?::\d+)?)?$/;
