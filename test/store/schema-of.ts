import type { Database, Row } from "#store/database.ts";

/**
 * A store's schema, however it came about: `ALTER TABLE` leaves other text than `CREATE TABLE`.
 *
 * @returns by type and name: columns, keys and indexes of tables, the text of everything else without spaces at line ends
 */
export function schemaOf(db: Pick<Database, "prepare">): Readonly<Record<string, unknown>> {
  const all = (sql: string): readonly Row[] => db.prepare(sql).all();
  return Object.fromEntries(
    all("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name").map(
      ({ type, name, sql }) => [
        `${type} ${name}`,
        type === "table"
          ? {
              kind: all(`SELECT ncol, wr, strict FROM pragma_table_list WHERE name = '${name}'`),
              columns: all(`SELECT * FROM pragma_table_xinfo('${name}')`),
              references: all(`SELECT * FROM pragma_foreign_key_list('${name}')`),
              indexes: all(`SELECT name, "unique", origin, partial FROM pragma_index_list('${name}') ORDER BY name`),
            }
          : String(sql).replaceAll(/\s+/g, " "),
      ],
    ),
  );
}
