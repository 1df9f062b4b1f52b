/**
 * Sets what a plan gives, as the operator decides:
 * `npm run plan -- --project demo --branding-removal true`, and
 * `npm run plan -- --org org_… --billing-provider stripe --billing-ref cus_123 [--billing-name "Acme"]`.
 * With the embedded database the server must be stopped.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { setBillingAccount, setEntitlements } from '../domain/org/plan.ts';
import { DomainError, StartRefused } from '../errors.ts';
import { createLog } from '../log.ts';

const USAGE = `Usage: npm run plan -- --project <id or name> --branding-removal true|false
       npm run plan -- --org <id> [--billing-name <text>] [--billing-provider <text>] [--billing-ref <text>]`;

/** An error for the user, printed without a stack. */
class Refusal extends Error {}

const text = z.string().trim().min(1).max(256);
const ofProject = z.strictObject({
  project: text,
  'branding-removal': z.enum(['true', 'false']),
});
const ofOrg = z
  .strictObject({
    org: text,
    'billing-name': text.optional(),
    'billing-provider': text.optional(),
    'billing-ref': text.optional(),
  })
  .refine((given) => Object.keys(given).length > 1, 'Name at least one value to set.');

const NAMES = [...Object.keys(ofProject.shape), ...Object.keys(ofOrg.shape)];

function readOptions(args: string[]) {
  const schema = args.some((word) => /^--project(=|$)/.test(word)) ? ofProject : ofOrg;
  const result = schema.safeParse(parsedOptions(args));
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) =>
    path.length > 0 ? `--${path.join('.')}: ${message}` : message,
  );
  throw new Refusal(`${problems.join('\n')}\n${USAGE}`);
}

function parsedOptions(args: string[]): unknown {
  const options = Object.fromEntries(NAMES.map((name) => [name, { type: 'string' } as const]));
  try {
    return { ...parseArgs({ args, options }).values };
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n${USAGE}`);
  }
}

async function setPlan(args: string[]): Promise<string> {
  const given = readOptions(args);
  await using database = await openDatabase(readConfig(process.env), createLog('warn'));
  if ('project' in given) {
    const brandingRemoval = given['branding-removal'] === 'true';
    const name = await setEntitlements(database, given.project, { brandingRemoval });
    return `The project ${name}: brandingRemoval is ${brandingRemoval}.`;
  }
  const account = await setBillingAccount(database, given.org, {
    displayName: given['billing-name'],
    billingProvider: given['billing-provider'],
    billingProviderRef: given['billing-ref'],
  });
  const { displayName, billingProvider, billingProviderRef } = account;
  return `The billing account of ${given.org}: ${displayName}, ${billingProvider} ${billingProviderRef}.`;
}

try {
  console.log(await setPlan(process.argv.slice(2)));
} catch (error) {
  const isForPeople = [Refusal, StartRefused, DomainError].some((kind) => error instanceof kind);
  console.error(isForPeople ? (error as Error).message : error);
  process.exitCode = 1;
}
