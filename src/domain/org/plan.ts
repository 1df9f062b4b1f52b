/** What the operator sets by a command, and no caller can: the features of a project's plan, and who pays for an org. */
import type { Database } from '../../database/database.ts';
import { run, sql, statements } from '../../database/statements.ts';
import { notFound } from '../../errors.ts';
import { prefixOf } from '../../ids.ts';

type Client = Pick<Database, 'prisma'>;

export interface Entitlements {
  brandingRemoval: boolean;
}

const NOW = sql<Date>`statement_timestamp()`;

/** Gives the name of the project. Throws NOT_FOUND. */
export async function setEntitlements(
  { prisma }: Client,
  idOrName: string,
  { brandingRemoval }: Entitlements,
): Promise<string> {
  const isId = prefixOf(idOrName) === 'prj';
  const update = statements
    .updateTable('Project')
    .set({ brandingRemoval, updateTime: NOW })
    .where(isId ? 'id' : 'name', '=', isId ? idOrName : idOrName.toLowerCase())
    .returning('name');
  const [project] = await run(prisma, update);
  if (!project) throw notFound('Project', idOrName);
  return project.name;
}

export interface Billing {
  displayName: string;
  billingProvider: string;
  billingProviderRef: string;
}

/** Gives the account as it is then; what is left out stays. Throws NOT_FOUND. */
export async function setBillingAccount(
  { prisma }: Client,
  orgId: string,
  billing: { [K in keyof Billing]?: Billing[K] | undefined },
): Promise<Billing> {
  const given = Object.fromEntries(
    Object.entries(billing).filter(([, value]) => value !== undefined),
  );
  const update = statements
    .updateTable('BillingAccount')
    .set({ ...given, updateTime: NOW })
    .where('orgId', '=', orgId)
    .returning(['displayName', 'billingProvider', 'billingProviderRef']);
  const [account] = await run(prisma, update);
  if (!account) throw notFound('Org', orgId);
  return account;
}
