/**
 * Sets the features of a project's billing plan, and the billing account of an org:
 * `npm run billing-plan -- --project demo --branding-removal true`, and
 * `npm run billing-plan -- --org org_… --billing-provider stripe --billing-ref cus_123 [--billing-name "Acme"]`.
 * With the embedded database the server must be stopped.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { setBillingAccount, setEntitlements } from '../domain/org/billing-plan.ts';
import { createLog } from '../log.ts';
import { CommandError, parseOptions, printError } from './run-command.ts';

const USAGE = `Usage: npm run billing-plan -- --project <id or name> --branding-removal true|false
       npm run billing-plan -- --org <id> [--billing-name <text>] [--billing-provider <text>] [--billing-ref <text>]`;

const text = z.string().trim().min(1).max(256);
const projectOptions = z.strictObject({
  project: text,
  'branding-removal': z.enum(['true', 'false']),
});
const orgOptions = z
  .strictObject({
    org: text,
    'billing-name': text.optional(),
    'billing-provider': text.optional(),
    'billing-ref': text.optional(),
  })
  .refine((options) => Object.keys(options).length > 1, 'Name at least one value to set.');

const ARGUMENTS = Object.fromEntries(
  [...Object.keys(projectOptions.shape), ...Object.keys(orgOptions.shape)].map((name) => [
    name,
    { type: 'string' } as const,
  ]),
);

function readOptions(args: string[]) {
  const schema = args.some((argument) => /^--project(=|$)/.test(argument))
    ? projectOptions
    : orgOptions;
  const result = schema.safeParse(
    parseOptions(USAGE, () => ({ ...parseArgs({ args, options: ARGUMENTS }).values })),
  );
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) =>
    path.length > 0 ? `--${path.join('.')}: ${message}` : message,
  );
  throw new CommandError(`${problems.join('\n')}\n${USAGE}`);
}

async function setBillingPlan(args: string[]): Promise<string> {
  const options = readOptions(args);
  await using database = await openDatabase(readConfig(process.env), createLog('warn'));
  if ('project' in options) {
    const brandingRemoval = options['branding-removal'] === 'true';
    const name = await setEntitlements(database, options.project, { brandingRemoval });
    return `The project ${name}: brandingRemoval is ${brandingRemoval}.`;
  }
  const account = await setBillingAccount(database, options.org, {
    displayName: options['billing-name'],
    billingProvider: options['billing-provider'],
    billingProviderRef: options['billing-ref'],
  });
  const { displayName, billingProvider, billingProviderRef } = account;
  return `The billing account of ${options.org}: ${displayName}, ${billingProvider} ${billingProviderRef}.`;
}

try {
  console.log(await setBillingPlan(process.argv.slice(2)));
} catch (error) {
  printError(error);
  process.exitCode = 1;
}
