/** Databases and copies from before the first release. Their histories have migrations that the first one replaces. */
import { StartRefused } from '../../kernel/errors.ts';

/** The commit whose schema the first migration creates. It migrates every older database. */
export const LAST_DEVELOPMENT_COMMIT = '0e0e8f60b6b6e186275743d549c4145b60af85e0';
const LAST_DEVELOPMENT_MIGRATION = '20261129083000_clear_names';

/**
 * Returns true if a history of finished migrations, in order, ends exactly with the schema that the first migration
 * creates. It then counts as this migration. Throws StartRefused if it ends before.
 */
export function countsAsFirstMigration(names: readonly string[], firstMigration: string): boolean {
  const [name] = names;
  if (name === undefined || name >= firstMigration) return false;
  if (names.at(-1) === LAST_DEVELOPMENT_MIGRATION) return true;
  throw new StartRefused(
    `The database or copy is from a version before the first release. Start commit ${LAST_DEVELOPMENT_COMMIT} on its database first, which migrates it. Then start this version, or take a new copy.`,
  );
}
