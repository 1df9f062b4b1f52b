/**
 * Prints a bearer token of the local issuer, for development: `npm run token -- --email ada@example.com [--name "Ada"]
 * [--sub ada]`. It reads only the issuer's key from the data folder, so it also works while the server runs.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { createBearerVerifier } from '../domain/viewer/bearer.ts';
import { StartRefused } from '../errors.ts';

const USAGE = 'Usage: npm run token -- --email ada@example.com [--name "Ada"] [--sub ada]';

/** An error for the user, printed without a stack. */
class Refusal extends Error {}

const claimText = z.string().trim().min(1).max(256).optional();
const options = z.object({
  email: z.email({ error: 'must be an e-mail address' }).max(254).toLowerCase(),
  name: claimText,
  sub: claimText,
});

function readOptions(args: string[]): z.output<typeof options> {
  const result = options.safeParse(parseOptions(args));
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `--${path.join('.')}: ${message}`,
  );
  throw new Refusal(`${problems.join('\n')}\n${USAGE}`);
}

function parseOptions(args: string[]): unknown {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args, options: { email: text, name: text, sub: text } }).values;
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n${USAGE}`);
  }
}

async function mintToken(args: string[]): Promise<string> {
  const { email, name, sub = email } = readOptions(args);
  const { mint } = await createBearerVerifier(readConfig(process.env));
  if (mint) return mint({ sub, email, ...(name === undefined ? {} : { name }) });
  throw new Refusal(
    'BEARER_ISSUER is configured, so tokens come from that issuer. Only the local issuer, ' +
      'which runs where BEARER_ISSUER is not set, can sign them here.',
  );
}

try {
  console.log(await mintToken(process.argv.slice(2)));
} catch (error) {
  const isForPeople = error instanceof Refusal || error instanceof StartRefused;
  console.error(isForPeople ? error.message : error);
  process.exitCode = 1;
}
