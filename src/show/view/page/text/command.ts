/** A command as the user types it; the server puts the program's name into the page. */
export const command = (args: string): string =>
  `${document.documentElement.dataset["program"] ?? "openhook-otel"} ${args}`;
