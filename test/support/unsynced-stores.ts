import Libsql from "libsql";

/**
 * For files that share a process: commits of stores are not written through to the disk. A power failure loses them, which no test
 * there can see, and drains wait for the disk most of the time. Programs that tests start write through.
 */
const UNSYNCED = Symbol.for("openhook-otel.unsynced-stores");
const prototype: Libsql.Database & { [UNSYNCED]?: true } = Libsql.prototype;

// Once in each process, not once for each file
if (prototype[UNSYNCED] === undefined) {
  prototype[UNSYNCED] = true;
  const { exec, prepare } = prototype;
  const unsynced = (sql: string): string => sql.replace(/(PRAGMA synchronous) = (?:FULL|NORMAL)/, "$1 = OFF");
  prototype.exec = function (sql) {
    return exec.call(this, unsynced(sql));
  };
  prototype.prepare = function (sql) {
    return prepare.call(this, unsynced(sql)) as never;
  };
}
