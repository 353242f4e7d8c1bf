/** A model's name for people, without its date: `claude-sonnet-4-5` for `claude-sonnet-4-5-20250929`. */
export const shortModel = (name: string): string => name.replace(/-(?:\d{8}|\d{4}-\d\d-\d\d)$/, "");
