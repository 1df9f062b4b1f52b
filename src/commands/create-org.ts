/**
 * Creates an org and invites its first member: `npm run org -- --label "Acme" --invite ada@example.com`. Servers whose
 * ORG_CREATION is `invited` need it. With the embedded database, the server must be stopped.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { openDatabase } from '../database/open/open-database.ts';
import { label } from '../domain/base/names.ts';
import { createOrgWithInvite } from '../domain/tenants/org/invite.ts';
import { createLog } from '../kernel/log.ts';
import { readConfig } from '../settings/config.ts';
import { printResult, readOptions } from './run-command.ts';

const USAGE = 'Usage: npm run org -- --label "Acme" --invite ada@example.com';

const options = z.object({
  label,
  invite: z.email({ error: 'must be an email address' }).max(254).toLowerCase(),
});

async function createOrg(): Promise<string> {
  const text = { type: 'string' } as const;
  const { label, invite: email } = readOptions(
    USAGE,
    options,
    () => parseArgs({ options: { label: text, invite: text } }).values,
  );
  await using database = await openDatabase(readConfig(process.env), createLog('warn'));
  const { org, invite } = await createOrgWithInvite(database, { label, email });
  return `Created the org ${org.id}. ${email} can accept the invite in the console until ${invite.expireTime.toISOString()}.`;
}

await printResult(USAGE, createOrg);
