/** The history's first message: where the program runs, and when. */
export const isContext = (text: string | undefined): boolean => text?.startsWith("<session_context>") === true;

/** Messages in the user's name that the program writes for itself. */
export const isMachinery = (text: string | undefined): boolean =>
  isContext(text) ||
  text === "Please continue." ||
  /^(?:<state_snapshot>|System: Potential loop detected\.|\[System: You (?:successfully executed a tool|previously) |Here is (?:the user's|a summary of changes in the user's) editor context\b|I ran the following shell command:\n```sh\n)/.test(
    text ?? "",
  );
