/**
 * Settings that only the operator changes, by a command: the features of a project's billing plan, and the billing
 * account of an org.
 */
import type { Database } from '../../database/database.ts';
import { run, sql, statements } from '../../database/statements.ts';
import { notFound } from '../../errors.ts';
import { findPrefix } from '../../ids.ts';

type Client = Pick<Database, 'prisma'>;

export interface Entitlements {
  brandingRemoval: boolean;
}

const NOW = sql<Date>`statement_timestamp()`;

/** Sets the features of a project's billing plan and returns the project's name. Throws NOT_FOUND. */
export async function setEntitlements(
  { prisma }: Client,
  idOrName: string,
  { brandingRemoval }: Entitlements,
): Promise<string> {
  const isId = findPrefix(idOrName) === 'prj';
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

/** Updates the billing account of an org and returns it. Absent members keep their values. Throws NOT_FOUND. */
export async function setBillingAccount(
  { prisma }: Client,
  orgId: string,
  billing: { [K in keyof Billing]?: Billing[K] | undefined },
): Promise<Billing> {
  const changes = Object.fromEntries(
    Object.entries(billing).filter(([, value]) => value !== undefined),
  );
  const update = statements
    .updateTable('BillingAccount')
    .set({ ...changes, updateTime: NOW })
    .where('orgId', '=', orgId)
    .returning(['displayName', 'billingProvider', 'billingProviderRef']);
  const [account] = await run(prisma, update);
  if (!account) throw notFound('Org', orgId);
  return account;
}
