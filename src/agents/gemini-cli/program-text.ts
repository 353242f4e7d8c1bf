/** The history's first message: folder, operating system and date. */
export const isContext = (text: string | undefined): boolean => text?.startsWith("<session_context>") === true;

/** Texts with the role `user` that the program writes. */
export const isProgramText = (text: string | undefined): boolean =>
  isContext(text) ||
  text === "Please continue." ||
  /^(?:<state_snapshot>|System: Potential loop detected\.|\[System: You (?:successfully executed a tool|previously) |Here is (?:the user's|a summary of changes in the user's) editor context\b|I ran the following shell command:\n```sh\n)/.test(
    text ?? "",
  );
