/**
 * Sets the features of a project's billing plan, and the billing account of an org:
 * `npm run billing-plan -- --project demo --branding-removal true`, and
 * `npm run billing-plan -- --org org_… --billing-provider stripe --billing-ref cus_123 [--billing-name "Acme"]`.
 * With the embedded database the server must be stopped.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { openDatabase } from '../database/open/open-database.ts';
import { setBillingAccount, setEntitlements } from '../domain/tenants/org/billing-account.ts';
import { createLog } from '../kernel/log.ts';
import { readConfig } from '../settings/config.ts';
import { printResult, readOptions } from './run-command.ts';

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

async function setBillingPlan(): Promise<string> {
  const namesProject = process.argv.some((argument) => /^--project(=|$)/.test(argument));
  const options = readOptions(
    USAGE,
    namesProject ? projectOptions : orgOptions,
    () => parseArgs({ options: ARGUMENTS }).values,
  );
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

await printResult(USAGE, setBillingPlan);
