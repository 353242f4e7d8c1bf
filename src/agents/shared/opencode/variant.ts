/** A program that is built from OpenCode's code: what differs between OpenCode and its variants. */
export interface Variant {
  /** Also the name of its command, and of its folders below the XDG folders for data and configuration. */
  readonly source: string;
  readonly title: string;
  /** The environment variable that names the database. */
  readonly databaseVariable: string;
  /** OpenCode itself. */
  readonly isOriginal?: true;
}

/** Whether an agent is OpenCode or built from its code. */
export const isVariant = (source: string | undefined): boolean => source === "opencode" || source === "kilo";

/** Whether a file has the name of another variant's database. A database that a variable names can have any other name. */
export const isOfAnotherVariant = ({ source }: Variant, fileName: string): boolean => {
  const named = /^(opencode|kilo)(?:-[\w.-]+)?\.db$/.exec(fileName)?.[1];
  return named !== undefined && named !== source;
};
