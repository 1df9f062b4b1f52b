/**
 * Creates an org and invites its first member: `npm run org -- --label "Acme" --invite ada@example.com`. It is for a server
 * whose ORG_CREATION is `invited`. With the embedded database the server must be stopped.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { label } from '../domain/names.ts';
import { createInvitedOrg } from '../domain/org/invite.ts';
import { createLog } from '../log.ts';
import { CommandError, parseOptions, printError } from './run-command.ts';

const USAGE = 'Usage: npm run org -- --label "Acme" --invite ada@example.com';

const options = z.object({
  label,
  invite: z.email({ error: 'must be an e-mail address' }).max(254).toLowerCase(),
});

function readOptions(args: string[]): z.output<typeof options> {
  const text = { type: 'string' } as const;
  const result = options.safeParse(
    parseOptions(USAGE, () => parseArgs({ args, options: { label: text, invite: text } }).values),
  );
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `--${path.join('.')}: ${message}`,
  );
  throw new CommandError(`${problems.join('\n')}\n${USAGE}`);
}

async function createOrg(args: string[]): Promise<string> {
  const { label, invite: email } = readOptions(args);
  await using database = await openDatabase(readConfig(process.env), createLog('warn'));
  const { org, invite } = await createInvitedOrg(database, { label, email });
  return `Created the org ${org.id}. ${email} can accept the invite in the console until ${invite.expireTime.toISOString()}.`;
}

try {
  console.log(await createOrg(process.argv.slice(2)));
} catch (error) {
  printError(error);
  process.exitCode = 1;
}
