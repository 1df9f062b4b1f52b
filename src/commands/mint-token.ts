/**
 * Prints a bearer token of the local issuer, for development: `npm run token -- --email ada@example.com [--name "Ada"]
 * [--sub ada]`. It reads only the issuer's key from the data folder, so it works while the server runs.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { createBearerVerifier } from '../domain/access/viewer/bearer.ts';
import { readConfig } from '../settings/config.ts';
import { CommandError, printResult, readOptions } from './run-command.ts';

const USAGE = 'Usage: npm run token -- --email ada@example.com [--name "Ada"] [--sub ada]';

const tokenClaim = z.string().trim().min(1).max(256).optional();
const options = z.object({
  email: z.email({ error: 'must be an email address' }).max(254).toLowerCase(),
  name: tokenClaim,
  sub: tokenClaim,
});

async function mintToken(): Promise<string> {
  const text = { type: 'string' } as const;
  const {
    email,
    name,
    sub = email,
  } = readOptions(
    USAGE,
    options,
    () => parseArgs({ options: { email: text, name: text, sub: text } }).values,
  );
  const { mint } = await createBearerVerifier(readConfig(process.env));
  if (mint) return mint({ sub, email, ...(name === undefined ? {} : { name }) });
  throw new CommandError(
    'BEARER_ISSUER is configured, so tokens come from that issuer. Only the local issuer, ' +
      'which runs where BEARER_ISSUER is not set, can sign them here.',
  );
}

await printResult(USAGE, mintToken);
