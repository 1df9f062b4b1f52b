/**
 * Prints a bearer token of the local issuer, for development: `npm run token -- --email ada@example.com [--name "Ada"]
 * [--sub ada]`. It reads only the issuer's key from the data folder, so it also works while the server runs.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { createBearerVerifier } from '../domain/viewer/bearer.ts';
import { CommandError, parseOptions, printError } from './run-command.ts';

const USAGE = 'Usage: npm run token -- --email ada@example.com [--name "Ada"] [--sub ada]';

const claimText = z.string().trim().min(1).max(256).optional();
const options = z.object({
  email: z.email({ error: 'must be an e-mail address' }).max(254).toLowerCase(),
  name: claimText,
  sub: claimText,
});

function readOptions(args: string[]): z.output<typeof options> {
  const text = { type: 'string' } as const;
  const values = parseOptions(
    USAGE,
    () => parseArgs({ args, options: { email: text, name: text, sub: text } }).values,
  );
  const result = options.safeParse(values);
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `--${path.join('.')}: ${message}`,
  );
  throw new CommandError(`${problems.join('\n')}\n${USAGE}`);
}

async function mintToken(args: string[]): Promise<string> {
  const { email, name, sub = email } = readOptions(args);
  const { mint } = await createBearerVerifier(readConfig(process.env));
  if (mint) return mint({ sub, email, ...(name === undefined ? {} : { name }) });
  throw new CommandError(
    'BEARER_ISSUER is configured, so tokens come from that issuer. Only the local issuer, ' +
      'which runs where BEARER_ISSUER is not set, can sign them here.',
  );
}

try {
  console.log(await mintToken(process.argv.slice(2)));
} catch (error) {
  printError(error);
  process.exitCode = 1;
}
